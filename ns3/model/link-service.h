// Lowtide under ns-3. Apache-2.0 OR MIT.
#ifndef LOWTIDE_LINK_SERVICE_H
#define LOWTIDE_LINK_SERVICE_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/**
 * When a link that serves one packet after the other is done with each: docs/simulator/model.md in
 * C++. Times are nanoseconds, rates bytes per second.
 */
class LinkService
{
  public:
    static constexpr int64_t NEVER = INT64_MAX;

    virtual ~LinkService() = default;

    /// Starts to serve a packet of `bytes` at `now` and returns when it leaves. `backlogged`: it was
    /// already waiting when the previous one left.
    virtual int64_t Serve(int64_t now, uint32_t bytes, bool backlogged) = 0;

    /// Bytes offered after `from` and up to `to`.
    virtual double VolumeBetween(int64_t from, int64_t to) const = 0;

    /// Long-term mean rate.
    virtual double MeanRate() const = 0;

    /// The length of a trace; 0 without one.
    virtual int64_t Length() const = 0;

    static std::unique_ptr<LinkService> Constant(double bytesPerSecond);

    /// A trace file: mahimahi opportunities, or a rate series if its name ends in `.csv`. Throws
    /// std::runtime_error.
    static std::unique_ptr<LinkService> FromFile(const std::string& path, uint32_t opportunity);

    /// `service` from `start` on; what comes before passes at once.
    static std::unique_ptr<LinkService> StartingAt(int64_t start,
                                                   std::unique_ptr<LinkService> service);
};

#endif
