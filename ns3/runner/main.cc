// Lowtide under ns-3: `lowtide compare --transport tcp --json` in the foreign engine.
// Apache-2.0 OR MIT.
#include "../model/bottleneck-device.h"
#include "../model/link-service.h"
#include "../model/lowtide-tcp.h"
#include "meter.h"
#include "scenario.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <chrono>
#include <iostream>

using namespace ns3;

namespace
{

constexpr uint16_t FIRST_PORT = 5000;
/// IP header, TCP header, timestamps.
constexpr uint32_t HEADERS = 20 + 20 + 12;
/// Large enough that windows of controllers, not buffers, limit flows; below what a window field
/// with the largest scale can say.
constexpr uint32_t SOCKET_BUFFER = 1 << 29;

std::unique_ptr<LinkService>
MakeService(const Scenario& s)
{
    if (s.trace.empty())
    {
        return LinkService::Constant(s.rate);
    }
    // lowtide has no handshake. The first data, a round trip later, shall meet the trace's beginning:
    // on links that change every few milliseconds, 40 ms change the mean RTT by up to 8 %.
    return LinkService::StartingAt(s.rtt, LinkService::FromFile(s.trace, s.opportunity));
}

int64_t
Duration(const Scenario& s, const LinkService& service)
{
    // As the defaults of lowtide compare.
    const int64_t most = 120 * int64_t{1000000000};
    if (s.duration > 0)
    {
        return s.duration;
    }
    return service.Length() > 0 ? std::min(service.Length(), most) : 30 * int64_t{1000000000};
}

void
ConfigureTcp(const Scenario& s, const std::string& controller)
{
    const std::string native = "ns3:";
    if (controller.compare(0, native.size(), native) == 0)
    {
        Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                           TypeIdValue(TypeId::LookupByName("ns3::" + controller.substr(4))));
    }
    else
    {
        Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(LowtideTcp::GetTypeId()));
        Config::SetDefault("ns3::LowtideTcp::Controller", StringValue(controller));
        Config::SetDefault("ns3::LowtideTcp::Seed", UintegerValue(s.seed));
        Config::SetDefault("ns3::LowtideTcp::Repair", BooleanValue(s.repair));
    }
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(s.packetSize - HEADERS));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(SOCKET_BUFFER));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(SOCKET_BUFFER));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(NanoSeconds(s.minRto)));
    // A flow never gives up.
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000000));
}

/// One controller over the dumbbell; returns its JSON entry.
std::string
Run(const Scenario& s, const std::string& controller, uint64_t& packets)
{
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(s.seed);
    ConfigureTcp(s, controller);

    auto service = MakeService(s);
    const Time duration = NanoSeconds(Duration(s, *service));
    std::string limitText = s.buffer;
    if (limitText.empty())
    {
        // As `lowtide compare` has it: 2 BDP, and on traces at least 1200 kB.
        const double twoBdp = 2.0 * service->MeanRate() * s.rtt / 1e9;
        limitText = s.trace.empty() || twoBdp >= 1.2e6 ? "2bdp" : "1200kB";
    }
    BottleneckDevice::Limit limit;
    ParseLimit(limitText, service->MeanRate(), s.rtt, limit.packets, limit.bytes);
    const Time there = NanoSeconds(s.rtt / 2);
    const Time back = NanoSeconds(s.rtt - s.rtt / 2);

    NodeContainer nodes(2);
    InternetStackHelper().Install(nodes);
    auto forward = CreateObject<BottleneckDevice>();
    auto reverse = CreateObject<BottleneckDevice>();
    for (const auto& [device, node] : {std::pair{forward, nodes.Get(0)}, {reverse, nodes.Get(1)}})
    {
        device->SetAddress(Mac48Address::Allocate());
        node->AddDevice(device);
    }
    forward->SetPeer(reverse);
    reverse->SetPeer(forward);
    // The whole path is the bottleneck and two delays; acknowledgments go free.
    const std::shared_ptr<LinkService> meterService = MakeService(s);
    forward->Configure(std::move(service), limit, there, s.loss);
    reverse->Configure(nullptr, {}, back, 0.0);
    forward->AssignStream(1);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    NetDeviceContainer devices;
    devices.Add(forward);
    devices.Add(reverse);
    const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);

    Meter meter(
        s.flows,
        FIRST_PORT,
        duration,
        NanoSeconds(s.stagger),
        there,
        [meterService](int64_t from, int64_t to) { return meterService->VolumeBetween(from, to); },
        s.log);
    forward->SetObserver(&meter);
    if (!s.queue.empty())
    {
        forward->SetQueue(std::make_unique<ManagedQueue>(
            s.queue, limit.packets, [&meter](Ptr<const Packet> packet) { meter.OnDrop(packet); }));
    }
    reverse->SetObserver(&meter);

    for (uint64_t n = 0; n < s.flows; n++)
    {
        const uint16_t port = static_cast<uint16_t>(FIRST_PORT + n);
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(nodes.Get(1)).Start(Seconds(0));
        BulkSendHelper source("ns3::TcpSocketFactory",
                              InetSocketAddress(interfaces.GetAddress(1), port));
        source.SetAttribute("SendSize", UintegerValue((s.packetSize - HEADERS) * 32));
        ApplicationContainer app = source.Install(nodes.Get(0));
        const Time start = NanoSeconds(s.stagger) * static_cast<int64_t>(n);
        app.Start(start);
        auto bulk = DynamicCast<BulkSendApplication>(app.Get(0));
        // The socket exists from the start on, and sends its first data a round trip later.
        Simulator::Schedule(start + NanoSeconds(1), [&meter, bulk, n] {
            meter.Watch(n, DynamicCast<TcpSocketBase>(bulk->GetSocket()));
        });
    }
    Simulator::Stop(duration);
    Simulator::Run();
    packets += meter.Crossed();
    std::string json = "    {\n      \"controller\": \"" + controller + "\",\n" + meter.Json("      ") +
                       "\n    }";
    Simulator::Destroy();
    return json;
}

} // namespace

int
main(int argc, char** argv)
{
    if (argc > 1 && std::string(argv[1]) == "--help")
    {
        std::cout << Scenario::Help();
        return 0;
    }
    try
    {
        const Scenario s = Scenario::Parse(argc, argv);
        const auto started = std::chrono::steady_clock::now();
        uint64_t packets = 0;
        std::string results;
        for (const auto& controller : s.controllers)
        {
            results += (results.empty() ? "" : ",\n") + Run(s, controller, packets);
        }
        const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - started;
        const auto service = MakeService(s);
        const std::string name = s.trace.empty()
                                     ? "constant " + std::to_string(s.rate * 8.0 / 1e6) + " Mbit/s"
                                     : s.trace;
        std::cout << "{\n  \"link\": \"" << name
                  << "\",\n  \"duration_s\": " << Duration(s, *service) / 1e9
                  << ",\n  \"wall_s\": " << wall.count()
                  << ",\n  \"simulated_packets\": " << packets << ",\n  \"results\": [\n"
                  << results << "\n  ]\n}\n";
    }
    catch (const std::exception& e)
    {
        std::cerr << "error: " << e.what() << "\n";
        return 2;
    }
    return 0;
}
