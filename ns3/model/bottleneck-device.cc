// Lowtide under ns-3. Apache-2.0 OR MIT.
#include "bottleneck-device.h"

#include "ns3/node.h"
#include "ns3/simulator.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(BottleneckDevice);

TypeId
BottleneckDevice::GetTypeId()
{
    static TypeId tid = TypeId("ns3::BottleneckDevice")
                            .SetParent<NetDevice>()
                            .SetGroupName("Network")
                            .AddConstructor<BottleneckDevice>();
    return tid;
}

BottleneckDevice::BottleneckDevice()
    : m_random(CreateObject<UniformRandomVariable>())
{
}

void
BottleneckDevice::Configure(std::unique_ptr<LinkService> service,
                            Limit limit,
                            Time delay,
                            double loss)
{
    m_service = std::move(service);
    m_limit = limit;
    m_delay = delay;
    m_loss = loss;
}

bool
BottleneckDevice::SetMtu(const uint16_t mtu)
{
    m_mtu = mtu;
    return true;
}

void
BottleneckDevice::DoDispose()
{
    m_queue.clear();
    m_managed.reset();
    m_serving.packet = nullptr;
    m_peer = nullptr;
    m_node = nullptr;
    m_receive = ReceiveCallback();
    NetDevice::DoDispose();
}

bool
BottleneckDevice::Send(Ptr<Packet> packet, const Address&, uint16_t protocol)
{
    if (!m_service)
    {
        Launch(packet, protocol);
        return true;
    }
    const Waiting arrived{packet, protocol, Simulator::Now()};
    if (!m_busy)
    {
        Serve(arrived, false);
        return true;
    }
    if (m_managed)
    {
        m_managed->Enqueue(packet, protocol);
        return true;
    }
    const uint64_t bytes = m_queuedBytes + packet->GetSize();
    if (m_queue.size() >= m_limit.packets || bytes > m_limit.bytes)
    {
        if (m_observer)
        {
            m_observer->OnDrop(packet);
        }
        return false;
    }
    m_queuedBytes = bytes;
    m_queue.push_back(arrived);
    return true;
}

void
BottleneckDevice::Serve(Waiting next, bool backlogged)
{
    m_busy = true;
    m_serving = next;
    const int64_t now = Simulator::Now().GetNanoSeconds();
    const int64_t done = m_service->Serve(now, next.packet->GetSize(), backlogged);
    if (done != LinkService::NEVER)
    {
        Simulator::Schedule(NanoSeconds(done - now), &BottleneckDevice::OnServed, this);
    }
}

void
BottleneckDevice::OnServed()
{
    const Waiting done = m_serving;
    m_busy = false;
    if (m_managed)
    {
        const ManagedQueue::Next next = m_managed->Dequeue();
        if (next.packet)
        {
            Serve({next.packet, next.protocol, next.since}, next.since < Simulator::Now());
        }
    }
    else if (!m_queue.empty())
    {
        const Waiting next = m_queue.front();
        m_queue.pop_front();
        m_queuedBytes -= next.packet->GetSize();
        // One that came in this very moment is too late for what is left of the opportunity.
        Serve(next, next.since < Simulator::Now());
    }
    if (m_observer)
    {
        m_observer->OnCross(done.packet);
    }
    Launch(done.packet, done.protocol);
}

void
BottleneckDevice::Launch(Ptr<Packet> packet, uint16_t protocol)
{
    if (m_loss > 0.0 && m_random->GetValue() < m_loss)
    {
        if (m_observer)
        {
            m_observer->OnDrop(packet);
        }
        return;
    }
    Simulator::ScheduleWithContext(m_peer->GetNode()->GetId(),
                                   m_delay,
                                   &BottleneckDevice::Arrive,
                                   m_peer,
                                   packet,
                                   protocol);
}

void
BottleneckDevice::Arrive(Ptr<Packet> packet, uint16_t protocol)
{
    if (m_observer)
    {
        m_observer->OnArrive(packet);
    }
    if (!m_receive.IsNull())
    {
        m_receive(this, packet, protocol, m_peer->GetAddress());
    }
}

} // namespace ns3
