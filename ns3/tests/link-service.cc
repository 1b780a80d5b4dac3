// When packets leave links, against values worked by hand from docs/simulator/model.md.
// Apache-2.0 OR MIT.
#include "../model/link-service.h"

#include "check.h"

#include <fstream>
#include <stdexcept>

namespace
{

constexpr int64_t MS = 1000000;

std::string
File(const std::string& name, const std::string& text)
{
    const std::string path = "link-service-test-" + name;
    std::ofstream(path) << text;
    return path;
}

void
OpportunitiesServeWhatCameBefore()
{
    auto link = LinkService::FromFile(File("trace", "1\n3\n3\n10\n"), 1504);
    CHECK_EQ(link->Length(), 10 * MS);
    // At the very instant of an opportunity a packet is too late for it.
    CHECK_EQ(link->Serve(1 * MS, 1500, false), 3 * MS);
    // 4 bytes are left over and the second of millisecond 3 gives the rest.
    CHECK_EQ(link->Serve(3 * MS, 1500, true), 3 * MS);
    // 8 left; a packet that waited needs one more opportunity, the last of the round.
    CHECK_EQ(link->Serve(3 * MS, 1500, true), 10 * MS);
    // The next round begins at its last timestamp: 11, 13, 13, 20.
    CHECK_EQ(link->Serve(12 * MS, 2000, false), 13 * MS);
    CHECK_EQ(link->VolumeBetween(0, 10 * MS), 4.0 * 1504);
    CHECK_EQ(link->MeanRate(), 4.0 * 1504 * 100);
}

void
RatesAreFluid()
{
    // 8 Mbit/s is a byte in a microsecond.
    auto constant = LinkService::Constant(1e6);
    CHECK_EQ(constant->Serve(5 * MS, 1500, false), 5 * MS + 1500000);
    CHECK_EQ(constant->Serve(5 * MS + 1500000, 1500, true), 5 * MS + 3000000);

    auto series = LinkService::FromFile(File("rates.csv", "time_ms,rate_mbps\n0,8\n2,0\n4,16\n"), 1504);
    CHECK_EQ(series->Length(), 6 * MS);
    // 2000 bytes by 2 ms, nothing until 4 ms, then the last 1000 at twice the rate.
    CHECK_EQ(series->Serve(0, 3000, false), 4 * MS + 500000);
    CHECK_EQ(series->VolumeBetween(0, 6 * MS), 6000.0);
    CHECK_EQ(series->VolumeBetween(5 * MS, 8 * MS), 4000.0);
    CHECK_EQ(series->MeanRate(), 1e6);
}

void
ATraceMayStartLater()
{
    auto link = LinkService::FromFile(File("trace", "1\n3\n3\n10\n"), 1504);
    auto later = LinkService::StartingAt(40 * MS, std::move(link));
    CHECK_EQ(later->Serve(5 * MS, 1500, false), 5 * MS);
    CHECK_EQ(later->Serve(40 * MS, 1500, false), 41 * MS);
    CHECK_EQ(later->Serve(41 * MS, 1500, true), 43 * MS);
    CHECK_EQ(later->VolumeBetween(0, 43 * MS), 3.0 * 1504);
}

void
WrongTracesAreRefused()
{
    for (const char* text : {"", "0\n", "5\n3\n", "x\n", "1 2\n"})
    {
        bool refused = false;
        try
        {
            LinkService::FromFile(File("wrong", text), 1504);
        }
        catch (const std::runtime_error&)
        {
            refused = true;
        }
        CHECK_EQ(refused, true);
    }
}

} // namespace

int
main()
{
    OpportunitiesServeWhatCameBefore();
    RatesAreFluid();
    ATraceMayStartLater();
    WrongTracesAreRefused();
    return 0;
}
