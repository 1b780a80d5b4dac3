// Lowtide under ns-3. Apache-2.0 OR MIT.
#ifndef LOWTIDE_CHECK_H
#define LOWTIDE_CHECK_H

#include <cstdlib>
#include <iostream>

/// Ends the test with both values when they differ.
#define CHECK_EQ(a, b)                                                                             \
    do                                                                                             \
    {                                                                                              \
        const auto left = (a);                                                                     \
        const auto right = (b);                                                                    \
        if (!(left == right))                                                                      \
        {                                                                                          \
            std::cerr << __FILE__ << ":" << __LINE__ << ": " #a " is " << left << ", not "         \
                      << right << "\n";                                                            \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (false)

#endif
