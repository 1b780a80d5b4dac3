// Lowtide under ns-3. Apache-2.0 OR MIT.
#ifndef LOWTIDE_TCP_H
#define LOWTIDE_TCP_H

#include "segment-tracker.h"

#include "ns3/event-id.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-socket-base.h"

#include <lowtide.hpp>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * Any of Lowtide's controllers under ns-3's TCP: the attribute Controller takes what `lowtide list`
 * shows, as "ebb" or "cubic:abe=true".
 *
 * The controller is not fed from ns-3's rate samples and RTTs (ns3/README.md says why), but from the
 * packets that the socket sends and receives, through its trace sources Tx and Rx. With the attribute
 * Repair it also mends what in ns-3's recovery keeps a connection waiting for its timer.
 */
class LowtideTcp : public TcpCongestionOps
{
  public:
    static TypeId GetTypeId();

    LowtideTcp();
    LowtideTcp(const LowtideTcp& other);
    ~LowtideTcp() override;

    std::string GetName() const override;
    void Init(Ptr<TcpSocketState> tcb) override;
    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight) override;
    void IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked) override;
    void PktsAcked(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked, const Time& rtt) override;
    void CongestionStateSet(Ptr<TcpSocketState> tcb,
                            const TcpSocketState::TcpCongState_t newState) override;
    void CwndEvent(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCAEvent_t event) override;
    bool HasCongControl() const override;
    void CongControl(Ptr<TcpSocketState> tcb,
                     const TcpRateOps::TcpRateConnection& rc,
                     const TcpRateOps::TcpRateSample& rs) override;
    Ptr<TcpCongestionOps> Fork() override;

  private:
    /// A flow of the attributes' controller; `index` is the socket's.
    std::unique_ptr<lowtide::Flow> NewFlow(uint32_t segmentSize, uint64_t index) const;
    void Attach(Ptr<TcpSocketState> tcb);
    void OnSend(Ptr<const Packet> packet,
                const TcpHeader& header,
                Ptr<const TcpSocketBase> socket);
    void OnReceive(Ptr<const Packet> packet,
                   const TcpHeader& header,
                   Ptr<const TcpSocketBase> socket);
    void OnWakeup();
    void NoteApplicationLimit();
    /// Tells the controller of losses that the tracker found, and of what else was said.
    void Settle(Time rtt);
    void Repair();
    /// Sets the socket's pacing timer, so that bursts of the controller's quantum leave at its rate;
    /// ns-3's own pacer knows single packets only.
    void Pace(uint32_t bytes);
    void Apply();

    std::string m_spec;
    uint64_t m_seed;
    bool m_checked{false};
    bool m_repair;
    Ptr<TcpSocketState> m_tcb;
    TcpSocketBase* m_socket{nullptr}; //!< ours, once attached; it owns this object
    Ptr<TcpTxBuffer> m_buffer;        //!< the socket's
    std::unique_ptr<lowtide::Flow> m_flow;
    SegmentTracker m_tracker;
    std::vector<SegmentTracker::Transmission> m_lostAgain; //!< retransmissions, to be repaired
    EventId m_wakeup;
    Time m_releaseAt{0};      //!< when the next burst may begin
    uint64_t m_burstLeft{0};  //!< bytes that the current one may still send
};

} // namespace ns3

#endif
