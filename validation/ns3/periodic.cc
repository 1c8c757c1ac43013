// One bulk TCP transfer in ns-3 over a dumbbell whose bottleneck moves the head of its queue back by RI packets, as
// experiments/periodic/path.toml describes it.
//
//   periodic CONTROL RI SETTINGS [TRACE]
//
// CONTROL: TcpNewReno, TcpCubic. RI: 0 for no reordering. SETTINGS: "paper" (every segment acknowledged, an initial window of
// one segment, no limited transmit, no timestamps, classic recovery, 1460 bytes), or "default" (those of ns-3, 1448 bytes).
// SACK is off in both. TRACE is a file for the window after every change. Prints one line:
//   goodput_mbps=... recoveries=... timeouts=... data_packets=...
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>

using namespace ns3;

/// A queue without bound whose head waits until RI others have left, whenever more than RI packets wait.
class PeriodicQueue : public Queue<Packet>
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::PeriodicQueue")
                                .SetParent<Queue<Packet>>()
                                .AddConstructor<PeriodicQueue>()
                                .AddAttribute("Interval", "RI, packets", UintegerValue(0),
                                              MakeUintegerAccessor(&PeriodicQueue::m_interval),
                                              MakeUintegerChecker<uint32_t>());
        return tid;
    }

    bool Enqueue(Ptr<Packet> packet) override
    {
        return DoEnqueue(GetContainer().end(), packet);
    }

    Ptr<Packet> Dequeue() override
    {
        if (m_interval > 0 && m_ahead == 0 && !m_held && GetNPackets() > m_interval) {
            m_held = true;
            m_ahead = m_interval;
        }
        auto at = GetContainer().begin();
        if (m_ahead > 0) {
            --m_ahead;
            ++at;
        } else {
            m_held = false;
        }
        return DoDequeue(at);
    }

    Ptr<Packet> Remove() override
    {
        return DoRemove(GetContainer().begin());
    }

    Ptr<const Packet> Peek() const override
    {
        return DoPeek(GetContainer().begin());
    }

  private:
    uint32_t m_interval{0};
    uint32_t m_ahead{0};
    bool m_held{false};
};

NS_OBJECT_ENSURE_REGISTERED(PeriodicQueue);

static uint64_t g_dataPackets = 0, g_recoveries = 0, g_timeouts = 0;
static std::FILE *g_trace = nullptr;
static uint32_t g_segment = 1460;

static void Transmitted(Ptr<const Packet> packet)
{
    if (packet->GetSize() > 1000)
        ++g_dataPackets;
}

static void State(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t to)
{
    g_recoveries += to == TcpSocketState::CA_RECOVERY;
    g_timeouts += to == TcpSocketState::CA_LOSS;
    if (g_trace)
        std::fprintf(g_trace, "%.6f state %d\n", Simulator::Now().GetSeconds(), static_cast<int>(to));
}

static void Window(uint32_t, uint32_t to)
{
    if (g_trace)
        std::fprintf(g_trace, "%.6f cwnd %.3f\n", Simulator::Now().GetSeconds(), static_cast<double>(to) / g_segment);
}

static void Threshold(uint32_t, uint32_t to)
{
    if (g_trace)
        std::fprintf(g_trace, "%.6f ssthresh %.3f\n", Simulator::Now().GetSeconds(), static_cast<double>(to) / g_segment);
}

static void Connect()
{
    const std::string socket = "/NodeList/0/$ns3::TcpL4Protocol/SocketList/0/";
    Config::ConnectWithoutContext(socket + "CongState", MakeCallback(&State));
    Config::ConnectWithoutContext(socket + "CongestionWindow", MakeCallback(&Window));
    Config::ConnectWithoutContext(socket + "SlowStartThreshold", MakeCallback(&Threshold));
}

static NetDeviceContainer Link(Ptr<Node> a, Ptr<Node> b, const char *rate, double delayMs)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(static_cast<uint64_t>(delayMs * 1000))));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(PACKETS, 1'000'000)));
    return link.Install(a, b);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        std::fprintf(stderr, "usage: periodic TcpNewReno|TcpCubic RI paper|default [TRACE]\n");
        return 2;
    }
    const std::string control = argv[1], settings = argv[3];
    const bool paper = settings == "paper";
    g_segment = paper ? 1460 : 1448;
    if (argc > 4)
        g_trace = std::fopen(argv[4], "w");

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + control)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(g_segment));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(30'000'000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(30'000'000));
    if (paper) {
        Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName("ns3::TcpClassicRecovery")));
        Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
        Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
        Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(1));
        Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    }

    NodeContainer nodes;
    nodes.Create(4);
    NetDeviceContainer access = Link(nodes.Get(0), nodes.Get(1), "100Mbps", 15);
    NetDeviceContainer bottleneck = Link(nodes.Get(1), nodes.Get(2), "10Mbps", 5);
    NetDeviceContainer exit = Link(nodes.Get(2), nodes.Get(3), "100Mbps", 15);
    Ptr<PeriodicQueue> queue = CreateObject<PeriodicQueue>();
    queue->SetAttribute("Interval", UintegerValue(static_cast<uint64_t>(std::atoi(argv[2]))));
    queue->SetMaxSize(QueueSize(PACKETS, 1'000'000));
    DynamicCast<PointToPointNetDevice>(bottleneck.Get(0))->SetQueue(queue);
    access.Get(0)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Transmitted));

    InternetStackHelper stack;
    stack.Install(nodes);
    Ipv4AddressHelper address;
    TrafficControlHelper none; // the devices' own queues are the only ones
    address.SetBase("10.0.1.0", "255.255.255.0");
    address.Assign(access);
    address.SetBase("10.0.2.0", "255.255.255.0");
    address.Assign(bottleneck);
    address.SetBase("10.0.3.0", "255.255.255.0");
    Ipv4InterfaceContainer last = address.Assign(exit);
    none.Uninstall(access);
    none.Uninstall(bottleneck);
    none.Uninstall(exit);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5001));
    ApplicationContainer receiver = sink.Install(nodes.Get(3));
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(last.GetAddress(1), 5001));
    bulk.SetAttribute("MaxBytes", UintegerValue(0));
    bulk.SetAttribute("SendSize", UintegerValue(g_segment));
    bulk.Install(nodes.Get(0)).Start(Seconds(0.2));
    Simulator::Schedule(Seconds(0.2) + NanoSeconds(1), &Connect);

    Simulator::Stop(Seconds(10.2));
    Simulator::Run();
    const double goodput = DynamicCast<PacketSink>(receiver.Get(0))->GetTotalRx() * 8.0 / 10.0 / 1e6;
    Simulator::Destroy();
    if (g_trace)
        std::fclose(g_trace);
    std::printf("goodput_mbps=%.4f recoveries=%llu timeouts=%llu data_packets=%llu\n", goodput,
                static_cast<unsigned long long>(g_recoveries), static_cast<unsigned long long>(g_timeouts),
                static_cast<unsigned long long>(g_dataPackets));
    return 0;
}
