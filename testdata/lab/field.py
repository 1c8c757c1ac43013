"""Scenarios of the field, drawn from their numbers: endpoints of all kinds on paths of all kinds.

Six of ten endpoints are a dialect (crates/tcp/src/dialects.rs); the others have habits at random, each by itself. The sender and
the receiver of a connection are drawn apart, and a scenario has one or two kinds of connections."""
from draw import IMPAIRMENTS, Draw, share, spray, stage, time

#: Those that are met most come most often.
DIALECTS = ["linux"] * 4 + ["linux-rack", "windows-like", "windows-like", "macos-like", "macos-like", "freebsd-like", "balancer-like",
                            "old-windows-like", "openbsd-like", "old-bsd-like", "slirp-like", "lwip-like", "gvisor-like", "smoltcp-like"]

#: Habits of senders and of receivers: each is drawn for four of ten endpoints without a dialect.
SENDERS = {
    "identification": ['"own"', '"host"', '"host-swapped"', '"zero"', '"random"', '"kept"'],
    "timestamp_tick": ['"1 us"', '"1 ms"', '"4 ms"', '"10 ms"', '"100 ms"', '"500 ms"'],
    "random_timestamps": ["true", "false"],
    "loss_probe": ['"off"', '"linux"', '"rfc8985"'],
    "probe_part": ['"last-segment"', '"last-bytes"'],
    "probe_after": ['"10 ms"'],
    "repeats": ['"as-cut"', '"joined"', '"cut"'],
    "after_timeout": ['"missing"', '"outstanding"'],
    "at_duplicates": ['"lost"', '"window"'],
    "loss_detection": ['"linux"', '"rack"', '"static"'],
    "rto_min": ['"30 ms"', '"200 ms"', '"300 ms"', '"500 ms"', '"1 s"'],
    "limited_transmit": ['"off"', '"rfc3042"', '"linux"'],
    "undo_eifel": ["true", "false"],
}
RECEIVERS = {
    "dsack": ["true", "false"],
    "ack_of_fill": ['"at-once"', '"delayed"'],
    "answer_duplicates": ['"at-once"'] * 4 + ['"seldom"'],
    "paws": ["true", "false"],
    "paws_answer": ['"dsack"', '"ack"'],
    "sack_order": ['"newest"', '"ascending"', '"random"'],
    "sack_blocks": ["1", "2", "3", "4"],
    "echo": ['"rfc7323"', '"newest"', '"last"'],
    "reneging": ['"0 %"'] * 9 + ['"0.02 %"'],
    "window_account": ['"unread"', '"memory"', '"room"'],
    "beyond_window": ['"cut"', '"take"', '"take-if-empty"'],
    "sack_compression": ["true", "false"],
}


def lacks(draw, keys):
    """Options of TCP that an endpoint does not offer."""
    for key, often in (("timestamps", 0.1), ("sack", 0.07)):
        if draw.chance(often):
            keys[key] = "false"


def acks(draw, keys):
    """How often data in order is acknowledged."""
    rule = draw.choice(["linux", "off", "second", "eighth", "time", "batch"])
    if rule == "batch":
        keys["ack_batch"] = time(draw.between(5e-5, 5e-3))
    elif rule in ("linux", "off"):
        keys["delayed_ack"] = f'"{rule}"'
    else:
        keys["delayed_ack"] = '"rfc"'
        keys["delayed_ack_segments"] = {"second": "2", "eighth": "8", "time": "1000"}[rule]
        keys["delayed_ack_timeout"] = time(draw.between(5e-4, 0.5 if rule != "time" else 0.02))


def habits(draw, keys, kinds):
    """Each habit at random, on top of Linux or of the standards."""
    keys["dialect"] = draw.choice(['"linux"', '"standards"'])
    for key, values in kinds.items():
        if draw.chance(0.4):
            keys[key] = draw.choice(values)
    if keys.get("repeats") == '"cut"':
        keys["repeats_size"] = f'"{draw.between(300, 1400):.0f} B"'


def sender(draw):
    keys = {}
    if draw.chance(0.6):
        keys["dialect"] = f'"{draw.choice(DIALECTS)}"'
    else:
        habits(draw, keys, SENDERS)
        keys["congestion"] = draw.choice(['"cubic"', '"cubic"', '"reno"', '"bbr"'])
    lacks(draw, keys)
    if draw.chance(0.1):
        keys["mss"] = draw.choice(['"536 B"', '"1200 B"', '"1400 B"', '"8960 B"'])
    if draw.chance(0.1):
        keys["tso_segments"] = draw.choice(["0", "45"])
    return keys


def receiver(draw):
    keys = {}
    if draw.chance(0.6):
        keys["dialect"] = f'"{draw.choice(DIALECTS)}"'
    else:
        habits(draw, keys, RECEIVERS)
        if draw.chance(0.7):
            acks(draw, keys)
        # What echoes another timestamp than RFC 7323 asks for would refuse all that is late.
        if keys.get("echo", '"rfc7323"') != '"rfc7323"':
            keys["paws"] = "false"
        keys["identification"] = draw.choice(SENDERS["identification"])
    lacks(draw, keys)
    if draw.chance(0.15):
        keys["receive_buffer"] = f'"{draw.between(1.5e4, 3e5):.0f} B"'
    return keys


def application(draw, rate, flows, rtt):
    """When data is written: most connections are bulk, some write pieces of any size."""
    kind = draw.choice(["bulk"] * 6 + ["paced"] * 2 + ["small", "interactive"])
    if kind == "paced":
        return (f'application = {{ kind = "paced", rate = "{rate * draw.uniform(0.05, 0.8) / flows:.0f} bit/s", '
                f'write = "{draw.between(1e3, 6e4):.0f} B" }}\n', kind)
    if kind == "small":
        writes = draw.between(100, 2000)
        most = min(rate / flows, writes * 8 * 2000)
        return (f'application = {{ kind = "paced", rate = "{most * draw.uniform(0.1, 0.8):.0f} bit/s", write = "{writes:.0f} B" }}\n'
                'sender.nagle = "off"\n', kind)
    if kind == "interactive":
        return (f'application = {{ kind = "interactive", request = "{draw.between(2e3, 3e5):.0f} B", '
                f'response = "{draw.between(100, 5e3):.0f} B", think = {time(rtt * draw.between(0.1, 10))} }}\n', kind)
    return "", kind


def flow(draw, rate, flows, rtt, start):
    """A kind of connections, and words for it."""
    ends = {"sender": sender(draw), "receiver": receiver(draw)}
    text = f"[[flow]]\ncount = {flows}\nstart = {time(start)}\n"
    if flows > 1:
        text += f"stagger = {time(rtt * draw.between(0.1, 5))}\n"
    if draw.chance(0.25):
        text += f'size = "{draw.between(2e4, 2e6):.0f} B"\n'
    pieces, kind = application(draw, rate, flows, rtt)
    text += pieces
    for end, keys in ends.items():
        text += "".join(f"{end}.{key} = {value}\n" for key, value in keys.items())
    return text, kind


def begin(draw, seconds):
    return {"begin": time(seconds * draw.uniform(0.03, 0.6))}


def end(draw, seconds):
    return {"end": time(seconds * draw.uniform(0.5, 0.95))}


def one_direction(draw, seconds):
    return {"direction": draw.choice(['"forward"', '"reverse"'])}


def missing(draw, seconds):
    return {"missing": share(draw.between(0.01, 10))}


def missing_runs(draw, seconds):
    return {"missing": share(draw.between(0.05, 10)), "missing_run": f'"{draw.between(2, 60):.0f} packets"'}


def missing_large(draw, seconds):
    return {"missing": share(draw.between(1, 50)), "missing_above": '"1000 B"'}


def copies(draw, seconds):
    return {"copies": draw.choice(["2", "2", "3"]), "copies_delay": f'"{draw.between(1, 400):.0f} us"',
            "copies_as": draw.choice(['"mirror"', '"routed"', '"tagged"'])}


def swap(draw, seconds):
    return {"swap": time(draw.between(2e-5, 5e-3))}


def cut(draw, seconds):
    return {"cut": f'"{draw.choice([54, 60, 68, 74, 82, 90, 96, 106, 128])} B"'}


def clock_step(draw, seconds):
    return {"step": time(draw.between(1e-3, 2)), "step_at": time(seconds * draw.uniform(0.1, 0.8)), "step_back": draw.choice(["true", "false"])}


def merged(draw, seconds):
    return {"merge": f'"{draw.between(2, 44):.0f} packets"', "merge_gap": f'"{draw.between(5, 200):.0f} us"'}


def one_connection(draw, seconds):
    return {"only": "0"}


def tunnel(draw, seconds):
    keys = {"tunnel": draw.choice(['"vxlan"', '"gtp-u"', '"gre"'])}
    if draw.chance(0.5):
        keys["tunnel_part"] = share(draw.between(1, 90))
    return keys


#: Defects of captures. VLANs with equal ports are not among them: truth and inference name flows by addresses alone.
DEFECTS = [begin, begin, end, one_direction, missing, missing_runs, missing_large, copies, copies, swap, cut, cut, clock_step, merged,
           one_connection, tunnel]


def captures(draw, seconds):
    """A capture with one or two defects at each end, and one on the path, which may have none."""
    text = ""
    for name, at, counts in (("at-sender", "A", [1, 1, 2]), ("at-receiver", "B", [1, 1, 2]), ("on-the-path", "between", [0, 1])):
        keys = {}
        for defect in draw.sample(DEFECTS, draw.choice(counts)):
            keys |= defect(draw, seconds)
        if "begin" in keys:
            # It would end before it begins.
            keys.pop("end", None)
        text += f'\n[[capture]]\nname = "{name}"\nat = "{at}"\n' + "".join(f"{key} = {value}\n" for key, value in keys.items())
    return text


def routers(number):
    """How many routers are before and behind the place of the capture: in a fifth of all scenarios the path is without them, as in a
    switched network or a cloud. Drawn apart, so that what else a number decides stays as it was."""
    draw = Draw(f"routers {number}")
    sides = [draw.choice([1, 1, 2, 5, 9, 14]) for _ in range(2)]
    return [0, 0] if draw.chance(0.2) else sides


def line(name, source, target, stages, passed=0):
    """A line of the network with its stages and the number of its routers."""
    text = f'[[line]]\nname = "{name}"\nfrom = "{source}"\nto = "{target}"\n' + (f"routers = {passed}\n" if passed else "") + "\n"
    return text + "\n".join("[[line.stage]]" + stage.partition("]]")[2] for stage in stages) + "\n"


def halves(draw, stages, before, behind):
    """The stages before and behind the place where a capture stands on the path, with the delays that they add."""
    at = draw.randint(0, len(stages))
    delays = [stage("line", kind='"delay"', delay=time(delay)) for delay in (before, behind)]
    return delays[:1] + stages[:at], delays[1:] + stages[at:]


def scenario(number):
    """A name, the scenario, and in words what is in it."""
    draw = Draw(f"field {number}")
    rate, rtt = draw.between(2e6, 300e6), draw.between(0.0003, 0.2)
    kinds = draw.sample(IMPAIRMENTS, draw.choice([0, 1, 1, 2, 2, 3]))
    queue = draw.between(0.2, 3)
    words = ["path: " + kind.__name__.replace("_", " ") for kind in kinds] or ["path: a queue alone"]
    stages = [kind(draw, rtt, rate) for kind in kinds]
    forward = [text for text in stages if text.startswith("[[forward]]")]
    if spray not in kinds:
        packets = max(20, queue * rate * rtt / 8 / 1500)
        forward.append(stage("forward", kind='"link"', rate=f'"{rate:.0f} bit/s"', queue=f'"{packets:.0f} packets"'))
    draw.shuffle(forward)
    reverse = [text for text in stages if text.startswith("[[reverse]]")]
    if draw.chance(0.2):
        words.append("path: acks in batches")
        reverse.append(stage("reverse", kind='"batch"', gap=time(draw.between(5e-5, 2e-3))))
    seconds = min(15, max(2.5, 80e6 / rate + 20 * rtt))
    groups = draw.choice([1, 1, 2])
    text = f'[run]\nduration = "{seconds:.2f} s"\nseed = {number}\n\n[output]\npairs = true\n\n'
    route = 'route = ["near", "far"]\nreturn_route = ["back", "home"]\n'
    for _ in range(groups):
        own, kind = flow(draw, rate, draw.choice([1, 1, 1, 2, 5]), rtt, draw.between(1e-4, 0.5))
        text += own.replace("\n", "\n" + route, 1) + "\n"
        words.append(f"application: {kind}")
    # The place on the path is at neither end.
    before = draw.uniform(0.15, 0.85)
    near, far = halves(draw, forward, before * rtt / 2, (1 - before) * rtt / 2)
    back, home = halves(draw, reverse, (1 - before) * rtt / 2, before * rtt / 2)
    hops = routers(number)
    for name, source, target, stages, at in (("near", "A", "M", near, 0), ("far", "M", "B", far, 1), ("back", "B", "M", back, 1), ("home", "M", "A", home, 0)):
        text += line(name, source, target, stages, hops[at])
    if draw.chance(0.3):
        merge = str(draw.chance(0.6)).lower()
        words.append(f"receiver's card merges: {merge}")
        text += f"\n[receiver_card]\ncoalesce = {time(draw.between(2e-5, 2e-4))}\nmerge = {merge}\n"
    text += captures(draw, seconds)
    return f"field-{number}", text, list(dict.fromkeys(words))
