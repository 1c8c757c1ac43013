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


def discards(flow):
    """The same for receivers of which no rule is known: what they did not keep, by their acknowledgements alone. Everything
    below the segment was there, an acknowledgement said so, and yet none covered it before a copy came."""
    acks = flow.receiver.acks.get(flow.way, ())
    data, edge, edges, right = Unwrap(flow.base), Unwrap(flow.base), [], []
    for ack in acks:
        edges.append(max(edge(ack.ack), edges[-1] if edges else 0))
        right.append(max(edge.near(ack.ack) + ack.window, right[-1] if right else 0))
    starts = [data(s.seq) for s in flow.received]
    following, seen = [None] * len(starts), {}
    for i in range(len(starts) - 1, -1, -1):
        following[i] = seen.get(starts[i])
        seen[starts[i]] = i
    place = lambda s: bisect.bisect_left(acks, (s.time, s.frame), key=lambda x: (x.time, x.frame))
    out = {}
    for i, s in enumerate(flow.received):
        first, a = place(s), starts[i]
        last = place(flow.received[following[i]]) if following[i] is not None else len(acks)
        before = edges[first - 1] if first else 0
        # The answer to what came before, which is still under way to the capture, may say as much once.
        silent = sum(a <= x for x in edges[first:last])
        if silent >= (2 if before >= a else 1) and edges[last - 1] < a + s.length:
            out[i] = "window" if first and a >= right[first - 1] else "discarded"
    return out
