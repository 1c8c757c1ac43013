"""What is known of a transfer over real Linux: its captures, what the path did, what the kernel and the application logged."""
import bisect
import csv
import struct
from dataclasses import dataclass

CLIENT = bytes([192, 0, 2, 1])


@dataclass
class Packet:
    """A TCP segment in the capture of the client's end. Positions count from the client's first byte of data."""
    ns: int
    frame: int
    out: bool
    start: int
    length: int
    ack: int
    syn: bool
    reset: bool
    port: int
    #: When it arrived at the other end; None if the path dropped it.
    arrived: int | None = None
    again: bool = False
    spurious: bool = False

    @property
    def end(self):
        return self.start + self.length


def frames(path):
    """(time, bytes) of a pcap with nanoseconds."""
    data = path.read_bytes()
    at, number = 24, 0
    while at + 16 <= len(data):
        seconds, fraction, kept, _ = struct.unpack_from("<IIII", data, at)
        number += 1
        yield number, seconds * 10**9 + fraction, data[at + 16:at + 16 + kept]
        at += 16 + kept


def packets(name):
    """All segments at the client's end, with what became of them."""
    arrivals = {"snd": {}, "rcv": {}}
    times = {"snd": [0], "rcv": [0]}
    for end in times:
        times[end] += [ns for _, ns, _ in frames(name.with_name(f"{name.name}.{end}.pcap"))]
    with open(f"{name}.pairs.csv", newline="", encoding="ascii") as rows:
        for row in csv.DictReader(rows):
            other = "rcv" if row["from"] == "snd" else "snd"
            if int(row["arrived"]):
                arrivals[row["from"]][int(row["frame"])] = times[other][int(row["arrived"])]
    out, isn = [], None
    for frame, ns, raw in frames(name.with_name(f"{name.name}.snd.pcap")):
        header = (raw[0] & 15) * 4
        total = struct.unpack_from("!H", raw, 2)[0]
        source, target, seq, ack, offset, flags = struct.unpack_from("!HHIIBB", raw, header)
        mine = raw[12:16] == CLIENT
        if mine and flags & 2:
            isn = seq
        if isn is None:
            continue
        wrap = lambda n: (n - isn - 1 + 2**31) % 2**32 - 2**31
        length = total - header - (offset >> 4) * 4
        packet = Packet(ns, frame, mine, wrap(seq) if mine else 0, length, 0 if mine else wrap(ack), bool(flags & 2),
                        bool(flags & 4), source if mine else target)
        packet.arrived = arrivals["snd"].get(frame) if mine else ns
        out.append(packet)
    judge(out)
    return out


def judge(all_packets):
    """Which transmissions repeat bytes, and which of these are spurious: earlier ones of all their bytes arrived, at any time."""
    top, sent = 0, []
    for packet in all_packets:
        if not packet.out or packet.length <= 0 or packet.start < 0:
            continue
        if packet.start < top:
            packet.again = True
            earlier = sorted((p.start, p.end) for p in sent if p.arrived and p.start < packet.end and p.end > packet.start)
            reached = packet.start
            for start, end in earlier:
                if start <= reached:
                    reached = max(reached, end)
            packet.spurious = reached >= min(packet.end, top)
        top = max(top, packet.end)
        sent.append(packet)
        if len(sent) > 6000:
            del sent[:2000]


def samples(name):
    """The rows of the kernel's TCP_INFO."""
    with open(f"{name}.info.csv", newline="", encoding="ascii") as rows:
        return [{key: int(value) for key, value in row.items()} for row in csv.DictReader(rows)]


#: Calls that take less of a time than this do not fill it: an application that writes little at a time sleeps between them.
FILLED = 0.5


class Blocked:
    """When the application was in calls that write, for longer than a call takes that has room."""

    def __init__(self, name, least=1_000_000):
        with open(f"{name}.writes.csv", newline="", encoding="ascii") as rows:
            calls = [(int(row["start_ns"]), int(row["end_ns"])) for row in csv.DictReader(rows)]
        self.last = calls[-1][1] if calls else 0
        merged = []
        for start, end in calls:
            if merged and start - merged[-1][1] < least:
                merged[-1] = (merged[-1][0], end, merged[-1][2] + end - start)
            else:
                merged.append((start, end, end - start))
        self.times = [(start, end) for start, end, inside in merged if end - start > least and inside >= FILLED * (end - start)]
        self.starts = [start for start, _ in self.times]

    def at(self, ns):
        k = bisect.bisect_right(self.starts, ns) - 1
        return k >= 0 and ns < self.times[k][1]


def path(name):
    """When the path began, and when each link of the data's way was busy."""
    begin, links = 0, {}
    with open(f"{name}.busy.csv", newline="", encoding="ascii") as rows:
        for row in csv.DictReader(rows):
            if row["way"] == "begin":
                begin = int(row["start_ns"])
            elif row["way"] == "forward":
                links.setdefault(row["link"], []).append((int(row["start_ns"]), int(row["end_ns"])))
    return begin, list(links.values())
