// Lowtide under ns-3. Apache-2.0 OR MIT.
#include "segment-tracker.h"

#include "ns3/tcp-option-sack.h"
#include "ns3/tcp-option-ts.h"

#include <algorithm>

namespace ns3
{

namespace
{

/// Later segments that must have arrived before one is lost (RFC 6675; ns-3's ReTxThreshold).
constexpr uint64_t DUP_THRESHOLD = 3;

bool
ByNumber(const SegmentTracker::Transmission& a, const SegmentTracker::Transmission& b)
{
    return a.number < b.number;
}

} // namespace

uint64_t
SegmentTracker::Offset(SequenceNumber32 sequence) const
{
    // Differences of sequence numbers are signed and right across the wrap.
    return m_headOffset + static_cast<int64_t>(sequence - m_headSequence);
}

std::deque<SegmentTracker::Segment>::iterator
SegmentTracker::Find(uint64_t offset)
{
    return std::lower_bound(
        m_segments.begin(),
        m_segments.end(),
        offset,
        [](const Segment& s, uint64_t o) { return s.newest.offset + s.newest.bytes <= o; });
}

const SegmentTracker::Transmission&
SegmentTracker::OnSent(Time now, SequenceNumber32 sequence, uint32_t bytes)
{
    m_lost.clear();
    const uint64_t offset = Offset(sequence);
    Transmission sent{m_nextNumber++, offset, bytes, now, false};
    m_inFlight += bytes;
    auto at = Find(offset);
    if (at == m_segments.end())
    {
        m_segments.push_back({sent, State::IN_FLIGHT});
        return m_segments.back().newest;
    }
    if (at->state == State::IN_FLIGHT)
    {
        Lose(*at);
    }
    // ns-3 cuts data into segments once; a retransmission is the same bytes.
    sent.retransmission = true;
    sent.offset = at->newest.offset;
    *at = {sent, State::IN_FLIGHT};
    m_repeated.push_back(sent);
    return at->newest;
}

void
SegmentTracker::Deliver(Time now, Segment& segment)
{
    if (segment.state == State::DELIVERED)
    {
        return;
    }
    const Transmission& t = segment.newest;
    if (segment.state == State::IN_FLIGHT)
    {
        m_inFlight -= t.bytes;
    }
    segment.state = State::DELIVERED;
    m_highestDelivered = std::max(m_highestDelivered, t.offset);
    m_delivered.push_back(t);
    // Too quick an answer to a repetition is one to the original (RFC 8985 6.2, step 2).
    if (!t.retransmission || (m_minRtt != Time::Max() && now - t.sentAt >= m_minRtt))
    {
        m_newestDelivered = std::max(m_newestDelivered, t.number + 1);
    }
}

void
SegmentTracker::Lose(Segment& segment)
{
    segment.state = State::LOST;
    m_inFlight -= segment.newest.bytes;
    m_lost.push_back(segment.newest);
}

void
SegmentTracker::OnAck(Time now, const TcpHeader& header)
{
    m_delivered.clear();
    m_lost.clear();
    m_rtt = Time(0);

    const uint64_t acked = Offset(header.GetAckNumber());
    const bool advances = static_cast<int64_t>(acked - m_headOffset) > 0;
    if (advances)
    {
        for (auto& segment : m_segments)
        {
            if (segment.newest.offset + segment.newest.bytes > acked)
            {
                break;
            }
            Deliver(now, segment);
        }
    }
    bool sacked = false;
    if (header.HasOption(TcpOption::SACK))
    {
        auto option = DynamicCast<const TcpOptionSack>(header.GetOption(TcpOption::SACK));
        for (const auto& block : option->GetSackList())
        {
            const uint64_t end = Offset(block.second);
            for (auto at = Find(Offset(block.first)); at != m_segments.end(); ++at)
            {
                if (at->newest.offset + at->newest.bytes > end)
                {
                    break;
                }
                sacked |= at->state != State::DELIVERED;
                Deliver(now, *at);
            }
        }
    }
    if (advances)
    {
        while (!m_segments.empty() &&
               m_segments.front().newest.offset + m_segments.front().newest.bytes <= acked)
        {
            m_segments.pop_front();
        }
        m_headSequence = header.GetAckNumber();
        m_headOffset = acked;
    }
    std::sort(m_delivered.begin(), m_delivered.end(), ByNumber);
    for (auto& t : m_delivered)
    {
        if (!t.retransmission || AnswersRetransmission(now, header, t))
        {
            m_rtt = now - t.sentAt;
        }
        else if (m_minRtt != Time::Max())
        {
            // Nor may controllers take it for an RTT that is shorter than the path's.
            t.sentAt = std::min(t.sentAt, now - m_minRtt);
        }
    }
    if (!m_rtt.IsZero())
    {
        m_minRtt = std::min(m_minRtt, m_rtt);
    }
    if (sacked || !m_repeated.empty())
    {
        FindLosses();
    }
}

bool
SegmentTracker::AnswersRetransmission(Time now,
                                      const TcpHeader& header,
                                      const Transmission& t) const
{
    if (m_minRtt == Time::Max() || now - t.sentAt < m_minRtt)
    {
        return false;
    }
    if (t.offset + t.bytes > m_headOffset || !header.HasOption(TcpOption::TS))
    {
        return true;
    }
    // Of the two transmissions, the echoed timestamp tells which one moved the acknowledgment on.
    auto option = DynamicCast<const TcpOptionTS>(header.GetOption(TcpOption::TS));
    return option->GetEcho() >= static_cast<uint64_t>(t.sentAt.GetMilliSeconds());
}

void
SegmentTracker::FindLosses()
{
    // Originals: three segments above them were SACKed, as ns-3's own scoreboard counts.
    uint64_t above = 0;
    uint64_t judged = m_judgedBelow;
    auto at = Find(m_highestDelivered);
    if (at != m_segments.end())
    {
        ++at;
    }
    while (at != m_segments.begin())
    {
        --at;
        if (at->newest.offset < m_judgedBelow)
        {
            break;
        }
        if (at->state == State::DELIVERED)
        {
            above++;
            if (above == DUP_THRESHOLD)
            {
                judged = std::max(judged, at->newest.offset);
            }
        }
        else if (above >= DUP_THRESHOLD && at->state == State::IN_FLIGHT &&
                 !at->newest.retransmission)
        {
            Lose(*at);
        }
    }
    m_judgedBelow = judged;
    // Retransmissions: three transmissions later than them arrived. The path keeps the order.
    while (!m_repeated.empty())
    {
        const Transmission& oldest = m_repeated.front();
        auto segment = Find(oldest.offset);
        if (segment != m_segments.end() && segment->newest.number == oldest.number &&
            segment->state == State::IN_FLIGHT)
        {
            if (oldest.number + DUP_THRESHOLD >= m_newestDelivered)
            {
                break;
            }
            Lose(*segment);
        }
        m_repeated.pop_front();
    }
    std::sort(m_lost.begin(), m_lost.end(), ByNumber);
}

void
SegmentTracker::OnTimeout()
{
    m_lost.clear();
    m_repeated.clear();
    for (auto& segment : m_segments)
    {
        if (segment.state == State::IN_FLIGHT)
        {
            Lose(segment);
        }
    }
    std::sort(m_lost.begin(), m_lost.end(), ByNumber);
}

bool
SegmentTracker::IsLost(const Transmission& transmission)
{
    const auto at = Find(transmission.offset);
    return at != m_segments.end() && at->newest.number == transmission.number &&
           at->state == State::LOST;
}

} // namespace ns3
