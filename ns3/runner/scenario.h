// Lowtide under ns-3. Apache-2.0 OR MIT.
#ifndef LOWTIDE_SCENARIO_H
#define LOWTIDE_SCENARIO_H

#include <cstdint>
#include <string>
#include <vector>

/// The flags of `lowtide compare` that both engines know, with the same names and units.
struct Scenario
{
    std::vector<std::string> controllers{"ebb"};
    std::string trace;          //!< file; empty: constant rate
    double rate = 0.0;          //!< bytes per second
    uint32_t opportunity = 1504; //!< bytes
    int64_t rtt = 40000000;     //!< ns
    std::string buffer;         //!< as given; empty: the default
    std::string queue;          //!< ns-3's discipline of this name; empty: drop-tail
    double loss = 0.0;          //!< share
    uint64_t flows = 1;
    int64_t stagger = 0;        //!< ns
    uint32_t packetSize = 1500; //!< bytes on the wire
    int64_t duration = 0;       //!< ns; 0: the default
    uint64_t seed = 1;
    int64_t minRto = 200000000; //!< ns; ns-3 only
    bool repair = true;         //!< LowtideTcp's attribute Repair; ns-3 only
    std::string log;            //!< file for one line a packet event; empty: none

    /// Reads the command line. Throws std::runtime_error, whose text names flag and remedy.
    static Scenario Parse(int argc, char** argv);
    static const char* Help();
};

/// A queue limit such as 2bdp, 100p, 64kB, 50ms or inf, in packets and bytes. `rate` in bytes per
/// second, `rtt` in ns. Throws std::runtime_error.
void ParseLimit(const std::string& text,
                double rate,
                int64_t rtt,
                uint64_t& packets,
                uint64_t& bytes);

#endif
