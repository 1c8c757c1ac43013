"""What an observer at the sender can know: the stated rule of what is counted apart.

A fact is *unseen* if the acknowledgements that reached the sender's capture would have been the
same without it, as far as their contents and the round-trip time tell. The rules, one a name:

  end         nothing that acknowledges the segment was captured before the end
  no-hole     late, but no acknowledgement that reached the sender showed a hole there: one
              acknowledgement reported both the late segment and all that had overtaken it
              (without SACK: no duplicate acknowledgement pointed there)
  which       lost, and acknowledgements without new information answered others that were sent with it, any of which may have been
              its own: none that the receiver sent from when it was due until a copy filled its place has its left edge there, or
              a block above (without SACK, or where few blocks are listed, and several are missing)
  no-dsack    it came after a copy had filled its place (or was refused) and no DSACK names it; and
              the receiver's answer did not reach the sender, or brought other information, or several
              repeated originals may have caused it
  as-its-copy it came before its copy, but was reported no sooner than the copy could have been,
              without DSACK of the copy or an echoed timestamp that names the original
  before-tap  it passed no capture point of the sender (a retransmission: its original did not)
"""
import bisect
import collections

from .capture import Unwrap


class Sight:
    def __init__(self, flow):
        self.flow = flow
        self.answers = Answers(flow)
        self.acks = self.answers.in_order()
        self.edges = self.cumulative_by_frame()
        self.originals = flow.originals        # ascending by offset
        self.learnt = [None] * len(self.originals)
        self.highest = []                      # after each ACK: highest original known to have arrived
        self.dsacks = collections.Counter()    # DSACKed bytes by original: number of times
        self.duplicate_acks = collections.Counter()
        self.sack = any(ack.blocks for ack in self.acks)
        self.index = {t: i for i, t in enumerate(self.originals)}
        self.starts = [t.a for t in self.originals]
        self.skip = list(range(len(self.originals) + 1))
        self.learn()
        self.copies_of = collections.defaultdict(list)
        for c in flow.copies:
            for i in self.covered(c.a, c.b, whole=False):
                self.copies_of[i].append(c)
        self.base_rtt = self.smallest_round_trip()
        # Originals that copies were sent of and that did not come before those.
        self.late_after_copy = [t for i, t in enumerate(self.originals)
                                if i in self.copies_of and (t.arrival is None or t.duplicate or t.refused)]
        ways = [t.arrival_time - t.time for t in self.originals if t.arrival is not None]
        self.shortest_way, self.longest_way = min(ways, default=0), max(ways, default=0)

    def next_unknown(self, i):
        while self.skip[i] != i:
            self.skip[i] = self.skip[self.skip[i]]
            i = self.skip[i]
        return i

    def covered(self, a, b, whole=True):
        """Originals that lie in [a, b) (or, if not whole, touch it)."""
        i = bisect.bisect_left(self.starts, a) if whole else max(0, bisect.bisect_right(self.starts, a) - 1)
        while i < len(self.originals) and self.originals[i].a < b:
            t = self.originals[i]
            if (t.b <= b and t.a >= a) if whole else t.b > a:
                yield i
            i += 1

    def know(self, a, b, k):
        """ACK k says that [a, b) has arrived. Returns the highest original that is new."""
        i = self.next_unknown(bisect.bisect_left(self.starts, a))
        last = -1
        while i < len(self.originals) and self.originals[i].b <= b:
            self.learnt[i], last = k, i
            self.skip[i] = i + 1
            i = self.next_unknown(i + 1)
        return last

    def learn(self):
        offset, top, cumulative, fin = Unwrap(self.flow.base), -1, 0, self.flow.fin
        for k, ack in enumerate(self.acks):
            edge = offset(ack.ack)
            blocks = [(offset.near(x), offset.near(y)) for x, y in ack.blocks]
            if blocks and is_dsack(blocks, max(edge, cumulative)):
                for i in self.covered(*blocks[0], whole=False):
                    self.dsacks[i] += 1
                blocks = blocks[1:]
            if edge == cumulative and ack.pure:
                self.duplicate_acks[edge] += 1
            if edge > cumulative:
                top = max(top, self.know(cumulative, edge, k))
                cumulative = edge
            for x, y in blocks:
                top = max(top, self.know(x, y, k))
            if fin and max([edge] + [y for _, y in blocks]) > fin.a:
                top = len(self.originals)     # the FIN, above all data
            self.highest.append(top)

    def smallest_round_trip(self):
        """From an original's sending to the ACK that reports it, where no copy confuses it."""
        trips = [self.acks[k].time - t.tap_time for i, t in enumerate(self.originals)
                 if (k := self.learnt[i]) is not None and t.tap_time is not None and not self.copies_of.get(i)]
        return min(trips, default=0)

    def cumulative_by_frame(self):
        """(frame, highest cumulative acknowledgement so far) of the sender's capture: what passes a capture point on the path
        has yet to reach the sender."""
        offset, top, out = Unwrap(self.flow.base), 0, []
        heard = self.flow.origin if self.flow.on_path else self.flow.tap
        for ack in heard.acks.get(self.flow.way, ()):
            top = max(top, offset(ack.ack))
            out.append((ack.frame, top))
        return out

    def acknowledged_before(self, t):
        """What the sender had heard of when it sent `t`: many packets share an instant."""
        i = bisect.bisect_left(self.edges, t.own if self.flow.on_path else t.frame, key=lambda x: x[0])
        return self.edges[i - 1][1] if i else 0

    def hole_shown(self, i):
        k = self.learnt[i]
        if not self.sack:
            return self.duplicate_acks[self.originals[i].a] > 0
        return k is not None and k > 0 and self.highest[k - 1] > i

    def tells_copies_apart(self, i):
        """Was original i reported in a way that its copies could not have caused?"""
        t, k = self.originals[i], self.learnt[i]
        sent = [c.tap_time for c in self.copies_of.get(i, ()) if c.tap_time is not None]
        report = self.acks[k]
        if not sent or report.time < min(sent) + self.base_rtt or self.dsacks[i]:
            return True
        copied = {c.tsval for c in self.copies_of[i]}
        return t.tsval is not None and report.tsecr == t.tsval and t.tsval not in copied

    def of_late(self, t):
        """Why an original that arrived late (or was refused) cannot be seen; None if it can."""
        i = self.index[t]
        if t.frame is None:
            return "before-tap"
        if self.learnt[i] is None:
            return "end"
        if t.duplicate or t.refused:
            return None if self.dsacks[i] or self.only_candidate(i) else "no-dsack"
        if not self.hole_shown(i):
            return "no-hole"
        return None if self.tells_copies_apart(i) else "as-its-copy"

    def only_candidate(self, i):
        """Did the answer to original i, an ACK without new information, reach the sender, and was no other
        original missing whose copy had been sent?"""
        t = self.originals[i]
        answer = self.answers.to(t.arrival_time, t.arrival_frame)
        if answer is None or answer.captured is None or not answer.bare:
            return False
        since = t.arrival_time - 2 * self.longest_way
        rivals = (x for x in self.late_after_copy if since < x.time <= t.arrival_time and x is not t)
        return not any(x.arrival_time is None or x.arrival_time > t.arrival_time for x in rivals)

    def of_lost(self, t):
        i = self.index[t]
        if t.frame is None:
            return "before-tap"
        if self.learnt[i] is None:
            return "end"
        filled = min((c.arrival for c in self.copies_of[i] if c.arrival is not None and not c.refused), default=None)
        return "which" if filled is not None and self.may_be_another(t, self.flow.received[filled]) else None

    def may_be_another(self, t, filled):
        """Did acknowledgements without new information reach the sender that the receiver sent between when t was due and when `filled` came,
        and none that says that it lacks t?"""
        said = self.answers.said
        first = bisect.bisect_left(said.sent, (t.time + self.shortest_way, 0))
        last = bisect.bisect_left(said.sent, (filled.time, filled.frame))
        if first >= last or said.bare[last] == said.bare[first]:
            return False
        below = bisect.bisect_left(said.edges, t.a, first, last)
        edge_there = below < last and said.edges[below] == t.a
        return not edge_there and max(said.tops[first:below], default=0) <= t.b

    def looks_repeated(self, copy):
        """Did the sender's capture see any of its bytes before? If not, it looks like an original."""
        times = [t.tap_time for i in self.covered(copy.a, copy.b, whole=False)
                 for t in [self.originals[i]] + self.copies_of[i] if t is not copy]
        return any(time is not None and time <= copy.tap_time for time in times)

    def of_spurious(self, copy):
        """Why it cannot be seen that a copy was spurious; None if it can."""
        if copy.frame is None:
            return "before-tap"
        for i in self.covered(copy.a, copy.b, whole=False):
            if self.learnt[i] is None:
                return "end"
            t = self.originals[i]
            if t.duplicate or t.refused or t.arrival is None:
                if not self.dsacks[i] and not (t.arrival is not None and self.only_candidate(i)):
                    return "no-dsack"
            elif not self.tells_copies_apart(i):
                return "as-its-copy"
        return None


def is_dsack(blocks, edge):
    """RFC 2883 section 4: the first block lies below the acknowledgement, or in the second block."""
    a, b = blocks[0]
    return b <= edge or len(blocks) > 1 and blocks[1][0] <= a and b <= blocks[1][1]


class Answer:
    """An acknowledgement as the receiver sent it; captured: when at the sender, or None; bare: it
    says nothing that the one before did not."""
    __slots__ = ("time", "frame", "edge", "captured", "overtaken", "bare")


class Answers:
    """The ACKs of the receiver's capture, each with its counterpart at the sender."""

    def __init__(self, flow):
        contents = lambda x: (x.ack, x.ipid, x.tsval, x.tsecr, x.blocks, x.window)
        keys = lambda x, frames: [contents(x)] if frames is None else frames
        waiting = collections.defaultdict(collections.deque)
        self.list, offset, top, said = [], Unwrap(flow.base), 0, None
        for ack in flow.receiver.acks.get(flow.way, ()):
            answer = Answer()
            top = max(top, offset(ack.ack))
            answer.time, answer.frame, answer.edge = ack.time, ack.frame, top
            answer.captured, answer.overtaken = None, False
            answer.bare = ack.pure and (ack.ack, ack.blocks) == said
            said = ack.ack, ack.blocks
            self.list.append(answer)
            for key in keys(ack, flow.ack_pairs and flow.ack_pairs.get(ack.frame, ())):
                waiting[key].append(len(self.list) - 1)
        self.tap, last, highest = [], -1, -1
        for ack in flow.tap.acks.get(flow.way, ()):
            places = waiting.get(flow.own_frame(ack.frame) if flow.ack_pairs is not None else contents(ack))
            if places:
                last = places.popleft()
                self.list[last].captured = ack.time
                self.list[last].overtaken = last < highest
                highest = max(highest, last)
            self.tap.append((last, ack))
        self.said = Said(((self.list[i], ack) for i, ack in self.tap if i >= 0), offset)

    def in_order(self):
        """The ACKs captured at the sender, in the order in which the receiver sent them."""
        return [ack for _, ack in sorted(self.tap, key=lambda x: x[0])]

    def to(self, time, frame):
        """The first one sent after frame `frame` of the receiver's capture came at `time`."""
        i = bisect.bisect_left(self.list, (time, frame), key=lambda x: (x.time, x.frame))
        return self.list[i] if i < len(self.list) else None

    def first(self, edge, since):
        """The first one from `since` on that acknowledges everything below `edge`."""
        i = max(bisect.bisect_left(self.list, edge, key=lambda x: x.edge),
                bisect.bisect_left(self.list, since, key=lambda x: x.time))
        return self.list[i] if i < len(self.list) else None


class Said:
    """The acknowledgements captured at the sender, in the order in which the receiver sent them: when that was, left edges, where the highest
    block ends as far as it was captured, and how many before each say what the one before them says."""

    def __init__(self, captured, offset):
        self.sent, self.edges, self.tops, self.bare, before = [], [], [], [0], None
        for answer, ack in sorted(captured, key=lambda x: (x[0].time, x[0].frame)):
            self.sent.append((answer.time, answer.frame))
            self.edges.append(answer.edge)
            self.tops.append(max((offset.near(right) for _, right in ack.blocks), default=0))
            self.bare.append(self.bare[-1] + (ack.pure and (answer.edge, ack.blocks) == before))
            before = answer.edge, ack.blocks
