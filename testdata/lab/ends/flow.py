"""One direction of a connection, joined from the captures of both ends.

`Original` and `Copy` are transmissions: an original carries bytes never sent before, a copy bytes
that were. Offsets count from the first data byte (ISN + 1)."""
import bisect
import collections

from .capture import Unwrap
from .ranges import Ranges
from .receiver import refusals


class Transmission:
    """a, b: its bytes; sent: index in the list of all transmissions; arrival: index in the list of
    all arrivals or None; refused: None, "paws" or "window"."""
    __slots__ = ("a", "b", "sent", "time", "tsval", "frame", "tap_time", "arrival", "arrival_time",
                 "arrival_frame", "refused", "duplicate")

    def __init__(self, a, b, sent, segment):
        self.a, self.b, self.sent = a, b, sent
        self.time, self.tsval = segment.time, segment.tsval
        self.frame, self.tap_time = segment.frame, segment.time
        self.arrival = self.arrival_time = self.arrival_frame = self.refused = None
        self.duplicate = False    # its bytes had all been there when it came


def match(sent, received):
    """For each sent segment its index in received or None; the number of surplus copies, of
    segments that came from nowhere, and of uncertain pairs."""
    key = lambda s: (s.seq, s.length, s.ipid, s.tsval)
    where = collections.defaultdict(collections.deque)
    arrivals = collections.defaultdict(list)
    for i, s in enumerate(received):
        arrivals[key(s)].append(i)
    for i, s in enumerate(sent):
        where[key(s)].append(i)
    arrival = [None] * len(sent)
    copies, nowhere, uncertain = 0, 0, 0
    for k, indices in arrivals.items():
        senders = where.get(k)
        if not senders:
            nowhere += len(indices)
            continue
        if len(senders) > 1 and len(indices) < len(senders):
            uncertain += 1
        for i in indices:
            # identical transmissions: first in, first out, and none before it was sent
            if senders and sent[senders[0]].time <= received[i].time:
                arrival[senders.popleft()] = i
            else:
                copies += 1
    return arrival, copies, nowhere, uncertain


class Flow:
    """origin: capture where the data comes from; receiver: where it goes; tap: the capture that
    is analysed as the sender's (the origin itself, unless packets can be lost before it);
    after_queue: a capture behind the bottleneck's queue, or None."""

    def __init__(self, way, origin, receiver, tap=None, after_queue=None):
        self.way, self.origin, self.receiver = way, origin, receiver
        self.tap = tap or origin
        limit = self.segment_size()
        sent, received = origin.segments(way, limit), receiver.segments(way, limit)
        self.received = received
        arrival, self.network_duplicates, self.unmatched, self.ambiguous = match(sent, received)
        base = origin.isn.get(way, receiver.isn.get(way))
        self.base = base + 1 if base is not None else sent[0].seq if sent else received[0].seq
        self.originals, self.copies = [], []
        self.split(sent, arrival)
        self.all = sorted(self.originals + self.copies, key=lambda t: t.sent)
        if tap:
            self.look_up(sent, tap.segments(way, limit), self.set_tap)
        self.passed_queue = None
        if after_queue:
            self.passed_queue = set()
            self.look_up(sent, after_queue.segments(way, limit), lambda t, s: self.passed_queue.add(t.sent) if s else None)
        self.acked = self.highest_ack()
        self.judge_arrivals()

    def segment_size(self):
        """The MSS; without a handshake what the largest ordinary packet had room for."""
        back = self.way[::-1]
        offers = [c.mss[w] for c in (self.origin, self.receiver) for w in (self.way, back) if c.mss.get(w)]
        plain = [s.length + s.header - 20 for s in self.receiver.raw.get(self.way, ()) if s.length <= 1460]
        return min(offers) if offers else max(plain or [1460])

    def split(self, sent, arrival):
        """Originals and copies. A segment that repeats old bytes and brings new ones is both."""
        offset, top = Unwrap(self.base), 0
        for i, s in enumerate(sent):
            a = offset(s.seq)
            b = a + s.length
            parts = [(a, min(b, top), self.copies)] if a < top else []
            parts += [(max(a, top), b, self.originals)] if b > top else []
            top = max(b, top)
            for start, end, kind in parts:
                t = Transmission(start, end, i, s)
                if arrival[i] is not None:
                    r = self.received[arrival[i]]
                    t.arrival, t.arrival_time, t.arrival_frame = arrival[i], r.time, r.frame
                kind.append(t)

    def look_up(self, sent, seen, tell):
        """Tells for each transmission which segment of another capture it is (None: not captured)."""
        found, _, _, _ = match(sent, seen)
        for t in self.all:
            i = found[t.sent]
            tell(t, None if i is None else seen[i])

    @staticmethod
    def set_tap(t, segment):
        t.frame = segment.frame if segment else None
        t.tap_time = segment.time if segment else None

    def highest_ack(self):
        offset, top = Unwrap(self.base), 0
        for ack in self.tap.acks.get(self.way, ()):
            top = max(top, offset(ack.ack))
        return top

    def judge_arrivals(self):
        """Which arrivals brought nothing new, and which were refused: discarded although the
        receiver lacked some of their bytes. (What is discarded as a duplicate is no refusal.)"""
        refused = refusals(self)
        held = Ranges()
        for t in sorted((t for t in self.all if t.arrival is not None), key=lambda t: (t.arrival, t.a)):
            t.duplicate = held.holds(t.a, t.b)
            t.refused = None if t.duplicate else refused.get(t.arrival)
            if not t.refused:
                held.add(t.a, t.b)

    def late(self):
        """RFC 4737 on the arrivals of originals: {original: (extent, late time in ns)}."""
        order = sorted((t for t in self.originals if t.arrival is not None), key=lambda t: (t.arrival, t.a))
        out, highest, times = {}, [], []
        for i, t in enumerate(order):
            if highest and t.a < highest[-1]:
                j = bisect.bisect_right(highest, t.a)
                out[t] = (i - j, t.arrival_time - times[j])
            highest.append(max(t.a, highest[-1]) if highest else t.a)
            times.append(t.arrival_time)
        return out

    def higher_arrival(self, i):
        """Index of the first arrival of an original above the i-th one; None if none came."""
        if not hasattr(self, "first_above"):
            lowest, self.first_above = None, [None] * len(self.originals)
            for k in range(len(self.originals) - 1, -1, -1):
                self.first_above[k] = lowest
                at = self.originals[k].arrival
                lowest = at if lowest is None else lowest if at is None else min(at, lowest)
        return self.first_above[i]
