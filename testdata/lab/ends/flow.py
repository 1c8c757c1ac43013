"""One direction of a connection, joined from the captures of both ends.

`Original` and `Copy` are transmissions: an original carries bytes never sent before, a copy bytes
that were. Offsets count from the first data byte (ISN + 1)."""
import bisect
import collections

from .capture import Unwrap
from .ranges import Ranges
from .receiver import discards, refusals, suspects


class Transmission:
    """a, b: its bytes; sent: index in the list of all transmissions; arrival: index in the list of
    all arrivals or None; refused: None, "paws" or "window"."""
    __slots__ = ("a", "b", "sent", "time", "tsval", "own", "frame", "tap_time", "arrival", "arrival_time",
                 "arrival_frame", "refused", "duplicate")

    def __init__(self, a, b, sent, segment):
        self.a, self.b, self.sent = a, b, sent
        self.time, self.tsval = segment.time, segment.tsval
        self.own = self.frame = segment.frame
        self.tap_time = segment.time
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


def match_by(pairs, sent, received):
    """The same by what the path wrote: {frame of the sender's capture: frames of the receiver's}."""
    where = {s.frame: i for i, s in enumerate(received)}
    found = [sorted(where[f] for f in pairs.get(s.frame, ())) for s in sent]
    return [places[0] if places else None for places in found], sum(max(0, len(places) - 1) for places in found), 0, 0


class Flow:
    """origin: capture where the data comes from; receiver: where it goes; tap: the capture that
    is analysed as the sender's (the origin itself, unless packets can be lost before it);
    after_queue: a capture behind the bottleneck's queue, or None; pairs: for data and for
    acknowledgements, which frames of one capture are which of the other, where the path wrote it;
    paws: the receiver discards by timestamps (RFC 7323 section 5) as Linux does; fates: what the
    path wrote of what the receiver did ({(frame, frame there): refused or reneged}); view: where the tap is a
    capture with defects, or on the path, which of its frames the origin's are ({frame: (frame there, time)});
    whole: which frames of the origin those of the tap are, if acknowledgements are paired by the origin's;
    ranges: a receiver without PAWS keeps this number above a hole."""

    def __init__(self, way, origin, receiver, tap=None, after_queue=None, pairs=None, paws=True, fates=None, view=None,
                 whole=None, ranges=None):
        self.way, self.origin, self.receiver = way, origin, receiver
        self.tap = tap or origin
        self.whole_frames = whole
        self.on_path = view is not None and whole is None
        self.paws, self.ranges, self.ack_pairs, self.fates = paws, ranges, pairs and pairs[1], fates
        # What the path wrote of are packets as they were on the wire: there is nothing to split.
        limit = 2**16 if pairs else self.segment_size()
        sent, received = origin.segments(way, limit), receiver.segments(way, limit)
        self.received = received
        matched = match_by(pairs[0], sent, received) if pairs else match(sent, received)
        arrival, self.network_duplicates, self.unmatched, self.ambiguous = matched
        base = origin.isn.get(way, receiver.isn.get(way))
        self.base = base + 1 if base is not None else sent[0].seq if sent else received[0].seq
        self.originals, self.copies = [], []
        self.split(sent, arrival)
        self.all = sorted(self.originals + self.copies, key=lambda t: t.sent)
        self.fin = self.last_packet(origin.fins.get(way), receiver.fins.get(way), pairs and pairs[0])
        if view is not None:
            for t in self.all:
                t.frame, t.tap_time = view.get(t.own, (None, None))
        elif tap:
            self.look_up(sent, tap.segments(way, limit), self.set_tap)
        self.passed_queue = None
        if after_queue:
            self.passed_queue = set()
            self.look_up(sent, after_queue.segments(way, limit), lambda t, s: self.passed_queue.add(t.sent) if s else None)
        self.acked = self.highest_ack((self.tap if view is None else origin).acks)
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

    def last_packet(self, sent, received, pairs):
        """The FIN, where it is a packet of its own: it takes a sequence number (RFC 9293 section 3.4), the highest, so it can
        overtake data (RFC 4737 section 3) though it carries none. As with data, its first transmission counts."""
        if not sent:
            return None
        arrival = (match_by(pairs, sent, received or []) if pairs else match(sent, received or []))[0][0]
        a = self.originals[-1].b if self.originals else 0
        fin = Transmission(a, a, 0, sent[0])
        if arrival is not None:
            came = received[arrival]
            # Between two arrivals of data.
            fin.arrival = bisect.bisect_left(self.received, came.frame, key=lambda s: s.frame) - 0.5
            fin.arrival_time, fin.arrival_frame = came.time, came.frame
        return fin

    def arrived(self):
        """Originals and the FIN, in the order of their arrival."""
        fin = [self.fin] if self.fin else []
        return sorted((t for t in self.originals + fin if t.arrival is not None), key=lambda t: (t.arrival, t.a))

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

    def highest_ack(self, acks):
        offset, top = Unwrap(self.base), 0
        for ack in acks.get(self.way, ()):
            top = max(top, offset(ack.ack))
        return top

    def own_frame(self, frame):
        """The origin's frame that is this frame of a tap with defects."""
        return self.whole_frames.get(frame) if self.whole_frames is not None else frame

    def judge_arrivals(self):
        """Which arrivals brought nothing new, and which were refused: discarded although the
        receiver lacked some of their bytes. (What is discarded as a duplicate is no refusal.)"""
        if self.fates is not None:
            return self.judge_by_fates()
        refused = refusals(self) if self.paws else dict(discards(self, self.ranges))
        held = Ranges()
        for t in sorted((t for t in self.all if t.arrival is not None), key=lambda t: (t.arrival, t.a)):
            t.duplicate = held.holds(t.a, t.b)
            t.refused = None if t.duplicate else refused.get(t.arrival)
            if not t.refused:
                held.add(t.a, t.b)

    def judge_by_fates(self):
        """The same as the path wrote it. What a receiver held out of order and discarded was refused, too."""
        reasons = dict(suspects(self))
        held, waiting = Ranges(), []
        for t in sorted((t for t in self.all if t.arrival is not None), key=lambda t: (t.arrival, t.a)):
            fate = self.fates.get((t.own, t.arrival_frame))
            t.duplicate = held.holds(t.a, t.b)
            if fate == "refused" and not t.duplicate:
                t.refused = reasons.get(t.arrival, "paws")
                continue
            held.add(t.a, t.b)
            waiting.append(t)
            if fate == "reneged":
                for lost in waiting:
                    if not held.holds(0, lost.b):
                        lost.refused, lost.duplicate = "reneged", False
                held, waiting = held.below_gap(), []

    def late(self):
        """RFC 4737 on the arrivals of originals and of the FIN: {original: (extent, late time in ns)}."""
        order = self.arrived()
        out, highest, times = {}, [], []
        for i, t in enumerate(order):
            if highest and t.a < highest[-1]:
                j = bisect.bisect_right(highest, t.a)
                out[t] = (i - j, t.arrival_time - times[j])
            highest.append(max(t.a, highest[-1]) if highest else t.a)
            times.append(t.arrival_time)
        return out

    def higher_arrival(self, i):
        """Index of the first arrival of an original, or of the FIN, above the i-th one; None if none came."""
        if not hasattr(self, "first_above"):
            lowest, self.first_above = self.fin and self.fin.arrival, [None] * len(self.originals)
            for k in range(len(self.originals) - 1, -1, -1):
                self.first_above[k] = lowest
                at = self.originals[k].arrival
                lowest = at if lowest is None else lowest if at is None else min(at, lowest)
        return self.first_above[i]
