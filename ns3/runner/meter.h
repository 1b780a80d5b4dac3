// Lowtide under ns-3. Apache-2.0 OR MIT.
#ifndef LOWTIDE_METER_H
#define LOWTIDE_METER_H

#include "../model/bottleneck-device.h"
#include "../model/segment-tracker.h"

#include "ns3/tcp-socket-base.h"

#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ns3
{

/**
 * Measures what `lowtide compare` measures, as docs/metrics.md defines it. Packets count with the
 * size of their IP datagrams.
 */
class Meter : public BottleneckDevice::Observer
{
  public:
    /// `firstPort`: the receiver's port of flow 0; the others follow. `offered`: bytes that the link
    /// offers after one moment and up to another, ns.
    Meter(uint64_t flows,
          uint16_t firstPort,
          Time duration,
          Time stagger,
          Time oneWay,
          std::function<double(int64_t, int64_t)> offered,
          const std::string& log);

    /// Watches a flow's sending socket.
    void Watch(uint64_t flow, Ptr<TcpSocketBase> socket);

    void OnDrop(Ptr<const Packet> packet) override;
    void OnCross(Ptr<const Packet> packet) override;
    void OnArrive(Ptr<const Packet> packet) override;

    /// The metrics as members of a JSON object, flows included.
    std::string Json(const std::string& indent) const;

    uint64_t Crossed() const { return m_crossed; }

  private:
    struct Flow
    {
        SegmentTracker tracker;
        std::vector<double> rtts;            //!< ms
        std::vector<double> delays;          //!< one way, ms
        std::map<uint64_t, double> sentAt;   //!< by packet id, ns
        std::set<uint64_t> beyond;           //!< offsets received out of order
        uint64_t next = 1;                   //!< next offset expected
        uint64_t sent = 0;
        uint64_t repeated = 0;
        uint64_t dropped = 0;
        uint64_t received = 0;
        uint64_t firstCopies = 0;
        uint64_t timeouts = 0;
        std::vector<uint64_t> perSecond;     //!< first copies
    };

    void OnSend(uint64_t flow, Ptr<const Packet>, const TcpHeader&, Ptr<const TcpSocketBase>);
    void OnReceive(uint64_t flow, Ptr<const Packet>, const TcpHeader&, Ptr<const TcpSocketBase>);
    void OnState(uint64_t flow,
                 const TcpSocketState::TcpCongState_t before,
                 const TcpSocketState::TcpCongState_t after);
    /// The flow of a datagram, its first byte and its payload; false for pure control packets.
    bool Classify(Ptr<const Packet> packet, uint64_t& flow, uint64_t& offset, uint32_t& payload) const;
    std::string Of(const std::vector<const Flow*>& flows, double jain, const std::string& indent) const;
    double Jain() const;
    void Log(const char* what, uint64_t flow, uint64_t offset);

    uint16_t m_firstPort;
    Time m_duration;
    Time m_stagger;
    Time m_oneWay;
    std::function<double(int64_t, int64_t)> m_offered;
    std::vector<Flow> m_flows;
    uint64_t m_crossed{0};
    std::ofstream m_log;
};

} // namespace ns3

#endif
