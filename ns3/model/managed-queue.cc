// Lowtide under ns-3. Apache-2.0 OR MIT.
#include "managed-queue.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/fq-codel-queue-disc.h"
#include "ns3/ipv4-header.h"
#include "ns3/mac48-address.h"
#include "ns3/queue-size.h"
#include "ns3/string.h"
#include "ns3/tcp-header.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{

namespace
{

/// A packet that ends in its IP header; flows are told apart by ports.
class Item : public QueueDiscItem
{
  public:
    Item(Ptr<Packet> packet, uint16_t protocol)
        : QueueDiscItem(packet, Mac48Address(), protocol)
    {
    }

    void AddHeader() override {}
    bool Mark() override { return false; }

    uint32_t Hash(uint32_t) const override
    {
        Ptr<Packet> copy = GetPacket()->Copy();
        Ipv4Header ip;
        TcpHeader tcp;
        copy->RemoveHeader(ip);
        copy->PeekHeader(tcp);
        return tcp.GetDestinationPort();
    }
};

} // namespace

ManagedQueue::ManagedQueue(const std::string& name,
                           uint64_t packets,
                           std::function<void(Ptr<const Packet>)> onDrop)
{
    // RFC 8289 drops nothing with one packet of the largest size waiting, ns-3 nothing below this.
    Config::SetDefault("ns3::CoDelQueueDisc::MinBytes", UintegerValue(1501));
    ObjectFactory factory;
    if (name == "codel")
    {
        factory.SetTypeId("ns3::CoDelQueueDisc");
    }
    else if (name == "fq_codel")
    {
        factory.SetTypeId("ns3::FqCoDelQueueDisc");
        factory.Set("UseEcn", BooleanValue(false));
    }
    else if (name == "pie" || name == "pie:max_burst=0s")
    {
        factory.SetTypeId("ns3::PieQueueDisc");
        factory.Set("UseDerandomization", BooleanValue(true));
        factory.Set("QueueDelayReference", StringValue("15ms"));
        factory.Set("Tupdate", StringValue("15ms"));
        factory.Set("MaxBurstAllowance", StringValue(name == "pie" ? "150ms" : "0s"));
    }
    else
    {
        throw std::runtime_error("--queue: '" + name + "' is none of codel, fq_codel, pie, pie:max_burst=0s");
    }
    const uint64_t most = std::min<uint64_t>(packets, 1000000);
    factory.Set("MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, most)));
    m_disc = factory.Create<QueueDisc>();
    if (name == "fq_codel")
    {
        // What a NetDevice's MTU sets otherwise.
        DynamicCast<FqCoDelQueueDisc>(m_disc)->SetQuantum(1514);
    }
    m_disc->Initialize();
    m_disc->TraceConnectWithoutContext(
        "Drop",
        Callback<void, Ptr<const QueueDiscItem>>(
            [onDrop](Ptr<const QueueDiscItem> item) { onDrop(item->GetPacket()); }));
}

void
ManagedQueue::Enqueue(Ptr<Packet> packet, uint16_t protocol)
{
    m_disc->Enqueue(Create<Item>(packet, protocol));
}

ManagedQueue::Next
ManagedQueue::Dequeue()
{
    Ptr<QueueDiscItem> item = m_disc->Dequeue();
    if (!item)
    {
        return {};
    }
    return {item->GetPacket(), item->GetProtocol(), item->GetTimeStamp()};
}

} // namespace ns3
