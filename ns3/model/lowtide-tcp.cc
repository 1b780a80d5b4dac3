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
            .AddAttribute("Checked",
                          "Check what the controller is told against its contract",
                          BooleanValue(false),
                          MakeBooleanAccessor(&LowtideTcp::m_checked),
                          MakeBooleanChecker())
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
      m_checked(other.m_checked),
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

std::unique_ptr<lowtide::Flow>
LowtideTcp::NewFlow(uint32_t segmentSize, uint64_t index) const
{
    LowtideConfig config{};
    config.max_datagram = segmentSize;
    config.now = Clock();
    // Sockets of one attribute must not all choose alike. The factor keeps their streams apart.
    config.seed = m_seed + index * 0x9E3779B97F4A7C15;
    config.transport = LOWTIDE_TRANSPORT_TCP;
    config.checked = m_checked;
    return std::make_unique<lowtide::Flow>(m_spec, config);
}

void
LowtideTcp::Init(Ptr<TcpSocketState> tcb)
{
    // A wrong spec shows here, before anything is sent.
    try
    {
        NewFlow(1448, 0);
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
    if (m_flow)
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
    m_flow = NewFlow(tcb->m_segmentSize, index);
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
    const auto& sent = m_tracker.OnSent(Simulator::Now(), header.GetSequenceNumber(), bytes);
    // What the tracker gave up for this transmission.
    Settle(Time(0));
    m_flow->sent(Clock(), sent.number, bytes);
    Pace(bytes);
}

void
LowtideTcp::Pace(uint32_t bytes)
{
    const LowtideControl control = m_flow->control();
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
LowtideTcp::Settle(Time rtt)
{
    for (const auto& t : m_tracker.Lost())
    {
        m_flow->lost(t.number);
    }
    m_flow->settle(Clock(), rtt.IsZero() ? LOWTIDE_NONE : Nanoseconds(rtt));
}

void
LowtideTcp::OnReceive(Ptr<const Packet>, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    if (!(header.GetFlags() & TcpHeader::ACK))
    {
        return;
    }
    m_tracker.OnAck(Simulator::Now(), header);
    for (const auto& t : m_tracker.Delivered())
    {
        m_flow->acked(t.number, Nanoseconds(t.sentAt));
    }
    Settle(m_tracker.Rtt());
    for (const auto& t : m_tracker.Lost())
    {
        if (t.retransmission)
        {
            m_lostAgain.push_back(t);
        }
    }
}

void
LowtideTcp::Apply()
{
    const LowtideControl control = m_flow->control();
    // ns-3 counts a retransmission as in flight until the cumulative acknowledgment passes it, even
    // when it was SACKed or lost again. The window that it enforces is moved by what it miscounts.
    const int64_t miscounted =
        m_repair ? static_cast<int64_t>(m_buffer->BytesInFlight()) -
                       static_cast<int64_t>(control.inflight)
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
    m_flow->wakeup(Clock());
    Apply();
}

void
LowtideTcp::NoteApplicationLimit()
{
    const bool nothingToSend =
        m_buffer->TailSequence() - m_buffer->HeadSequence() <=
        static_cast<int64_t>(m_tcb->m_highTxMark.Get() - m_buffer->HeadSequence());
    const LowtideControl control = m_flow->control();
    if (nothingToSend && control.inflight + m_tcb->m_segmentSize <= control.cwnd)
    {
        m_flow->app_limited();
    }
}

void
LowtideTcp::CongControl(Ptr<TcpSocketState>,
                        const TcpRateOps::TcpRateConnection&,
                        const TcpRateOps::TcpRateSample&)
{
    if (!m_flow)
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
    else if (event == TcpSocketState::CA_EVENT_LOSS && m_flow)
    {
        m_tracker.OnTimeout();
        m_flow->timeout(LOWTIDE_TIMEOUT_KIND_RTO);
        Settle(Time(0));
        // ns-3 sets the window to one segment itself; the next acknowledgment brings the
        // controller's own.
    }
}

void
LowtideTcp::CongestionStateSet(Ptr<TcpSocketState>,
                               const TcpSocketState::TcpCongState_t newState)
{
    if (newState == TcpSocketState::CA_OPEN && m_flow)
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
