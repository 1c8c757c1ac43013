"""What limited a transfer over real Linux, by the rules of crates/sim/src/limits: from the kernel's own counters every few
milliseconds, the application's log, the path's record of each packet and link, and the capture of the sender's end."""
import bisect
from itertools import accumulate

from real import logs

OPEN, DISORDER, CWR, RECOVERY, LOSS = range(5)
#: A link counts as busy if it is so for this share of the round trip around an instant.
NEARLY_ALL = 0.9
PARTS = 8


class Line:
    """A limit for each time, painted one over the other."""

    def __init__(self, start, end):
        self.stretches = [(start, end, "unknown")]
        self.life = (start, end)

    def paint(self, start, end, limit):
        start, end = max(start, self.life[0]), min(end, self.life[1])
        if start >= end:
            return
        first = bisect.bisect_right([s[1] for s in self.stretches], start) if len(self.stretches) < 64 else self.first(start)
        new, at = [], first
        while at < len(self.stretches) and self.stretches[at][0] < end:
            old = self.stretches[at]
            if old[0] < start:
                new.append((old[0], start, old[2]))
            if old[1] > end:
                tail = (end, old[1], old[2])
            else:
                tail = None
            at += 1
        new.append((start, end, limit))
        if tail:
            new.append(tail)
        self.stretches[first:at] = new

    def first(self, start):
        low, high = 0, len(self.stretches)
        while low < high:
            middle = (low + high) // 2
            if self.stretches[middle][1] <= start:
                low = middle + 1
            else:
                high = middle
        return low

    def joined(self, brief=0):
        """Equal neighbours are one, and what is brief between two times of one limit belongs to them."""
        out = []
        for start, end, limit in self.stretches:
            if len(out) > 1 and out[-2][2] == limit and out[-1][1] - out[-1][0] < brief:
                out[-2:] = [(out[-2][0], end, limit)]
            elif out and out[-1][2] == limit:
                out[-1] = (out[-1][0], end, limit)
            else:
                out.append((start, end, limit))
        self.stretches = out
        return out


class Busy:
    """When a link is busy for nearly all of a round trip."""

    def __init__(self, times, round_ns):
        self.starts = [start for start, _ in times]
        self.times, self.sums, total = times, [], 0
        for start, end in times:
            self.sums.append(total)
            total += end - start
        self.half = max(1, round_ns // 2)

    def until(self, ns):
        k = bisect.bisect_left(self.starts, ns) - 1
        if k < 0:
            return 0
        start, end = self.times[k]
        return self.sums[k] + min(ns, end) - start

    def at(self, ns):
        return self.until(ns + self.half) - self.until(ns - self.half) >= NEARLY_ALL * 2 * self.half


class Positions:
    """First unacknowledged and next new byte of the sender over time, and when it heard or sent something."""

    def __init__(self, packets):
        self.times, self.una, self.nxt, una, nxt = [], [], [], 0, 0
        for packet in packets:
            una, nxt = max(una, packet.ack), max(nxt, packet.end if packet.out else 0)
            self.times.append(packet.ns)
            self.una.append(una)
            self.nxt.append(nxt)
        self.heard = [p.ns for p in packets if not p.out]
        self.sent = [p.ns for p in packets if p.out and p.length > 0]

    def at(self, ns):
        k = bisect.bisect_right(self.times, ns) - 1
        return (self.una[k], self.nxt[k]) if k >= 0 else (0, 0)

    def acknowledged(self, position, since):
        """When everything below a position was acknowledged."""
        k = bisect.bisect_left(self.times, since)
        while k < len(self.times) and self.una[k] < position:
            k += 1
        return self.times[k] if k < len(self.times) else None

    def heard_after(self, ns, until):
        """When it first heard something behind a time and before another; None if it did not."""
        k = bisect.bisect_right(self.heard, ns)
        return self.heard[k] if k < len(self.heard) and self.heard[k] < until else None

    def news_before(self, ns):
        """The last time before at which it heard or sent something."""
        before = lambda times: times[k - 1] if (k := bisect.bisect_left(times, ns)) else 0
        return max(before(self.heard), before(self.sent))


def is_over(found, positions, ns):
    """What had been sent when the last recovery began was acknowledged before this time: the kernel has left it, and what is sent again
    belongs to another one, which may begin with the same acknowledgement (tcp_fastretrans_alert in net/ipv4/tcp_input.c)."""
    return bool(found) and positions.at(ns)[0] >= found[-1]["recover"]


def recoveries(samples, packets, positions):
    """Recoveries and time-outs: (start, end, what had been sent, by a time-out, undone), in order; and probes of the tail."""
    again = [p for p in packets if p.again]
    times = [p.ns for p in again]
    out, probes = [], []
    for before, now in zip(samples, samples[1:]):
        first = bisect.bisect_right(times, before["ns"])
        own = again[first:bisect.bisect_right(times, now["ns"])]
        expired = now["retransmits"] > before["retransmits"] or now["ca_state"] == LOSS != before["ca_state"]
        begins = now["ca_state"] == RECOVERY and (before["ca_state"] != RECOVERY or own and is_over(out, positions, own[0].ns))
        if own and (expired or begins):
            start = own[0].ns
            if out and out[-1]["end"] is None:
                out[-1]["end"] = start
            recover = positions.at(start - 1)[1]
            out.append({"start": start, "end": None, "recover": recover, "timeout": expired, "undone": None,
                        "window": before["snd_cwnd"], "threshold": before["snd_ssthresh"]})
        elif own and now["ca_state"] in (OPEN, DISORDER):
            probes.append(own[0])
        if out:
            last = out[-1]
            jumped = now["snd_cwnd"] >= last["window"] and before["snd_cwnd"] < 0.9 * last["window"]
            if last["undone"] is None and jumped and now["ns"] > last["start"]:
                last["undone"] = now["ns"]
                last["end"] = last["end"] or now["ns"]
            if last["end"] is None and now["ca_state"] in (OPEN, DISORDER):
                last["end"] = positions.acknowledged(last["recover"], last["start"]) or now["ns"]
    for each in out:
        done = positions.acknowledged(each["recover"], each["start"])
        each["end"] = min(t for t in (each["end"], done, samples[-1]["ns"]) if t)
        mine = [p for p in again if each["start"] <= p.ns <= each["end"] and p.start < each["recover"]]
        each["needed"] = any(not p.spurious for p in mine)
    return out, probes


def level(all_recoveries, ns, known, info):
    """What the congestion window is due to, where no link is busy. BBR shows its phase by its gains (256 is 1) and keeps no
    reduction beyond a recovery: at a policer it sends at the rate that it measures, as at a line of that rate."""
    if known["control"] == "bbr":
        gain, probe = info["pacing_gain"], info["cwnd_gain"] == 256
        return "start" if gain > 500 else "window-unneeded" if probe else "window-needed:line" if known["policed"] else "unknown"
    standing = [r for r in all_recoveries if r["start"] <= ns and not (r["undone"] and r["undone"] <= ns)]
    if not standing:
        return "start"
    return "window-needed" if standing[-1]["needed"] else "window-unneeded"


def base(info, una, nxt, blocked, written, nagle):
    """The limit by the state of the sender alone; `window` for the congestion window or pacing. `written`: the application has written all."""
    flight = info["unacked"] - info["sacked"] - info["lost"] + info["retrans"]
    unsent, mss = info["notsent_bytes"], max(1, info["snd_mss"])
    lost = info["lost"] > info["retrans"]
    if unsent == 0 and not lost or unsent < mss and nagle and info["unacked"] > 0 and not lost:
        return "send-buffer" if blocked else "application:end" if written else "application"
    if flight >= info["snd_cwnd"]:
        return "window"
    room, window = info["snd_wnd"] - (nxt - una), info["snd_cwnd"] * mss
    if room < min(unsent, mss):
        return "receiver-window"
    if room < info["snd_wnd"] / 4 and info["snd_wnd"] < window:
        return "receiver-window"
    if blocked and unsent < (nxt - una) / 2:
        return "send-buffer"
    return "window"


def silences(packets, found, outages):
    """When the path was dead: an arrival gap at both ends with time-outs, while it was interrupted or with two of them."""
    arrivals = sorted([p.ns for p in packets if not p.out] + [p.arrived for p in packets if p.out and p.arrived])
    expiries = [r["start"] for r in found if r["timeout"]]
    out = {}
    for ns in expiries:
        k = bisect.bisect_right(arrivals, ns)
        start = arrivals[k - 1] if k else 0
        end = arrivals[k] if k < len(arrivals) else 1 << 62
        out.setdefault((start, end), []).append(ns)
    for (start, end), own in out.items():
        common = [min(end, last) for first, last in outages if first < end and last > start]
        if common:
            yield start, max(common)
        elif len(own) > 1:
            yield start, end


def counts(packets, flow):
    """What became of the packets of the flow, as of a simulated one (`counts` of diagnose)."""
    data = [p for p in packets if p.out and p.length > 0]
    originals = [p for p in data if not p.again]
    acknowledged = max((p.ack for p in packets if not p.out), default=0)
    lost = [p for p in originals if not p.arrived]
    highest, late = 0, 0
    for packet in sorted((p for p in data if p.arrived), key=lambda p: p.arrived):
        late += not packet.again and packet.end <= highest
        highest = max(highest, packet.end)
    return {"flow": flow, "losses": sum(p.end <= acknowledged for p in lost), "reordered": late, "again": sum(p.again for p in data),
            "spurious": sum(p.again and p.spurious for p in data), "data": len(originals), "undecided": sum(p.end > acknowledged for p in lost)}


def ended(packets):
    """When the connection was over for the client: nothing limits what it has reset."""
    return next((p.ns for p in packets if p.out and p.reset), packets[-1].ns)


def timeline(name, known):
    """The flow's name, (start, end, limit) in order, what the receiver sees of that, and what became of the packets."""
    packets = logs.packets(name)
    data = [p for p in packets if p.out and p.length > 0]
    if not data:
        return None
    infos, blocked = logs.samples(name), logs.Blocked(name)
    begin, links = logs.path(name)
    positions = Positions(packets)
    round_ns = max(1_000_000, min((i["min_rtt"] for i in infos if i["min_rtt"] < 2**31), default=1000) * 1000)
    busy = [Busy(times, round_ns) for times in links]
    found, probes = recoveries(infos, packets, positions)
    over = ended(packets)
    line = Line(packets[0].ns, over)
    # A sample stands for the time half way to its neighbours.
    times = [info["ns"] for info in infos]
    between = [packets[0].ns, *((a + b) // 2 for a, b in zip(times, times[1:])), over]
    for info, start, end in zip(infos, between, between[1:]):
        una, nxt = positions.at(info["ns"])
        written = info["ns"] > blocked.last
        limit = base(info, una, nxt, blocked.at(info["ns"]), written, known["nagle"])
        full = any(b.at(info["ns"]) for b in busy)
        if limit == "window":
            limit = "line" if full else level(found, info["ns"], known, info)
        elif limit in ("send-buffer", "receiver-window") and full:
            # Both hold it: more room alone would fill the queue.
            limit += ":line"
        line.paint(start, end, limit)
    line.joined(round_ns // 4)
    for each in found:
        line.paint(each["start"], each["end"], "recovery-needed" if each["needed"] else "recovery-unneeded")
    for each in found:
        if each["timeout"]:
            line.paint(positions.news_before(each["start"]), each["start"], "timer-needed" if each["needed"] else "timer-unneeded")
    for probe in probes:
        if not probe.spurious:
            line.paint(positions.news_before(probe.ns), probe.ns, "timer-needed")
    last = found[-1] if found else None
    if last and last["timeout"] and positions.heard_after(last["start"], over) is None:
        # Nothing came any more: it waited for the next timer until it gave up.
        line.paint(last["start"], over, "timer-needed")
    for start, end in silences(packets, found, [(begin + a, begin + b) for a, b in known["outages"]]):
        line.paint(start, end, "path-dead")
    opened = next((p.ns for p in packets if not p.out and p.syn), packets[-1].ns)
    line.paint(packets[0].ns, opened, "handshake")
    flow = f"192.0.2.1:{packets[0].port}->192.0.2.2:5001"
    return flow, line.joined(), Seen(packets), counts(packets, flow)


class Seen:
    """When the receiver saw that a limit began to hold: with the first packet sent then, or the last where there was no more."""

    def __init__(self, packets):
        arrived = [(p.ns, p.arrived) for p in packets if p.out and p.arrived]
        self.shortest = min((there - here for here, there in arrived), default=0)
        self.sent = [here for here, _ in arrived]
        self.there = list(accumulate((there for _, there in arrived), max))
        # What comes late shows nothing that a later packet has shown before.
        first = list(accumulate((there for _, there in reversed(arrived)), min))[::-1]
        self.there = [min(pair) for pair in zip(self.there, first[1:] + self.there[-1:])]

    def at(self, ns, limit):
        k = bisect.bisect_right(self.sent, ns) - 1
        if not limit.startswith("application"):
            k = min(k, bisect.bisect_left(self.sent, ns))
        return max(ns + self.shortest, self.there[k] if k >= 0 else 0)


def write(file, flow, stretches, seen):
    """As the simulator writes it."""
    rows = ["flow,start_ns,end_ns,limit,cause,received_start_ns,received_end_ns"]
    following = [limit for _, _, limit in stretches[1:]] + ["application"]
    for (start, end, whole), after in zip(stretches, following):
        limit, _, cause = whole.partition(":")
        rows.append(f"{flow},{start},{end},{limit},{cause},{seen.at(start, whole)},{seen.at(end, after)}")
    file.write_text("\n".join(rows) + "\n", encoding="ascii")
