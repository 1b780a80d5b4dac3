// Lowtide under ns-3. Apache-2.0 OR MIT.
#ifndef LOWTIDE_BOTTLENECK_DEVICE_H
#define LOWTIDE_BOTTLENECK_DEVICE_H

#include "link-service.h"
#include "managed-queue.h"

#include "ns3/channel.h"
#include "ns3/net-device.h"
#include "ns3/nstime.h"
#include "ns3/packet.h"
#include "ns3/random-variable-stream.h"

#include <deque>
#include <memory>

namespace ns3
{

/**
 * One end of a point-to-point link whose rate may change all the time: a drop-tail queue or one of
 * ns-3's disciplines, a LinkService (none: packets take no time), random loss and a propagation delay, in this order.
 *
 * Packets have the size of their IP datagrams; there is no link header.
 */
class BottleneckDevice : public NetDevice
{
  public:
    static TypeId GetTypeId();

    /// What the device does to a packet, for metrics.
    struct Observer
    {
        virtual ~Observer() = default;
        virtual void OnDrop(Ptr<const Packet> packet) = 0;
        /// It left the link at this moment.
        virtual void OnCross(Ptr<const Packet> packet) = 0;
        virtual void OnArrive(Ptr<const Packet> packet) = 0;
    };

    /// How much waits at the most; the packet on the link does not count.
    struct Limit
    {
        uint64_t packets = UINT64_MAX;
        uint64_t bytes = UINT64_MAX;
    };

    void Configure(std::unique_ptr<LinkService> service, Limit limit, Time delay, double loss);
    /// Instead of the drop-tail queue.
    void SetQueue(std::unique_ptr<ManagedQueue> queue) { m_managed = std::move(queue); }
    void SetPeer(Ptr<BottleneckDevice> peer) { m_peer = peer; }
    void SetObserver(Observer* observer) { m_observer = observer; }
    void AssignStream(int64_t stream) { m_random->SetStream(stream); }

    BottleneckDevice();
    void SetIfIndex(const uint32_t index) override { m_index = index; }
    uint32_t GetIfIndex() const override { return m_index; }
    Ptr<Channel> GetChannel() const override { return nullptr; }
    void SetAddress(Address address) override { m_address = address; }
    Address GetAddress() const override { return m_address; }
    bool SetMtu(const uint16_t mtu) override;
    uint16_t GetMtu() const override { return m_mtu; }
    bool IsLinkUp() const override { return true; }
    void AddLinkChangeCallback(Callback<void>) override {}
    bool IsBroadcast() const override { return false; }
    Address GetBroadcast() const override { return m_address; }
    bool IsMulticast() const override { return false; }
    Address GetMulticast(Ipv4Address) const override { return m_address; }
    Address GetMulticast(Ipv6Address) const override { return m_address; }
    bool IsBridge() const override { return false; }
    bool IsPointToPoint() const override { return true; }
    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocol) override;
    bool SendFrom(Ptr<Packet>, const Address&, const Address&, uint16_t) override { return false; }
    Ptr<Node> GetNode() const override { return m_node; }
    void SetNode(Ptr<Node> node) override { m_node = node; }
    bool NeedsArp() const override { return false; }
    void SetReceiveCallback(ReceiveCallback cb) override { m_receive = cb; }
    void SetPromiscReceiveCallback(PromiscReceiveCallback) override {}
    bool SupportsSendFrom() const override { return false; }

  protected:
    void DoDispose() override;

  private:
    struct Waiting
    {
        Ptr<Packet> packet;
        uint16_t protocol;
        Time since;
    };

    void Serve(Waiting next, bool backlogged);
    void OnServed();
    void Launch(Ptr<Packet> packet, uint16_t protocol);
    void Arrive(Ptr<Packet> packet, uint16_t protocol);

    std::unique_ptr<LinkService> m_service;
    Limit m_limit;
    Time m_delay;
    double m_loss{0.0};
    Ptr<UniformRandomVariable> m_random;
    bool m_busy{false};
    Waiting m_serving;
    std::deque<Waiting> m_queue;
    std::unique_ptr<ManagedQueue> m_managed;
    uint64_t m_queuedBytes{0};
    Ptr<BottleneckDevice> m_peer;
    Observer* m_observer{nullptr};
    Ptr<Node> m_node;
    ReceiveCallback m_receive;
    Address m_address;
    uint32_t m_index{0};
    uint16_t m_mtu{65535};
};

} // namespace ns3

#endif
