"""What the guest runs: its network, the traffic and the captures, as a shell script."""
import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
MSS = 1448

HEAD = """#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C
exec </dev/null >LOG 2>&1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /run
set -x
"""

# A - Q - R - S - B: namespace, device, its peer, subnet, host number.
LINKS = [("A", "vA", "qA", "Q", 1), ("Q", "qR", "rQ", "R", 4), ("R", "rS", "sR", "S", 2), ("S", "sB", "vB", "B", 3)]
# Namespace, subnet of the destination (None: any), gateway's subnet and host number.
ROUTES = [("A", None, 1, 2), ("B", None, 3, 1), ("Q", None, 4, 2), ("R", 3, 2, 2), ("R", 1, 4, 1), ("S", 1, 2, 1)]

LINE = """line() { # namespace device rate
    tc -n $1 qdisc add dev $2 root handle 1: htb default 1
    tc -n $1 class add dev $2 parent 1: classid 1:1 htb rate $3 burst 1600 cburst 1600 quantum 1514
}
"""


def network(sysctls):
    """Commands for namespaces, devices, addresses, routes and settings. Starting a program takes a
    guest long: addresses and routes come in one batch a namespace."""
    spaces = "AQRSB"
    out = [f"ip netns add {n}" for n in spaces]
    out += [f"ip link add {here} netns {a} type veth peer name {there} netns {b}" for a, here, there, b, _ in LINKS]
    batch = {n: ["link set lo up"] for n in spaces}
    devices = {n: [] for n in spaces}
    for a, here, there, b, net in LINKS:
        for n, device, host in ((a, here, 1), (b, there, 2)):
            devices[n].append(device)
            batch[n] += [f"address add 10.0.{net}.{host}/24 dev {device}",
                         f"address add fd00:{net}::{host}/64 dev {device} nodad", f"link set {device} up"]
    for n, target, net, host in ROUTES:
        four, six = ("default", "default") if target is None else (f"10.0.{target}.0/24", f"fd00:{target}::/64")
        batch[n] += [f"route add {four} via 10.0.{net}.{host}", f"-6 route add {six} via fd00:{net}::{host}"]
    for n in spaces:
        set_all = "; ".join(f"ethtool -K {d} tso off gso off gro off tx off" for d in devices[n])
        forward = "echo 1 >/proc/sys/net/ipv4/ip_forward; echo 1 >/proc/sys/net/ipv6/conf/all/forwarding"
        if n in "AB":
            set_all += ("; sysctl -w net.ipv4.tcp_rmem='4096 131072 16777216' net.ipv4.tcp_wmem='4096 65536 16777216' "
                        f"net.ipv4.tcp_no_metrics_save=1 {sysctls}")
        out.append(f'ip netns exec {n} sh -c "{forward}; {set_all}"')
        ipv4 = [x for x in batch[n] if not x.startswith("-6")]
        ipv6 = [x.removeprefix("-6 ") for x in batch[n] if x.startswith("-6")]
        for option, lines in (("", ipv4), ("-6 ", ipv6)):
            if lines:
                out.append(f"ip -n {n} {option}-batch - <<'END'\n" + "\n".join(lines) + "\nEND")
    return "\n".join(out) + "\n"


def lane_table(path, lanes):
    """Writes netem's table of a distribution over lanes: [[delay, share], ...]; returns the words
    for netem. Packets of one lane keep their order, since each lane has one delay."""
    delays = [microseconds(delay) for delay, _ in lanes]
    low, spread = min(delays), max(delays) - min(delays)
    whole = sum(share for _, share in lanes)
    values = []
    for delay, (_, share) in zip(delays, lanes):
        values += [round((delay - low) * 8192 / spread)] * round(share * 4096 / whole)
    values = (values + values[-1:] * 4096)[:4096]
    with open(path, "w") as f:
        f.write("\n".join(map(str, values)) + "\n")
    name = os.path.basename(path).removesuffix(".dist")
    return f"delay {low}us {spread}us CORRELATION distribution {name}"


def microseconds(text):
    for unit, factor in (("us", 1), ("ms", 1000), ("s", 10**6)):
        if text.endswith(unit):
            return round(float(text.removesuffix(unit)) * factor)
    raise ValueError(text)


def prepare(s, prefix):
    """Replaces `lanes` by what tc understands."""
    s = dict(s)
    if "lanes" in s:
        words = lane_table(prefix + "-lanes.dist", s["lanes"])
        correlation = f"{s['correlation']}%" if "correlation" in s else ""
        s["fwd"] = words.replace("CORRELATION", correlation) + " " + s.get("lanes_more", "")
    return s


def drop_some_syns(say, every):
    """One SYN or SYN/ACK in `every`, at random, is lost at S."""
    for dev in ("sR", "sB"):
        say(f"tc -n S qdisc add dev {dev} ingress")
        say(f"tc -n S filter add dev {dev} parent ffff: protocol ip u32 match ip protocol 6 0xff "
            f"match u8 0x02 0x02 at 33 action pass random netrand drop {every}")


def pass_some_acks(say, every):
    """Of segments that are nothing but an ACK one in `every` passes S on its way back."""
    say("tc -n S qdisc add dev sB ingress")
    say("tc -n S filter add dev sB parent ffff: protocol ip u32 match ip protocol 6 0xff "
        f"match u8 0x10 0xff at 33 match u16 0x0000 0xff80 at 2 action drop random netrand pass {every}")


def script(name, s, prefix, small):
    """The guest's init."""
    s = prepare(s, prefix)
    sets = s["sysctl_sets"]
    sysctls = " ".join("net.ipv4." + x for key in s.get("sender", []) for x in sets[key])
    log = prefix + ".log"
    out = [HEAD.replace("LOG", log) + network(sysctls) + LINE]
    say = out.append
    say(f"export TC_LIB_DIR={os.path.dirname(prefix)}" if "lanes" in s else ":")
    if s.get("tso"):
        say("ip netns exec A ethtool -K vA tx on sg on tso on gso on")
    if s.get("gro"):
        say("ip netns exec B ethtool -K vB gro on")
        # "ip netns exec" mounts the namespace's own /sys.
        say(f"ip netns exec B sh -c 'echo {s['gro_us'] * 1000} >/sys/class/net/vB/gro_flush_timeout'")
    say(f"line A vA {s['nic']}")
    say(f"line B vB {s['nic']}")
    # TCP hands super-segments to A's device even with offloads off; they are split after
    # its qdisc and leave in one instant. Q has split all there is; R spaces the segments.
    say(f"line R rS {s.get('rate', s['nic'])}")
    say(f"tc -n R qdisc add dev rS parent 1:1 handle 10: netem {s.get('base', '')} limit {s['queue']}")
    if s.get("thin"):
        say(f"tc -n R qdisc add dev rQ root cake {s['thin']}")
    elif s.get("back"):
        say(f"tc -n R qdisc add dev rQ root netem {s['back']} limit 20000")
    # HTB above netem: netem's own rate would keep the order. But netem's `reorder` puts the
    # packets that are on time at the head of its queue: they must not wait there, so no HTB.
    first = s["flap"][0] if s.get("flap") else s["fwd"]
    place = "root handle 10:"
    if "reorder" not in first:
        say(f"line S sB {s['nic']}")
        place = "parent 1:1 handle 10:"
    say(f"tc -n S qdisc add dev sB {place} netem {first} limit 20000")
    say(f"tc -n S qdisc add dev sR root netem {s['rev']} limit 20000")
    if s.get("before_tap"):
        say(f"tc -n Q qdisc add dev qR root netem {s['before_tap']} limit 20000")
    if s.get("lose_syn"):
        drop_some_syns(say, s["lose_syn"])
    if s.get("pass_ack"):
        pass_some_acks(say, s["pass_ack"])
    here, there = ("10.0.1.1", "10.0.3.2") if not s.get("ipv6") else ("fd00:1::1", "fd00:3::2")
    say(f"ip netns exec A ping -c 2 -i 0.3 {there}")

    points = [("A", "vA", "snd"), ("B", "vB", "rcv")]
    if s.get("before_tap"):
        points[0] = ("R", "rQ", "snd")
        points.append(("A", "vA", "org"))
    if s.get("middle") or s.get("behind_queue"):
        points.append(("S", "sR", "mid-in"))
    if s.get("middle"):
        points.append(("S", "sB", "mid-out"))
    pids = []
    wanted = "icmp" if s["traffic"] == "ping" else "tcp"
    for ns, dev, label in points:
        var = "P_" + label.replace("-", "_")
        say(f"ip netns exec {ns} tcpdump -n -i {dev} -s {s['snaplen']} -B 65536 -Z root "
            f"--time-stamp-precision=nano -w {prefix}.{label}.pcap {wanted} & {var}=$!")
        pids.append("$" + var)
    say("sleep 0.5")
    for ns in "AB":
        say(f"ip netns exec {ns} {HERE}/traffic serve &")
    say("sleep 0.3")
    if s.get("flap"):
        turns = "".join(f"tc -n S qdisc change dev sB {place} netem {f} limit 20000; "
                        f"sleep {s['flap_every']}; " for f in s["flap"][1:] + s["flap"][:1])
        say(f"( set +x; while :; do {turns} done ) & FLAP=$!")
    if s.get("stall"):
        every, length, slow = s["stall"]
        change = "tc -n R class change dev rS parent 1: classid 1:1 htb rate {} burst 1600 cburst 1600 quantum 1514"
        say(f"( set +x; while :; do sleep {every}; {change.format(slow)}; sleep {length}; "
            f"{change.format(s.get('rate', s['nic']))}; done ) & STALL=$!")
    packets = s["small"] if small else s["packets"]
    if s["traffic"] == "send":
        run = f"ip netns exec A {HERE}/traffic send {there} {packets * MSS} {s['limit']} {s['flows']}"
    elif s["traffic"] == "both":
        run = f"ip netns exec A {HERE}/traffic both {there} {packets * MSS} {s['limit']}"
    elif s["traffic"] == "fetch":
        count, low, high, gap = s.get("small_fetches", s["fetches"]) if small else s["fetches"]
        run = f"ip netns exec B {HERE}/traffic fetch {here} {count} {low} {high} {gap}"
    elif s["traffic"] == "app":
        run = f"ip netns exec A {HERE}/traffic app {there} " + " ".join(map(str, s["app"]))
    elif s["traffic"] == "slow":
        run = f"ip netns exec A {HERE}/traffic slow {there} {packets * MSS} {s['limit']} " + " ".join(map(str, s["slow"]))
    elif s["traffic"] == "ping":
        run = f"ip netns exec A ping -q -i 0.001 -c {packets} {there}"
    else:
        sys.exit(f"record: {name}: unknown traffic {s['traffic']}")
    say(f"timeout 120 {run}")
    # tcpdump gets full blocks at once, the last one only after its timeout of a second
    say("sleep 3")
    say("kill -INT " + " ".join(pids))
    say("wait " + " ".join(pids))
    say("cat /proc/net/psched; tc -n S -s -d class show dev sB; tc -n S -s qdisc show dev sB; tc -n R -s qdisc show dev rS; tc -n S -s qdisc show dev sR; tc -n A -s qdisc show dev vA")
    say("ip netns exec A nstat -az | grep -E 'Retrans|Spurious|Reorder|DSACK|Timeouts|OFOQueue'")
    say("ip netns exec B nstat -az | grep -E 'PAWS|ZeroWindow|RcvQDrop|OFODrop|SynRetrans'; ip netns exec A nstat -az | grep -E 'LossProbe|SynRetrans'")
    say("echo recorded; sync; echo o >/proc/sysrq-trigger; sleep 60")
    return "\n".join(out) + "\n"


