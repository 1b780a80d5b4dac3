// Lowtide under ns-3. Apache-2.0 OR MIT.
#include "meter.h"

#include "ns3/ipv4-header.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ns3
{

namespace
{

std::string
Number(double x)
{
    if (!std::isfinite(x))
    {
        return "null";
    }
    std::ostringstream out;
    out.precision(10);
    out << x;
    return out.str();
}

/// Mean and percentiles of a copy of the values, less `base`.
std::string
Summary(std::vector<double> values, double base)
{
    std::sort(values.begin(), values.end());
    double sum = 0.0;
    for (double v : values)
    {
        sum += v - base;
    }
    auto at = [&](double share) {
        if (values.empty())
        {
            return std::nan("");
        }
        const size_t rank = static_cast<size_t>(std::ceil(share * values.size()));
        return values[std::max<size_t>(rank, 1) - 1] - base;
    };
    return "{\"mean\": " + Number(values.empty() ? std::nan("") : sum / values.size()) +
           ", \"p50\": " + Number(at(0.5)) + ", \"p95\": " + Number(at(0.95)) +
           ", \"p99\": " + Number(at(0.99)) + ", \"max\": " + Number(at(1.0)) + "}";
}

} // namespace

Meter::Meter(uint64_t flows,
             uint16_t firstPort,
             Time duration,
             Time stagger,
             Time oneWay,
             std::function<double(int64_t, int64_t)> offered,
             const std::string& log)
    : m_firstPort(firstPort),
      m_duration(duration),
      m_stagger(stagger),
      m_oneWay(oneWay),
      m_offered(std::move(offered)),
      m_flows(flows)
{
    for (auto& flow : m_flows)
    {
        flow.perSecond.resize(static_cast<size_t>(duration.GetSeconds()) + 1);
    }
    if (!log.empty())
    {
        m_log.open(log);
        m_log << "time_ns,event,flow,offset,in_flight,cwnd,rtt_ns\n";
    }
}

void
Meter::Watch(uint64_t flow, Ptr<TcpSocketBase> socket)
{
    socket->TraceConnectWithoutContext("Tx", MakeCallback(&Meter::OnSend, this).Bind(flow));
    socket->TraceConnectWithoutContext("Rx", MakeCallback(&Meter::OnReceive, this).Bind(flow));
    socket->TraceConnectWithoutContext("CongState", MakeCallback(&Meter::OnState, this).Bind(flow));
}

void
Meter::Log(const char* what, uint64_t flow, uint64_t offset)
{
    if (m_log.is_open())
    {
        const Flow& f = m_flows[flow];
        m_log << Simulator::Now().GetNanoSeconds() << ',' << what << ',' << flow << ',' << offset
              << ',' << f.tracker.InFlight() << ",," << '\n';
    }
}

void
Meter::OnSend(uint64_t flow,
              Ptr<const Packet> packet,
              const TcpHeader& header,
              Ptr<const TcpSocketBase>)
{
    if (packet->GetSize() == 0)
    {
        return;
    }
    Flow& f = m_flows[flow];
    const auto& sent = f.tracker.OnSent(Simulator::Now(), header.GetSequenceNumber(), packet->GetSize());
    const uint64_t bytes = packet->GetSize() + header.GetSerializedSize() + 20;
    f.sent += bytes;
    f.repeated += sent.retransmission ? bytes : 0;
    // The id stays with the packet on its way down to the device and through the network.
    f.sentAt[packet->GetUid()] = Simulator::Now().GetNanoSeconds();
    Log(sent.retransmission ? "resend" : "send", flow, sent.offset);
}

void
Meter::OnReceive(uint64_t flow,
                 Ptr<const Packet>,
                 const TcpHeader& header,
                 Ptr<const TcpSocketBase>)
{
    if (!(header.GetFlags() & TcpHeader::ACK))
    {
        return;
    }
    Flow& f = m_flows[flow];
    f.tracker.OnAck(Simulator::Now(), header);
    if (!f.tracker.Rtt().IsZero())
    {
        f.rtts.push_back(f.tracker.Rtt().GetNanoSeconds() / 1e6);
    }
    if (m_log.is_open())
    {
        m_log << Simulator::Now().GetNanoSeconds() << ",ack," << flow << ','
              << header.GetAckNumber().GetValue() << ',' << f.tracker.InFlight() << ",,"
              << f.tracker.Rtt().GetNanoSeconds() << '\n';
        for (const auto& t : f.tracker.Lost())
        {
            Log("lost", flow, t.offset);
        }
    }
}

void
Meter::OnState(uint64_t flow,
               const TcpSocketState::TcpCongState_t,
               const TcpSocketState::TcpCongState_t after)
{
    if (after == TcpSocketState::CA_LOSS)
    {
        m_flows[flow].timeouts++;
        m_flows[flow].tracker.OnTimeout();
        Log("timeout", flow, 0);
    }
}

bool
Meter::Classify(Ptr<const Packet> packet, uint64_t& flow, uint64_t& offset, uint32_t& payload) const
{
    Ptr<Packet> copy = packet->Copy();
    Ipv4Header ip;
    TcpHeader tcp;
    copy->RemoveHeader(ip);
    copy->RemoveHeader(tcp);
    flow = static_cast<uint64_t>(tcp.GetDestinationPort()) - m_firstPort;
    offset = tcp.GetSequenceNumber().GetValue();
    payload = copy->GetSize();
    return flow < m_flows.size() && payload > 0;
}

void
Meter::OnDrop(Ptr<const Packet> packet)
{
    uint64_t flow;
    uint64_t offset;
    uint32_t payload;
    if (Classify(packet, flow, offset, payload))
    {
        m_flows[flow].dropped += packet->GetSize();
        m_flows[flow].sentAt.erase(packet->GetUid());
        Log("drop", flow, offset);
    }
}

void
Meter::OnCross(Ptr<const Packet> packet)
{
    uint64_t flow;
    uint64_t offset;
    uint32_t payload;
    m_crossed += Classify(packet, flow, offset, payload);
}

void
Meter::OnArrive(Ptr<const Packet> packet)
{
    uint64_t flow;
    uint64_t offset;
    uint32_t payload;
    if (!Classify(packet, flow, offset, payload))
    {
        return;
    }
    Flow& f = m_flows[flow];
    f.received += packet->GetSize();
    const bool first = offset >= f.next && f.beyond.insert(offset).second;
    if (first)
    {
        while (f.beyond.erase(f.next))
        {
            f.next += payload;
        }
        f.firstCopies += packet->GetSize();
        f.perSecond[static_cast<size_t>(Simulator::Now().GetSeconds())] += packet->GetSize();
    }
    const auto sent = f.sentAt.find(packet->GetUid());
    if (sent != f.sentAt.end())
    {
        f.delays.push_back((Simulator::Now().GetNanoSeconds() - sent->second) / 1e6);
        f.sentAt.erase(sent);
    }
}

double
Meter::Jain() const
{
    if (m_flows.size() < 2)
    {
        return 1.0;
    }
    double sum = 0.0;
    double windows = 0.0;
    for (size_t second = 0; second < static_cast<size_t>(m_duration.GetSeconds()); second++)
    {
        double n = 0.0;
        double x = 0.0;
        double squares = 0.0;
        for (size_t flow = 0; flow < m_flows.size(); flow++)
        {
            if ((m_stagger * static_cast<int64_t>(flow)).GetSeconds() > static_cast<double>(second))
            {
                continue;
            }
            const double got = static_cast<double>(m_flows[flow].perSecond[second]);
            n += 1.0;
            x += got;
            squares += got * got;
        }
        if (n >= 2.0 && squares > 0.0)
        {
            sum += x * x / (n * squares);
            windows += 1.0;
        }
    }
    return sum / windows;
}

std::string
Meter::Of(const std::vector<const Flow*>& flows, double jain, const std::string& indent) const
{
    const size_t first = flows.front() - &m_flows.front();
    const Time start = m_stagger * static_cast<int64_t>(first);
    const double seconds = (m_duration - start).GetSeconds();
    double sent = 0;
    double repeated = 0;
    double dropped = 0;
    double received = 0;
    double firstCopies = 0;
    uint64_t timeouts = 0;
    std::vector<double> rtts;
    std::vector<double> delays;
    for (const Flow* f : flows)
    {
        sent += f->sent;
        repeated += f->repeated;
        dropped += f->dropped;
        received += f->received;
        firstCopies += f->firstCopies;
        timeouts += f->timeouts;
        rtts.insert(rtts.end(), f->rtts.begin(), f->rtts.end());
        delays.insert(delays.end(), f->delays.begin(), f->delays.end());
    }
    const double least =
        delays.empty() ? 0.0 : *std::min_element(delays.begin(), delays.end());
    const double offered =
        m_offered(start.GetNanoSeconds(), (m_duration - m_oneWay).GetNanoSeconds());
    auto mbps = [&](double bytes) { return bytes * 8.0 / 1e6 / seconds; };
    std::string out;
    auto member = [&](const char* name, const std::string& value) {
        out += indent + "\"" + name + "\": " + value + ",\n";
    };
    member("throughput_mbps", Number(mbps(received)));
    member("goodput_mbps", Number(mbps(firstCopies)));
    member("utilisation", Number(received / offered));
    member("rtt_ms", Summary(rtts, 0.0));
    member("queue_delay_ms", Summary(delays, least));
    // Needs the link's future; the simulator has it.
    member("self_inflicted_ms", "{\"p95\": null}");
    member("loss_share", Number(dropped / sent));
    member("retransmitted_share", Number(repeated / sent));
    member("jain", Number(jain));
    member("timeouts", std::to_string(timeouts));
    out.erase(out.size() - 2);
    return out;
}

std::string
Meter::Json(const std::string& indent) const
{
    std::vector<const Flow*> all;
    for (const auto& f : m_flows)
    {
        all.push_back(&f);
    }
    std::string out = Of(all, Jain(), indent) + ",\n" + indent + "\"flows\": [\n";
    for (const Flow* f : all)
    {
        out += indent + "  {\n" + Of({f}, 1.0, indent + "    ") + "\n" + indent + "  }" +
               (f == all.back() ? "\n" : ",\n");
    }
    return out + indent + "]";
}

} // namespace ns3
