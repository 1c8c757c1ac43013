"""What a capture with defects holds, told by the whole captures and by the list of its frames (NAME.CAPTURE.frames.csv), without
reading its bytes: they may be cut, in tunnels, or those of another connection."""
import bisect
import collections
import csv


class Frames:
    """The frames of a capture with defects: which frame of the whole captures each one is, and when it was captured."""

    def __init__(self, path=None):
        self.rows = []                                  # (frame, end that sent it, its frame there or here, time)
        self.of = collections.defaultdict(dict)         # end that sent it: {whole frame: first frame here, and its time}
        if path:
            with open(path) as file:
                for row in csv.DictReader(file):
                    self.add(int(row["frame"]), row["from"], int(row["original"]), int(row["at_ns"]))

    def add(self, frame, sender, original, time):
        self.rows.append((frame, sender, original, time))
        self.of[sender].setdefault(original, (frame, time))

    def through(self, passed):
        """The same, where the frames are numbered by those that `passed` a place of the path: by their numbers at the ends."""
        whole, out = {frame: original for frame, _, original, _ in passed.rows}, Frames()
        for frame, sender, original, time in self.rows:
            out.add(frame, sender, whole[original], time)
        return out


class View:
    """Has the parts of a Capture of which the truth of a sender's side is made. `kept`: bytes kept of each frame, or None."""

    def __init__(self, whole, frames, kept=None, sender=None):
        """sender: where the frames of each end are numbered by themselves, that end."""
        self.whole, self.frames, self.sender = whole, frames, sender
        self.acks = {way: self.seen(acks, lambda x: cut(x, kept)) for way, acks in whole.acks.items()}
        self.raw = {way: self.seen(data, lambda x: x) for way, data in whole.raw.items()}

    def seen(self, packets, change):
        """Those of the packets that the capture holds, in its order, each as often as it does."""
        places = {p.frame: p for p in packets}
        both = [(frame, time, places[original]) for frame, end, original, time in self.frames.rows
                if original in places and self.sender in (None, end)]
        return [change(p)._replace(frame=frame, time=time) for frame, time, p in both]


def cut(ack, kept):
    """An acknowledgement of which only the first bytes of the frame were kept: blocks that are cut off tell nothing."""
    if kept is None:
        return ack
    begin = 14 + 20 + 20 + (12 if ack.tsval is not None else 0) + 4
    whole = max(0, kept - begin) // 8
    stamped = kept >= 14 + 20 + 20 + 12
    return ack._replace(blocks=ack.blocks[:whole], tsecr=ack.tsecr if stamped else None)


def hidden_from_receiver(flow, place):
    """What a capture at the receiver (or on the path) cannot tell of each original, as it lacks frames: {original: rule}.
    place: for frames of the whole capture where they arrive, their first frame here."""
    here = lambda t: place.get(t.arrival_frame, (None, None))[0]
    out, order = {}, []
    for t in flow.originals:
        if t.arrival is not None:
            if here(t) is None:
                out[t] = "not-captured"
            else:
                order.append((here(t), t.arrival, t.a, t))
    if flow.fin and here(flow.fin) is not None:
        order.append((here(flow.fin), flow.fin.arrival, flow.fin.a, flow.fin))
    order.sort(key=lambda x: x[:3])
    highest, late = -1, set()
    for _, _, a, t in order:
        if a < highest:
            late.add(t)
        highest = max(highest, a)
    for _, _, _, t in order:
        if t not in late:
            out[t] = "in-order-here"
    for t in flow.originals:
        if t.arrival is None and not replaced(t, flow, here, order):
            out[t] = "not-captured"
    return out


def replaced(t, flow, here, order):
    """Was something above a lost original captured, and then a copy of it?"""
    copies = [here(c) for c in flow.copies if c.a < t.b and c.b > t.a and c.arrival is not None]
    copies = [frame for frame in copies if frame is not None]
    if not copies:
        return False
    before = order[:bisect.bisect_left(order, (max(copies),))]
    return any(other.a > t.a for *_, other in before[-2000:])
