"""Transfers whose limit is known, drawn from their numbers: what the application writes, what both ends can hold, and the path.

A number draws one or two kinds of trouble; each is a function that changes a `Transfer`. Rates, round trips and buffers are drawn
relative to each other, so that the trouble usually is what limits the transfer, and sometimes nearly."""
from dataclasses import dataclass, field as of

import field
from draw import Draw, share, stage, time

#: Linux's and the standards' controls most often, the others that Linux or the simulator have now and then.
CONTROLS = ["cubic"] * 8 + ["reno"] * 3 + ["bbr"] * 4 + ["bic", "highspeed", "westwood", "yeah", "compound", "cubic-rfc9438"]

#: Most payload that a capture holds, bytes, so that thousands can be scored.
MOST_BYTES = 6e6


@dataclass
class Transfer:
    """A scenario in the making. Rates are bit/s, times seconds, sizes bytes."""
    draw: Draw
    rate: float
    rtt: float
    #: Of the bandwidth times delay, with at least some packets.
    queue: float
    seconds: float
    size: float | None = None
    discipline: str = '"drop-tail"'
    direction: str = "forward"
    application: str = ""
    flow: dict = of(default_factory=dict)
    sender: dict = of(default_factory=dict)
    receiver: dict = of(default_factory=dict)
    forward: list = of(default_factory=list)
    reverse: list = of(default_factory=list)

    @property
    def bdp(self):
        """Bandwidth times delay, bytes."""
        return self.rate * self.rtt / 8


def small_window(t):
    t.receiver["receive_buffer"] = f'"{max(3000, t.bdp * t.draw.between(0.08, 0.9)):.0f} B"'


def no_scaling(t):
    """Only where 64 KiB are less than the path holds."""
    t.rtt = max(t.rtt, t.draw.uniform(0.04, 0.3))
    t.rate = max(t.rate, 65_535 * 8 / t.rtt * t.draw.between(1.1, 20))
    t.draw.choice([t.sender, t.receiver])["window_scaling"] = "false"
    t.receiver.setdefault("receive_buffer", '"4 MB"')


def slow_reader(t):
    pace = t.rate * t.draw.between(0.05, 0.8)
    t.flow["read_rate"] = f'"{pace:.0f} bit/s"'
    t.flow["read"] = f'"{t.draw.between(1e3, 64e3):.0f} B"'
    t.receiver["receive_buffer"] = f'"{t.draw.between(8e3, 300e3):.0f} B"'


def send_buffer(t):
    t.sender["send_buffer"] = f'"{max(4000, t.bdp * t.draw.between(0.1, 0.8)):.0f} B"'


def paced(t):
    pace = t.rate * t.draw.between(0.02, 0.8)
    t.application = f'{{ kind = "paced", rate = "{pace:.0f} bit/s", write = "{t.draw.between(200, min(6e4, pace / 16)):.0f} B" }}'


def requests(t):
    """A client asks, one request at a time; what it sends or what it gets is the larger part."""
    large, small = t.draw.between(2e3, 3e5), t.draw.between(50, 2e3)
    ask, answer = (large, small) if t.draw.chance(0.5) else (small, large)
    think = t.draw.between(0.2, 10) * t.rtt + t.draw.between(0.001, 0.3)
    times = t.draw.choice(["constant", "exponential"])
    t.application = (f'{{ kind = "interactive", request = "{ask:.0f} B", response = "{answer:.0f} B", think = {time(think)}, '
                     f'think_times = "{times}" }}')
    t.size = None


def outage(t):
    start = t.seconds * t.draw.uniform(0.1, 0.6)
    length = t.draw.between(0.4, max(0.5, t.seconds * 0.35))
    text = {"kind": '"outage"', "from": time(start), "until": time(start + length)}
    ways = t.draw.choice([["forward"], ["reverse"], ["forward", "reverse"]])
    for way in ways:
        getattr(t, way).append(stage(way, **text))


def rtos(t):
    """Losses in long bursts, or heavy ones, that only a timer repairs."""
    if t.draw.chance(0.5):
        t.forward.append(stage("forward", kind='"loss"', model='"gilbert-elliott"', to_bad=share(t.draw.between(0.3, 3)),
                               to_good=share(t.draw.between(3, 25))))
    else:
        t.forward.append(stage("forward", kind='"loss"', probability=share(t.draw.between(4, 20))))
    t.queue = max(t.queue, 1)


def policer(t):
    rate = t.rate * t.draw.between(0.05, 0.6)
    burst = max(4500, rate / 8 * t.draw.between(0.01, 0.2))
    t.forward.append(stage("forward", kind='"token-bucket"', rate=f'"{rate:.0f} bit/s"', burst=f'"{burst:.0f} B"', queue='"0 packets"'))
    t.queue = max(t.queue, 1)


def random_loss(t):
    t.forward.append(stage("forward", kind='"loss"', probability=share(t.draw.between(0.05, 3))))
    t.queue = max(t.queue, 0.5)


def full_queue(t):
    t.queue = t.draw.between(0.1, 8)
    t.discipline = t.draw.choice(['"drop-tail"'] * 4 + ['"codel"', '"fq-codel"', '"pie"'])


def late(t):
    t.forward.append(stage("forward", kind='"late"', probability=share(t.draw.between(0.1, 8)), delay=time(t.rtt * t.draw.between(0.1, 2))))
    t.queue = max(t.queue, 1)


def jitter(t):
    t.forward.append(stage("forward", kind='"delay"', delay=time(t.rtt / 4), jitter=time(t.rtt * t.draw.between(0.01, 0.1))))
    t.queue = max(t.queue, 1)


def delay_jumps(t):
    """All packets are late for a time, as at a handover: longer than the timer waits, sometimes."""
    start = t.seconds * t.draw.uniform(0.15, 0.6)
    length, delay = t.draw.between(0.1, 1), t.draw.between(0.15, 2)
    way = t.draw.choice(["forward", "forward", "reverse"])
    getattr(t, way).append(stage(way, kind='"late"', probability=share(100), delay=time(delay),
                                 **{"from": time(start), "until": time(start + length)}))


def acks_lost(t):
    t.reverse.append(stage("reverse", kind='"loss"', probability=share(t.draw.between(1, 30))))


def short(t):
    t.size = t.draw.between(500, 10 * max(t.bdp, 15_000))
    t.queue = max(t.queue, 1)


def plain(t):
    """A path without any trouble but its rate."""
    t.queue = max(t.queue, 1)


#: What limits by itself; `late`, `acks_lost` and others may be too little to.
KINDS = [small_window, small_window, no_scaling, slow_reader, send_buffer, send_buffer, paced, paced, requests, outage, rtos, policer,
         random_loss, full_queue, full_queue, late, late, jitter, delay_jumps, short, plain]
#: What two of them cannot both be.
EXCLUDED = [{small_window, no_scaling, slow_reader}, {paced, requests}, {short, requests}, {plain}, {short, outage, delay_jumps}]
SECOND = [kind for kind in KINDS if kind is not plain] + [acks_lost]


def kinds(draw):
    first = draw.choice(KINDS)
    if first is plain or draw.chance(0.65):
        return [first]
    fits = [kind for kind in SECOND if kind is not first and not any({first, kind} <= each for each in EXCLUDED)]
    return [first, draw.choice(fits)]


def endpoints(t):
    """A dialect for six of ten, or Linux with any control; buffers that do not limit unless a kind says so."""
    for keys in (t.sender, t.receiver):
        if t.draw.chance(0.5):
            keys["dialect"] = f'"{t.draw.choice(field.DIALECTS)}"'
    if t.draw.chance(0.7):
        t.sender["congestion"] = f'"{t.draw.choice(CONTROLS)}"'
    for keys in (t.sender, t.receiver):
        field.lacks(t.draw, keys)
    if t.draw.chance(0.2):
        t.receiver.setdefault("receive_autotuning", '"65536 B"')


def link(t):
    """The bottleneck with its queue."""
    packets = max(8, t.queue * t.bdp / 1500)
    return stage("forward", kind='"link"', rate=f'"{t.rate:.0f} bit/s"', queue=f'"{packets:.0f} packets"', queue_discipline=t.discipline)


def in_order(t):
    """The forward stages: what is lost or late is so before or behind the queue."""
    return [*t.forward, link(t)] if t.draw.chance(0.5) else [link(t), *t.forward]


def ways(t):
    """Both directions as `[[forward]]` and `[[reverse]]`."""
    delays = [stage(way, kind='"delay"', delay=time(t.rtt / 2)) for way in ("forward", "reverse")]
    return "\n".join([*in_order(t), delays[0], *t.reverse, delays[1]])


def text_of(t, number):
    draw = t.draw
    keys = dict(t.flow)
    if t.size:
        keys["size"] = f'"{t.size:.0f} B"'
    if t.application:
        keys["application"] = t.application
    text = f'[run]\nduration = "{t.seconds:.2f} s"\nseed = {number}\n\n[output]\nlimits = true\nsnap_length = "100 B"\n\n'
    text += '[[flow]]\nroute = ["near", "far"]\nreturn_route = ["back", "home"]\n'
    text += "".join(f"{key} = {value}\n" for key, value in keys.items())
    for end in ("sender", "receiver"):
        text += "".join(f"{end}.{key} = {value}\n" for key, value in getattr(t, end).items())
    forward = in_order(t)
    before = draw.uniform(0.15, 0.85)
    near, far = field.halves(draw, forward, before * t.rtt / 2, (1 - before) * t.rtt / 2)
    back, home = field.halves(draw, t.reverse, (1 - before) * t.rtt / 2, before * t.rtt / 2)
    hops = field.routers(number)
    for name, source, target, stages, at in (("near", "A", "M", near, 0), ("far", "M", "B", far, 1), ("back", "B", "M", back, 1), ("home", "M", "A", home, 0)):
        text += "\n" + field.line(name, source, target, stages, hops[at])
    text += '\n[[capture]]\nname = "middle"\nat = "between"\n'
    return text, before, any('kind = "link"' in each for each in near)


def shape(draw, chosen):
    """A transfer with these kinds of trouble."""
    t = Transfer(draw, draw.between(4e5, 1e8), draw.between(0.003, 0.25), draw.between(0.3, 4), 0)
    # Some seconds, and at least twenty round trips, of no more than a capture holds; or as long as its size takes.
    t.seconds = min(20, max(0.5, 20 * t.rtt, min(draw.between(1, 20), MOST_BYTES * 8 / t.rate)))
    if draw.chance(0.4):
        t.size = t.rate / 8 * t.seconds * draw.between(0.05, 1)
        t.seconds = t.size * 8 / t.rate + 4 * t.rtt
    endpoints(t)
    for kind in chosen:
        kind(t)
    if t.size:
        t.size = max(200, min(t.size, MOST_BYTES))
        t.seconds = 20
    return t


def scenario(number):
    """A name, the scenario, and what the score needs to know of it."""
    draw = Draw(f"transfer {number}")
    chosen = kinds(draw)
    t = shape(draw, chosen)
    text, before, queue_before = text_of(t, number)
    words = [kind.__name__.replace("_", "-") for kind in chosen]
    known = {"kinds": words, "rate": t.rate, "rtt": t.rtt, "before": before, "queue_before": queue_before,
             "forward_ns": round(t.rtt / 2 * 1e9)}
    return f"transfer-{number}", text, known
