// Lowtide under ns-3. Apache-2.0 OR MIT.
#ifndef LOWTIDE_SEGMENT_TRACKER_H
#define LOWTIDE_SEGMENT_TRACKER_H

#include "ns3/nstime.h"
#include "ns3/sequence-number.h"
#include "ns3/tcp-header.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace ns3
{

/**
 * What a TCP sender knows of its segments, told by the headers that it sends and receives.
 *
 * ns-3's congestion control interface shows smoothed RTTs and rate samples, no packets. This keeps a
 * record of every transmission beside the socket's own, so that controllers get exact samples.
 * Every transmission has a number of its own; a retransmission is a new transmission of old data.
 */
class SegmentTracker
{
  public:
    /// One transmission, in flight or settled.
    struct Transmission
    {
        uint64_t number;        //!< order of sending
        uint64_t offset;        //!< first byte, from the beginning of the data
        uint32_t bytes;         //!< payload
        Time sentAt;            //!< when it left
        bool retransmission;    //!< carries old data
    };

    /// A segment leaves. Its record is valid until the next call; Lost() says what it replaces.
    const Transmission& OnSent(Time now, SequenceNumber32 sequence, uint32_t bytes);

    /// An acknowledgment arrives: afterwards, Delivered(), Lost() and Rtt() say what it brought.
    void OnAck(Time now, const TcpHeader& header);

    /// The retransmission timer fired: everything in flight is lost; see Lost().
    void OnTimeout();

    /// Transmissions newly delivered, in the order of their numbers.
    const std::vector<Transmission>& Delivered() const { return m_delivered; }

    /// Transmissions newly lost, in the order of their numbers. A segment that is sent again while
    /// its last transmission counts as in flight has lost that one, too (OnSent).
    const std::vector<Transmission>& Lost() const { return m_lost; }

    /// RTT of the newest delivered transmission of which it is known that it, not an earlier one of
    /// the same data, was delivered; zero when there is none.
    Time Rtt() const { return m_rtt; }

    /// Bytes in flight: sent and neither delivered nor lost.
    uint64_t InFlight() const { return m_inFlight; }

    /// Whether this is the newest transmission of its segment, and lost.
    bool IsLost(const Transmission& transmission);

    /// Where data that begins at an offset stands in the stream; SYN takes the first number.
    static SequenceNumber32 Sequence(uint64_t offset)
    {
        return SequenceNumber32(static_cast<uint32_t>(offset + 1));
    }

  private:
    enum class State
    {
        IN_FLIGHT,
        LOST,
        DELIVERED
    };

    struct Segment
    {
        Transmission newest;
        State state;
    };

    std::deque<Segment>::iterator Find(uint64_t offset);
    uint64_t Offset(SequenceNumber32 sequence) const;
    void Deliver(Time now, Segment& segment);
    void Lose(Segment& segment);
    bool AnswersRetransmission(Time now, const TcpHeader& header, const Transmission& t) const;
    void FindLosses();

    std::deque<Segment> m_segments;     //!< by offset, from the oldest unacknowledged one
    SequenceNumber32 m_headSequence{1}; //!< of the oldest unacknowledged byte; SYN takes 0
    uint64_t m_headOffset{0};
    uint64_t m_nextNumber{0};
    uint64_t m_inFlight{0};
    uint64_t m_judgedBelow{0};          //!< originals below were judged by DUP_THRESHOLD
    uint64_t m_highestDelivered{0};     //!< first byte of the highest segment delivered
    std::deque<Transmission> m_repeated; //!< retransmissions, oldest first; may be settled
    uint64_t m_newestDelivered{0};      //!< number, plus 1
    std::vector<Transmission> m_delivered;
    std::vector<Transmission> m_lost;
    Time m_rtt{0};
    Time m_minRtt{Time::Max()};         //!< the smallest so far
};

} // namespace ns3

#endif
