"""Reads captures (pcap, pcapng, also .gz) into the TCP packets of each direction."""
import collections
import gzip
import ipaddress
import os
import struct

# A data packet, or a part of a super-segment: `seq` is the raw sequence number.
Segment = collections.namedtuple("Segment", "time seq length ipid tsval header frame")
# An acknowledgement: `blocks` are the raw SACK blocks in their order.
Ack = collections.namedtuple("Ack", "time ack blocks tsval tsecr window ipid frame pure")

LINK_HEADER = {1: 14, 101: 0, 113: 16, 276: 20}


def load(path):
    for name in (path, path + ".gz"):
        if os.path.exists(name):
            with (gzip.open if name.endswith(".gz") else open)(name, "rb") as f:
                return f.read()
    raise FileNotFoundError(path)


def frames(data):
    """Yields (time in ns, link type, captured bytes) of a pcap or pcapng file."""
    return frames_pcapng(data) if data[:4] == b"\x0a\x0d\x0d\x0a" else frames_pcap(data)


def frames_pcap(data):
    order, unit = {b"\xd4\xc3\xb2\xa1": ("<", 1000), b"\x4d\x3c\xb2\xa1": ("<", 1),
                   b"\xa1\xb2\xc3\xd4": (">", 1000), b"\xa1\xb2\x3c\x4d": (">", 1)}[data[:4]]
    link = struct.unpack_from(order + "I", data, 20)[0] & 0xFFFF
    head = struct.Struct(order + "IIII")
    at = 24
    while at + 16 <= len(data):
        seconds, fraction, kept, _ = head.unpack_from(data, at)
        at += 16
        yield seconds * 10**9 + fraction * unit, link, data[at:at + kept]
        at += kept


def frames_pcapng(data):
    """Enhanced packet blocks of a single section, written by the simulator or by tcpdump."""
    order = "<" if data[8:12] == b"\x4d\x3c\x2b\x1a" else ">"
    links, units = [], []
    at = 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from(order + "II", data, at)
        body = at + 8
        if kind == 1:
            links.append(struct.unpack_from(order + "H", data, body)[0])
            units.append(resolution(data[body + 8:at + length - 4], order))
        elif kind == 6:
            interface, high, low, kept, _ = struct.unpack_from(order + "IIIII", data, body)
            yield ((high << 32) | low) * units[interface], links[interface], data[body + 20:body + 20 + kept]
        at += length


def resolution(options, order):
    """Nanoseconds a unit of the interface's timestamps (option 9, if_tsresol)."""
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from(order + "HH", options, at)
        if code == 0:
            break
        if code == 9:
            return {3: 10**6, 6: 1000, 9: 1}[options[at + 4]]
        at += 4 + (length + 3) // 4 * 4
    return 1000


def packets(path):
    """Yields the TCP packets of a file as tuples, with their frame numbers from 1."""
    for frame, (time, link, data) in enumerate(frames(load(path)), 1):
        packet = data[LINK_HEADER[link]:]
        if len(packet) < 40:
            continue
        if packet[0] >> 4 == 4:
            if packet[9] != 6:
                continue
            start = (packet[0] & 15) * 4
            total, ipid = struct.unpack_from(">HH", packet, 2)
            source, target = (".".join(map(str, packet[i:i + 4])) for i in (12, 16))
        elif packet[0] >> 4 == 6:
            if packet[6] != 6:
                continue
            start, ipid = 40, None
            total = 40 + struct.unpack_from(">H", packet, 4)[0]
            source, target = (f"[{ipaddress.IPv6Address(packet[i:i + 16])}]" for i in (8, 24))
        else:
            continue
        sport, dport, seq, ack, offset, flags, window = struct.unpack_from(">HHIIBBH", packet, start)
        header = (offset >> 4) * 4
        yield (time, (f"{source}:{sport}", f"{target}:{dport}"), seq, ack, flags, window, header,
               total - start - header, ipid, options(packet[start + 20:start + header]), frame)


def options(raw):
    """(TSval, TSecr, MSS, window scale, SACK blocks) of a header's options."""
    tsval = tsecr = mss = scale = None
    blocks = ()
    at = 0
    while at < len(raw) and raw[at] != 0:
        kind = raw[at]
        if kind == 1:
            at += 1
            continue
        if at + 1 >= len(raw) or raw[at + 1] < 2 or at + raw[at + 1] > len(raw):
            break
        size = raw[at + 1]
        if kind == 8 and size == 10:
            tsval, tsecr = struct.unpack_from(">II", raw, at + 2)
        elif kind == 5:
            edges = struct.unpack_from(f">{(size - 2) // 4}I", raw, at + 2)
            blocks = tuple(zip(edges[::2], edges[1::2]))
        elif kind == 2 and size == 4:
            mss = struct.unpack_from(">H", raw, at + 2)[0]
        elif kind == 3 and size == 3:
            scale = raw[at + 2]
        at += size
    return tsval, tsecr, mss, scale, blocks


def plain(end):
    """The address and port of an end, without what tells connections on the same ports apart."""
    return end.split("#")[0]


class Connections:
    """Connections on the same addresses and ports, distinguished: each begins with a SYN of its own number, which both
    captures show. Ends get the number behind a '#'."""

    def __init__(self):
        self.number = {}

    def way(self, way, seq, flags):
        ends = frozenset(way)
        if flags & 0x12 == 2:
            self.number[ends] = seq
        number = self.number.get(ends)
        return way if number is None else tuple(f"{end}#{number}" for end in way)


class Capture:
    """One capture, sorted by direction (source, target)."""

    def __init__(self, path):
        self.raw = collections.defaultdict(list)     # direction: data packets, unsplit
        self.acks = collections.defaultdict(list)    # direction of the data: its acknowledgements
        self.isn, self.mss, self.scale, self.sack = {}, {}, {}, {}
        self.syns = collections.Counter()            # direction: SYNs and SYN/ACKs seen
        self.syn_frames = {}                         # direction: frame of its first SYN
        self.ends = {}                               # direction: time of its first RST
        self.fins = collections.defaultdict(list)    # direction: its FINs without data
        connections = Connections()
        for time, way, seq, ack, flags, window, header, length, ipid, opts, frame in packets(path):
            tsval, tsecr, mss, scale, blocks = opts
            way = connections.way(way, seq, flags)
            back = way[::-1]
            if flags & 2:
                self.isn.setdefault(way, seq)
                self.syn_frames.setdefault(way, frame)
                self.mss[way], self.scale[way] = mss, scale
                self.syns[way] += 1
                seq += 1
            if flags & 4:
                self.ends.setdefault(way, time)
            elif flags & 16:
                scaled = window << (0 if flags & 2 else self.scale.get(way) or 0)
                self.acks[back].append(Ack(time, ack, blocks, tsval, tsecr, scaled, ipid, frame, length == 0))
            if length > 0:
                self.raw[way].append(Segment(time, seq & 0xFFFFFFFF, length, ipid, tsval, header, frame))
            elif flags & 1:
                self.fins[way].append(Segment(time, seq & 0xFFFFFFFF, 0, ipid, tsval, header, frame))

    def segments(self, way, limit):
        """Data packets of one direction, split at the segment size, in capture order.
        Options take their room from the segment: with SACK blocks on it, it is shorter."""
        out = []
        for s in self.raw.get(way, ()):
            size = limit - (s.header - 20)
            for done in range(0, s.length, size):
                ipid = None if s.ipid is None else (s.ipid + done // size) & 0xFFFF
                out.append(s._replace(seq=(s.seq + done) & 0xFFFFFFFF, length=min(size, s.length - done), ipid=ipid))
        return out


class Unwrap:
    """Raw sequence numbers to byte offsets from the first data byte."""

    def __init__(self, base):
        self.base, self.last = base, 0

    def __call__(self, seq):
        self.last += (seq - self.base - self.last + 2**31) % 2**32 - 2**31
        return self.last

    def near(self, seq):
        """The same, but what comes next does not build on it."""
        return self.last + (seq - self.base - self.last + 2**31) % 2**32 - 2**31
