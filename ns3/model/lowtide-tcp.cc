// Lowtide under ns-3. Apache-2.0 OR MIT.
#include "lowtide-tcp.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/log.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-tx-buffer.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("LowtideTcp");
NS_OBJECT_ENSURE_REGISTERED(LowtideTcp);

namespace
{

/// No packet waits longer for its turn.
constexpr double MOST_SECONDS = 3600.0;

uint64_t
Clock()
{
    return static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
}

uint64_t
Nanoseconds(Time t)
{
    return static_cast<uint64_t>(t.GetNanoSeconds());
}

/// The socket's timers, which only derived classes may name.
struct SocketTimers : TcpSocketBase
{
    static void RestartRetransmission(TcpSocketBase* socket)
    {
        EventId& event = socket->*(&SocketTimers::m_retxEvent);
        if (event.IsRunning())
        {
            event.Cancel();
            const Time timeout = (socket->*(&SocketTimers::m_rto)).Get();
            event = Simulator::Schedule(timeout, &SocketTimers::ReTxTimeout, socket);
        }
    }

    /// The next packet may leave after `wait`; at once when that is zero.
    static void SetPacing(TcpSocketBase* socket, Time wait)
    {
        Timer& timer = socket->*(&SocketTimers::m_pacingTimer);
        timer.Cancel();
        if (!wait.IsZero())
        {
            timer.Schedule(wait);
        }
    }
};

} // namespace

TypeId
LowtideTcp::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::LowtideTcp")
            .SetParent<TcpCongestionOps>()
            .SetGroupName("Internet")
            .AddConstructor<LowtideTcp>()
            .AddAttribute("Controller",
                          "One of Lowtide's controllers, as `lowtide list` shows them",
                          StringValue("ebb"),
                          MakeStringAccessor(&LowtideTcp::m_spec),
                          MakeStringChecker())
            .AddAttribute("Seed",
                          "With the socket, seeds the controller's own randomness",
                          UintegerValue(1),
                          MakeUintegerAccessor(&LowtideTcp::m_seed),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Repair",
                          "Restart the retransmission timer with all progress, send retransmissions "
                          "again that were lost, and count bytes in flight exactly",
                          BooleanValue(true),
                          MakeBooleanAccessor(&LowtideTcp::m_repair),
                          MakeBooleanChecker());
    return tid;
}

LowtideTcp::LowtideTcp() = default;

LowtideTcp::LowtideTcp(const LowtideTcp& other)
    : TcpCongestionOps(other),
      m_spec(other.m_spec),
      m_seed(other.m_seed),
      m_repair(other.m_repair)
{
    // A copy serves another socket and starts anew.
}

LowtideTcp::~LowtideTcp()
{
    m_wakeup.Cancel();
}

std::string
LowtideTcp::GetName() const
{
    return "LowtideTcp";
}

void
LowtideTcp::Init(Ptr<TcpSocketState> tcb)
{
    // A wrong spec shows here, before anything is sent.
    try
    {
        lowtide::Controller(m_spec, lowtide::config(1448), lowtide::Transport::Tcp);
    }
    catch (const lowtide::Error& e)
    {
        NS_FATAL_ERROR("ns3::LowtideTcp::Controller: " << e.what());
    }
    tcb->m_pacing = true;
    // The controller decides from the first packet on, when the initial window leaves at once.
    tcb->m_paceInitialWindow = true;
}

Ptr<TcpCongestionOps>
LowtideTcp::Fork()
{
    return CopyObject<LowtideTcp>(this);
}

void
LowtideTcp::Attach(Ptr<TcpSocketState> tcb)
{
    if (m_controller)
    {
        return;
    }
    // The interface names no socket; ours is the one whose algorithm we are.
    Config::MatchContainer sockets =
        Config::LookupMatches("/NodeList/*/$ns3::TcpL4Protocol/SocketList/*");
    Ptr<TcpSocketBase> socket;
    uint64_t index = 0;
    for (auto it = sockets.Begin(); it != sockets.End(); ++it, ++index)
    {
        auto candidate = DynamicCast<TcpSocketBase>(*it);
        PointerValue algorithm;
        if (candidate && candidate->GetAttributeFailSafe("CongestionOps", algorithm) &&
            algorithm.Get<TcpCongestionOps>() == Ptr<TcpCongestionOps>(this))
        {
            socket = candidate;
            break;
        }
    }
    NS_ABORT_MSG_UNLESS(socket, "LowtideTcp: the socket is not in its node's list");
    m_tcb = tcb;
    m_socket = PeekPointer(socket);
    m_buffer = socket->GetTxBuffer();
    LowtideConfig config = lowtide::config(tcb->m_segmentSize);
    config.now = Clock();
    // Sockets of one attribute must not all choose alike. The factor keeps their streams apart.
    config.seed = m_seed + index * 0x9E3779B97F4A7C15;
    m_controller = std::make_unique<lowtide::Controller>(m_spec, config, lowtide::Transport::Tcp);
    m_sampler = std::make_unique<lowtide::Sampler>();
    socket->TraceConnectWithoutContext("Tx", MakeCallback(&LowtideTcp::OnSend, this));
    socket->TraceConnectWithoutContext("Rx", MakeCallback(&LowtideTcp::OnReceive, this));
    Apply();
}

void
LowtideTcp::OnSend(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    const uint32_t bytes = packet->GetSize();
    if (bytes == 0)
    {
        return;
    }
    const uint64_t others = m_tracker.InFlight();
    auto& sent = m_tracker.OnSent(Simulator::Now(), header.GetSequenceNumber(), bytes);
    const bool appLimited = m_sampler->is_app_limited();
    // What the tracker gave up for this transmission is no longer in flight.
    const uint64_t inFlight = m_tracker.InFlight();
    ReportLosses();
    sent.rate = m_sampler->on_packet_sent(Clock(), bytes, std::min(others, inFlight - bytes));
    m_controller->on_packet_sent(Clock(), sent.number, bytes, inFlight, appLimited);
    Pace(bytes);
}

void
LowtideTcp::Pace(uint32_t bytes)
{
    const LowtideControl control = m_controller->control();
    if (control.pacing_rate == LOWTIDE_NONE)
    {
        return;
    }
    const Time now = Simulator::Now();
    if (now >= m_releaseAt)
    {
        // Idle time earns no credit: a flow that was idle begins a burst.
        m_releaseAt = now;
        m_burstLeft = control.send_quantum;
    }
    m_burstLeft -= std::min<uint64_t>(m_burstLeft, bytes);
    const double seconds = static_cast<double>(bytes) / static_cast<double>(control.pacing_rate);
    m_releaseAt += Seconds(std::min(seconds, MOST_SECONDS));
    const bool burstGoesOn = m_tcb->m_segmentSize <= m_burstLeft;
    // While a burst goes on, the socket is not to pace at all: it would break its loop, and let the
    // bursts of several sockets at the same instant mix.
    m_tcb->m_pacing = !burstGoesOn;
    SocketTimers::SetPacing(m_socket, burstGoesOn ? Time(0) : m_releaseAt - now);
}

void
LowtideTcp::ReportLosses()
{
    const auto& lost = m_tracker.Lost();
    if (lost.empty())
    {
        return;
    }
    m_lostPackets.clear();
    for (const auto& t : lost)
    {
        const uint64_t sinceSent = m_sampler->on_packet_lost(t.bytes, t.rate);
        m_lostPackets.push_back({t.number,
                                 t.bytes,
                                 Nanoseconds(t.sentAt),
                                 t.rate.inflight,
                                 sinceSent,
                                 t.rate.app_limited});
    }
    m_controller->on_loss(Clock(), m_lostPackets, m_tracker.InFlight());
}

void
LowtideTcp::OnReceive(Ptr<const Packet>, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    if (!(header.GetFlags() & TcpHeader::ACK))
    {
        return;
    }
    const uint64_t before = m_tracker.InFlight();
    m_tracker.OnAck(Simulator::Now(), header);
    ReportLosses();
    for (const auto& t : m_tracker.Lost())
    {
        if (t.retransmission)
        {
            m_lostAgain.push_back(t);
        }
    }
    const auto& delivered = m_tracker.Delivered();
    if (delivered.empty())
    {
        return;
    }
    m_packets.clear();
    for (const auto& t : delivered)
    {
        m_sampler->on_packet_acked(Clock(), t.bytes, Nanoseconds(t.sentAt), t.rate);
        m_packets.push_back({t.number, t.bytes, Nanoseconds(t.sentAt), LOWTIDE_NONE});
    }
    const Time minRtt = m_tracker.MinRtt();
    LowtideRateSample sample;
    const bool sampled =
        m_sampler->sample(minRtt == Time::Max() ? LOWTIDE_NONE : Nanoseconds(minRtt), sample);
    const Time rtt = m_tracker.Rtt();
    LowtideAck ack;
    ack.now = Clock();
    ack.packets = m_packets.data();
    ack.packet_count = m_packets.size();
    ack.rtt = rtt.IsZero() ? LOWTIDE_NONE : Nanoseconds(rtt);
    ack.prior_inflight = before;
    ack.inflight = m_tracker.InFlight();
    ack.rate_sample = sampled ? &sample : nullptr;
    m_controller->on_ack(ack);
}

void
LowtideTcp::Apply()
{
    const LowtideControl control = m_controller->control();
    // ns-3 counts a retransmission as in flight until the cumulative acknowledgment passes it, even
    // when it was SACKed or lost again. The window that it enforces is moved by what it miscounts.
    const int64_t miscounted =
        m_repair ? static_cast<int64_t>(m_buffer->BytesInFlight()) -
                       static_cast<int64_t>(m_tracker.InFlight())
                 : 0;
    const int64_t most = std::numeric_limits<uint32_t>::max() / 2;
    const int64_t window = static_cast<int64_t>(std::min<uint64_t>(control.cwnd, most));
    const int64_t least = m_tcb->m_segmentSize;
    m_tcb->m_cWnd = static_cast<uint32_t>(
        std::min(std::max(window + miscounted, least), most));
    m_tcb->m_pacing = control.pacing_rate != LOWTIDE_NONE;
    if (m_tcb->m_pacing)
    {
        const double bits = static_cast<double>(control.pacing_rate) * 8.0;
        const double cap = static_cast<double>(m_tcb->m_maxPacingRate.GetBitRate());
        m_tcb->m_pacingRate =
            DataRate(static_cast<uint64_t>(std::max(1.0, std::min(bits, cap))));
    }
    m_wakeup.Cancel();
    if (control.next_wakeup != LOWTIDE_NONE)
    {
        const uint64_t wait = control.next_wakeup > Clock() ? control.next_wakeup - Clock() : 0;
        // Beyond this no simulation runs, and ns-3's clock does not reach.
        if (wait < uint64_t{1} << 62)
        {
            m_wakeup = Simulator::Schedule(NanoSeconds(wait), &LowtideTcp::OnWakeup, this);
        }
    }
}

void
LowtideTcp::OnWakeup()
{
    m_controller->on_wakeup(Clock());
    Apply();
}

void
LowtideTcp::NoteApplicationLimit()
{
    const bool nothingToSend =
        m_buffer->TailSequence() - m_buffer->HeadSequence() <=
        static_cast<int64_t>(m_tcb->m_highTxMark.Get() - m_buffer->HeadSequence());
    if (nothingToSend && m_tracker.InFlight() + m_tcb->m_segmentSize <= m_controller->control().cwnd)
    {
        m_sampler->on_app_limited(m_tracker.InFlight());
    }
}

void
LowtideTcp::CongControl(Ptr<TcpSocketState>,
                        const TcpRateOps::TcpRateConnection&,
                        const TcpRateOps::TcpRateSample&)
{
    if (!m_controller)
    {
        // A receiver's socket, which sends no data.
        return;
    }
    if (m_repair)
    {
        Repair();
    }
    Apply();
    if (m_buffer->TailSequence() - m_tcb->m_highTxMark.Get() <
        static_cast<int64_t>(m_tcb->m_segmentSize))
    {
        // The application may still refill the buffer in this event.
        Simulator::ScheduleNow(&LowtideTcp::NoteApplicationLimit, this);
    }
}

void
LowtideTcp::Repair()
{
    // ns-3 never sends a segment a third time before the timer fires, and waits with the whole
    // connection for it. This makes it eligible again; that the buffer then counts it twice is part
    // of what Apply sets right.
    for (const auto& t : m_lostAgain)
    {
        if (!m_tracker.IsLost(t))
        {
            continue;
        }
        const SequenceNumber32 sequence = SegmentTracker::Sequence(t.offset);
        if (sequence >= m_buffer->HeadSequence())
        {
            m_buffer->CopyFromSequence(t.bytes, sequence)->m_retrans = false;
        }
    }
    m_lostAgain.clear();
    if (!m_tracker.Delivered().empty())
    {
        // ns-3 restarts it at the first of a recovery's partial acknowledgments only, so that it
        // fires in the middle of a recovery that takes longer than it, though data arrives.
        SocketTimers::RestartRetransmission(m_socket);
    }
}

void
LowtideTcp::CwndEvent(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCAEvent_t event)
{
    if (event == TcpSocketState::CA_EVENT_TX_START)
    {
        Attach(tcb);
    }
    else if (event == TcpSocketState::CA_EVENT_LOSS && m_controller)
    {
        m_tracker.OnTimeout();
        ReportLosses();
        m_controller->on_timeout(Clock(), LOWTIDE_TIMEOUT_KIND_RTO, m_tracker.InFlight());
        // ns-3 sets the window to one segment itself; the next acknowledgment brings the
        // controller's own.
    }
}

void
LowtideTcp::CongestionStateSet(Ptr<TcpSocketState>,
                               const TcpSocketState::TcpCongState_t newState)
{
    if (newState == TcpSocketState::CA_OPEN && m_controller)
    {
        Apply();
    }
}

uint32_t
LowtideTcp::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t)
{
    // ns-3 takes it for the window when a recovery ends.
    return tcb->m_cWnd;
}

void
LowtideTcp::IncreaseWindow(Ptr<TcpSocketState>, uint32_t)
{
}

void
LowtideTcp::PktsAcked(Ptr<TcpSocketState>, uint32_t, const Time&)
{
}

bool
LowtideTcp::HasCongControl() const
{
    return true;
}

} // namespace ns3
