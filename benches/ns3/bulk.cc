// One bulk TCP transfer in ns-3, the neighbour of `inorder simulate` in the speed comparison.
//
//   bulk RATE_MBPS ONE_WAY_MS SECONDS [CONGESTION_CONTROL]
//
// sender -- RATE, ONE_WAY_MS, queue of one bandwidth-delay product -- receiver; SACK and timestamps as ns-3
// has them by default, segments of 1448 bytes, buffers that do not limit. Prints one line:
//   seconds=... goodput_mbps=... data_packets=...
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

using namespace ns3;

static uint64_t g_dataPackets = 0;

static void Transmitted(Ptr<const Packet> packet)
{
    if (packet->GetSize() > 1000)
        ++g_dataPackets;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        std::fprintf(stderr, "usage: bulk RATE_MBPS ONE_WAY_MS SECONDS [TcpCubic]\n");
        return 2;
    }
    const double rate = std::atof(argv[1]), delay = std::atof(argv[2]), seconds = std::atof(argv[3]);
    const std::string control = argc > 4 ? argv[4] : "TcpCubic";
    const uint32_t bdp = static_cast<uint32_t>(rate * 1e6 * 2 * delay * 1e-3 / 8 / 1500) + 1;

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + control)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(30'000'000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(30'000'000));

    NodeContainer nodes;
    nodes.Create(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(rate * 1e6))));
    link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(static_cast<uint64_t>(delay * 1000))));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(PACKETS, bdp)));
    NetDeviceContainer devices = link.Install(nodes);
    devices.Get(0)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Transmitted));

    InternetStackHelper stack;
    stack.Install(nodes);
    TrafficControlHelper none; // the device's queue is the bottleneck, as in the simulator beside it
    Ipv4AddressHelper address;
    address.SetBase("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = address.Assign(devices);
    none.Uninstall(devices);

    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5001));
    ApplicationContainer receiver = sink.Install(nodes.Get(1));
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), 5001));
    bulk.SetAttribute("MaxBytes", UintegerValue(0));
    bulk.SetAttribute("SendSize", UintegerValue(1448));
    bulk.Install(nodes.Get(0)).Start(Seconds(0));

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    const double goodput = DynamicCast<PacketSink>(receiver.Get(0))->GetTotalRx() * 8.0 / seconds / 1e6;
    Simulator::Destroy();
    std::printf("seconds=%g goodput_mbps=%.2f data_packets=%llu\n", seconds, goodput,
                static_cast<unsigned long long>(g_dataPackets));
    return 0;
}
