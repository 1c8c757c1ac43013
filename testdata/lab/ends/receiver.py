"""Which arrivals a receiver discards though it lacks their bytes, by the rules of Linux's receiver (RFC 7323 section 5,
RFC 9293 section 3.10.7.4), applied to the receiver's capture; for other receivers see `discards`.

Checked against what the receiver said: an arrival taken for refused whose bytes its next
acknowledgements report all the same is not refused."""
import bisect

from .capture import Unwrap

# Linux tolerates a timestamp older by one tick (TCP_PAWS_WINDOW), others do not (the simulator, for
# one): whether such a segment was taken, the acknowledgements say.
PAWS_WINDOW = 0
# Acknowledgements looked at for a sign that an arrival was taken after all.
ACKS_CHECKED = 2


def signed(x):
    return (x + 2**31) % 2**32 - 2**31


def refusals(flow):
    """{index in flow.received: "paws" or "window"}."""
    out = {}
    for i, why in suspects(flow):
        if not taken_after_all(flow, i):
            out[i] = why
    return out


def suspects(flow):
    """Follows TS.Recent, the left edge and the window through the capture."""
    acks = flow.receiver.acks.get(flow.way, ())
    data, edge = Unwrap(flow.base), Unwrap(flow.base)
    recent, left, right = None, 0, None
    k = 0
    for i, s in enumerate(flow.received):
        while k < len(acks) and (acks[k].time, acks[k].frame) < (s.time, s.frame):
            left = max(left, edge(acks[k].ack))
            right = max(right or 0, edge.near(acks[k].ack) + acks[k].window)
            k += 1
        a = data(s.seq)
        if s.tsval is not None and recent is not None and signed(recent - s.tsval) > PAWS_WINDOW:
            yield i, "paws"
        elif right is not None and a >= right and a >= left:
            yield i, "window"
        elif s.tsval is not None and a <= left and (recent is None or signed(s.tsval - recent) >= 0):
            recent = s.tsval


def taken_after_all(flow, i):
    """Do the acknowledgements that follow arrival i report its bytes, though no copy came between?"""
    s = flow.received[i]
    acks = flow.receiver.acks.get(flow.way, ())
    offset = Unwrap(flow.base)
    a = offset(s.seq)
    b = a + s.length
    first = bisect.bisect_left(acks, (s.time, s.frame), key=lambda x: (x.time, x.frame))
    until = next((x for x in flow.received[i + 1:i + 200] if x.seq == s.seq), None)
    for ack in acks[first:first + ACKS_CHECKED]:
        if until and (ack.time, ack.frame) > (until.time, until.frame):
            break
        if offset.near(ack.ack) >= b or any(offset.near(x) <= a and b <= offset.near(y) for x, y in ack.blocks):
            return True
    return False


def discards(flow, ranges):
    """The same for a receiver without PAWS that keeps at most this number of ranges of bytes above a hole (None: any number). What
    lies beyond the window is not looked for: no sender here sends that."""
    data, left, held = Unwrap(flow.base), 0, []
    for i, s in enumerate(flow.received):
        a = data(s.seq)
        b = a + s.length
        touched = [(x, y) for x, y in held if a <= y and x <= b]
        if a > left and not touched and ranges is not None and len(held) >= ranges:
            yield i, "discarded"
            continue
        held = [r for r in held if r not in touched] + [(min([a] + [x for x, _ in touched]), max([b] + [y for _, y in touched]))]
        while (front := next(((x, y) for x, y in held if x <= left), None)) is not None:
            held.remove(front)
            left = max(left, front[1])
