// Lowtide under ns-3. Apache-2.0 OR MIT.
#ifndef LOWTIDE_MANAGED_QUEUE_H
#define LOWTIDE_MANAGED_QUEUE_H

#include "ns3/packet.h"
#include "ns3/queue-disc.h"

#include <functional>
#include <string>

namespace ns3
{

/**
 * One of ns-3's own queue disciplines in front of a BottleneckDevice.
 */
class ManagedQueue
{
  public:
    struct Next
    {
        Ptr<Packet> packet;
        uint16_t protocol = 0;
        Time since;
    };

    /// `name`: codel, fq_codel or pie, with the defaults of the RFCs, or pie:max_burst=0s. Throws
    /// std::runtime_error.
    ManagedQueue(const std::string& name,
                 uint64_t packets,
                 std::function<void(Ptr<const Packet>)> onDrop);

    void Enqueue(Ptr<Packet> packet, uint16_t protocol);
    /// Without a packet when none waits.
    Next Dequeue();

  private:
    Ptr<QueueDisc> m_disc;
};

} // namespace ns3

#endif
