// What a sender knows of its segments. Apache-2.0 OR MIT.
#include "../model/segment-tracker.h"

#include "check.h"

#include "ns3/tcp-option-sack.h"

using namespace ns3;

namespace
{

constexpr uint32_t MSS = 1000;

SequenceNumber32
Sequence(uint32_t segment)
{
    return SequenceNumber32(1 + segment * MSS);
}

TcpHeader
Ack(uint32_t next, std::vector<std::pair<uint32_t, uint32_t>> blocks = {})
{
    TcpHeader header;
    header.SetFlags(TcpHeader::ACK);
    header.SetAckNumber(Sequence(next));
    if (!blocks.empty())
    {
        auto option = CreateObject<TcpOptionSack>();
        for (const auto& [from, to] : blocks)
        {
            option->AddSackBlock({Sequence(from), Sequence(to)});
        }
        header.AppendOption(option);
    }
    return header;
}

void
Send(SegmentTracker& tracker, int64_t ms, uint32_t segment)
{
    tracker.OnSent(MilliSeconds(ms), Sequence(segment), MSS);
}

void
LossesAreFoundByThreeLaterSegmentsAndRetransmissionsByThreeLaterTransmissions()
{
    SegmentTracker tracker;
    for (uint32_t n = 0; n < 8; n++)
    {
        Send(tracker, n, n);
    }
    CHECK_EQ(tracker.InFlight(), 8u * MSS);
    tracker.OnAck(MilliSeconds(40), Ack(1));
    CHECK_EQ(tracker.Rtt(), MilliSeconds(40));
    // Segment 1 is missing; the third one above it shows it.
    tracker.OnAck(MilliSeconds(43), Ack(1, {{2, 4}}));
    CHECK_EQ(tracker.Lost().size(), 0u);
    CHECK_EQ(tracker.Delivered().size(), 2u);
    tracker.OnAck(MilliSeconds(44), Ack(1, {{2, 5}}));
    CHECK_EQ(tracker.Lost().size(), 1u);
    CHECK_EQ(tracker.Lost()[0].number, 1u);
    CHECK_EQ(tracker.Rtt(), MilliSeconds(40));
    CHECK_EQ(tracker.InFlight(), 3u * MSS);
    // Sent again as transmission 8, then new data 9 to 12. What was sent before proves nothing.
    Send(tracker, 45, 1);
    for (uint32_t n = 8; n < 12; n++)
    {
        Send(tracker, 46, n);
    }
    tracker.OnAck(MilliSeconds(50), Ack(1, {{2, 8}}));
    CHECK_EQ(tracker.Lost().size(), 0u);
    tracker.OnAck(MilliSeconds(87), Ack(1, {{2, 10}}));
    CHECK_EQ(tracker.Lost().size(), 0u);
    tracker.OnAck(MilliSeconds(88), Ack(1, {{2, 11}}));
    CHECK_EQ(tracker.Lost().size(), 1u);
    CHECK_EQ(tracker.IsLost(tracker.Lost()[0]), true);
    CHECK_EQ(tracker.Lost()[0].number, 8u);
    CHECK_EQ(tracker.InFlight(), 1u * MSS);
    // The third transmission settles all.
    Send(tracker, 90, 1);
    tracker.OnAck(MilliSeconds(130), Ack(12));
    CHECK_EQ(tracker.Delivered().size(), 2u);
    CHECK_EQ(tracker.InFlight(), 0u);
}

void
ATimeoutLosesTheFlightAndAQuickAnswerIsTheOriginals()
{
    SegmentTracker tracker;
    Send(tracker, 0, 0);
    tracker.OnAck(MilliSeconds(40), Ack(1));
    Send(tracker, 40, 1);
    Send(tracker, 40, 2);
    tracker.OnTimeout();
    CHECK_EQ(tracker.Lost().size(), 2u);
    CHECK_EQ(tracker.InFlight(), 0u);
    Send(tracker, 240, 1);
    // 10 ms is less than the path takes: the original arrived, and gives no sample.
    tracker.OnAck(MilliSeconds(250), Ack(3));
    CHECK_EQ(tracker.Delivered().size(), 2u);
    CHECK_EQ(tracker.Rtt(), MilliSeconds(210));
    CHECK_EQ(tracker.Delivered()[1].sentAt, MilliSeconds(250 - 40));
    CHECK_EQ(tracker.InFlight(), 0u);
}

} // namespace

int
main()
{
    LossesAreFoundByThreeLaterSegmentsAndRetransmissionsByThreeLaterTransmissions();
    ATimeoutLosesTheFlightAndAQuickAnswerIsTheOriginals();
    return 0;
}
