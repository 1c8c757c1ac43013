"""Scores what `inorder qlog` says of a recording, from the sender's log, from the receiver's and from both, against its truth."""
import collections
import csv
import dataclasses
import glob
import io
import json
import os
import subprocess

import logs

# A packet with more bytes than these has data, not acknowledgements alone.
DATA_BYTES = 1_000
# RFC 9002 sections 6.1.1 and 6.1.2.
PACKETS, RTTS = 3, 9 / 8
# The relay sees packets a little later than the ends do, and a busy machine delays both: a round trip of the truth is exact within this share
# or this time in nanoseconds.
NEAR = 0.15
NEAR_NS = 1_500_000
# A window that is, within this number of round trips, as large as before a reduction was reduced for nothing and given back.
UNDONE_RTTS = 2
# How far the cost may be from what was measured, as a share: two transfers differ by some of it.
COST_NEAR = 0.15
# A window that falls by less was not reduced for a loss.
FALL = 0.97


class Truth:
    """The packets of one direction, by space and number."""

    def __init__(self, folder, direction):
        self.packets, self.order = {}, []
        with open(os.path.join(folder, "truth.csv"), encoding="ascii", newline="") as file:
            for row in csv.DictReader(file):
                if row["direction"] == direction:
                    one = Packet(row)
                    self.packets[one.key] = one
                    self.order.append(one)

    def of(self, space):
        return [one for one in self.order if one.key[0] == space]


class Packet:
    """A row of truth.csv."""

    def __init__(self, row):
        number = lambda name: int(row[name]) if row[name] else None
        self.key = row["space"], int(row["number"])
        self.bytes, self.sent_ns, self.fate, self.asks = int(row["bytes"]), int(row["sent_ns"]), row["fate"], row["asks"] == "1"
        self.arrived = [int(ns) for ns in row["arrived_ns"].split()]
        self.overtaken, self.acked_ns, self.rtt_ns = map(number, ("overtaken", "acked_ns", "rtt_ns"))
        # What comes after the end has closed is neither lost nor arrived.
        self.is_lost = not self.arrived and "after-close" not in row["fate"]
        self.needed_packets, self.needed_rtts = number("needed_packets"), float(row["needed_rtts"] or 0) or None


class Tally:
    """True and false statements of a kind."""

    def __init__(self):
        self.counts, self.seen = collections.Counter(), collections.Counter()
        self.wrong = []

    def count(self, what, many=1):
        """Something that is neither true nor false."""
        self.seen[what] += many

    def say(self, what, is_true, where=""):
        self.counts[what, bool(is_true)] += 1
        if not is_true:
            self.wrong.append(f"{what}: {where}")

    def share(self, what):
        true, false = self.counts[what, True], self.counts[what, False]
        if what in self.seen:
            return str(self.seen[what])
        return f"{true} of {true + false}" if true + false else "-"


class Refused(Exception):
    """What `inorder qlog` says of logs that it does not read."""


class Said:
    """What `inorder qlog` says of logs."""

    def __init__(self, inorder, mode, files):
        run = lambda *words: subprocess.run([inorder, "qlog", *words, *files], capture_output=True, text=True, check=False)
        done = run("--json")
        if done.returncode not in (0, 3) or not done.stdout:
            raise Refused(done.stderr.strip())
        self.mode, self.document = mode, json.loads(done.stdout)
        self.losses = list(csv.DictReader(io.StringIO(run("--csv", "--rows", "losses").stdout)))
        self.headline = self.document.get("headline", "")

    def end(self, vantage):
        ends = [c for c in self.document["connections"] if c["vantage"] == vantage]
        if not ends:
            raise Refused(f"no {vantage} among {[c['vantage'] for c in self.document['connections']]}")
        return max(ends, key=lambda c: c["sent_packets"])


def as_flag(text):
    return {"true": True, "false": False}.get(text)


class Recorded:
    """A recording with its truth and its logs."""

    def __init__(self, recording, out):
        self.recording, self.folder = recording, os.path.join(out, recording.name)
        self.sender, self.receiver = ("client", "server") if recording.client_sends() else ("server", "client")
        self.truth = Truth(self.folder, "to-server" if self.sender == "client" else "to-client")
        self.back = Truth(self.folder, "to-client" if self.sender == "client" else "to-server")
        files = lambda end: sorted(glob.glob(os.path.join(glob.escape(self.folder), end, "*log*")))
        self.files = {end: files(end) for end in ("client", "server")}
        self.logs = {end: [logs.Log(path) for path in self.files[end]] for end in self.files}

    def log(self):
        """The sender's."""
        return self.logs[self.sender][0]

    def duration_s(self):
        """From the first to the last arrival of data."""
        came = sorted(p.arrived[0] for p in self.truth.of("application") if p.arrived and p.bytes > DATA_BYTES)
        return (came[-1] - came[0]) / 1e9


def compared(one, inorder, tally):
    """All statements on one recording. Returns what was said."""
    name, lines = one.recording.name, []
    matched(one, tally, name)
    logs_of = {"sender": one.files[one.sender], "receiver": one.files[one.receiver], "both": one.files["client"] + one.files["server"]}
    for mode, files in logs_of.items():
        try:
            said = Said(inorder, mode, files)
            lines.append(f"[{mode}] {said.headline}")
            lines.extend(f"[{mode}] Note: {warning}" for warning in said.document["warnings"])
            if mode != "receiver":
                sender(one, said, tally, name)
            if mode != "sender":
                receiver(one, said, tally, name)
        except Refused as why:
            lines.append(f"[{mode}] refused: {why}")
            tally.count(f"{mode}: logs refused")
    return lines


def matched(one, tally, name):
    """Whether the log has the packets that the relay saw, in their order and with their lengths."""
    log = [(space, number) for space, number, *_ in one.log().sent]
    wire = [packet.key for packet in one.truth.order]
    seen = set(wire)
    # What was sent behind the relay's end is none of the recording.
    log = [key for key in log if key in seen]
    tally.say("packets of the log are those on the wire, in this order", log == wire, f"{name}: {len(log)} and {len(wire)}")
    lengths = {(space, number): size for space, number, size, _ in one.log().sent if size}
    same = sum(lengths.get(packet.key) == packet.bytes for packet in one.truth.order)
    tally.say("lengths in the log are those on the wire", same == len(wire) or not lengths, f"{name}: {same} of {len(wire)}")


def sender(one, said, tally, name):
    """What is said of the end that sent the data."""
    mode, end, losses = said.mode, said.end(one.sender), said.losses
    log, truth = one.log(), one.truth.packets
    declared = list(dict.fromkeys((space, number) for space, number, *_ in log.lost))
    rows = {(row["space"], int(row["number"])): row for row in losses if row["vantage"] == one.sender}
    if log.lost:
        tally.say(f"{mode}: packets declared lost", set(rows) == set(declared), f"{name}: {len(rows)} said, {len(declared)} in the log")
    for key, row in rows.items():
        if packet := truth.get(key):
            loss(one, mode, key, row, packet, tally, name)
    thresholds(one, said, end, rows, tally, name)
    if log.windows:
        reductions(one, mode, end, declared or list(rows), tally, name)
    cost(one, said, end, one.clean_s, tally, name)


def loss(one, mode, key, row, packet, tally, name):
    """One packet that was declared lost."""
    delivered, arrived = as_flag(row["delivered"]), bool(packet.arrived)
    where = f"{name} {mode} {key[0]} {key[1]}: {packet.fate}"
    if delivered is True:
        tally.say(f"{mode}: delivered", arrived, where)
    elif delivered is False:
        dropped = as_flag(row.get("dropped", ""))
        tally.say(f"{mode}: not delivered", not arrived or dropped, where)
    else:
        tally.count(f"{mode}: open")
    if row["needed_packets"] and packet.needed_packets:
        needed, exact = int(row["needed_packets"]), packet.needed_packets
        is_bound = as_flag(row["needed_packets_is_bound"])
        tally.say(f"{mode}: packets needed, {'at most' if is_bound else 'exactly'}", needed >= exact if is_bound else needed == exact,
                  f"{where}: {needed} said, {exact}")
    if row["needed_rtts"] and packet.needed_rtts:
        needed, exact = float(row["needed_rtts"]), packet.needed_rtts
        tally.say(f"{mode}: round trips needed", is_near(needed, exact, packet.rtt_ns), f"{where}: {needed} said, {exact:.3f}")
    trigger(one, mode, row, packet, tally, where)


def is_near(said_rtts, exact_rtts, rtt_ns):
    return abs(said_rtts - exact_rtts) <= max(NEAR * exact_rtts, NEAR_NS / rtt_ns)


def trigger(one, mode, row, packet, tally, where):
    """By which threshold: what had been acknowledged when it was declared, and how long after its sending that was."""
    after_ns = float(row["declared_after_ms"]) * 1e6
    at_ns, number, word = packet.sent_ns + after_ns, packet.key[1], row["trigger"]
    rtt_ns = one.log().least_rtt_ns(one.log().sent_ms[packet.key] + after_ns / 1e6)
    acked = lambda slack_ns: max((p.key[1] for p in one.truth.of(packet.key[0]) if p.acked_ns and p.acked_ns <= at_ns + slack_ns), default=-1)
    least, most = acked(-NEAR_NS), acked(NEAR_NS)
    waited = after_ns / rtt_ns if rtt_ns else 0
    if number < least <= most < number + PACKETS:
        tally.say(f"{mode}: by time", word == "time-threshold", f"{where}: {word} said")
    elif most - number >= PACKETS and 0 < waited < RTTS * (1 - NEAR):
        tally.say(f"{mode}: by packets", word == "packet-threshold", f"{where}: {word} said")
    tally.count(f"{mode}: trigger {word}")


def thresholds(one, said, end, rows, tally, name):
    """Whether what the sentence names would have sufficed, by the truth, and whether a smaller packet threshold would have."""
    packets, rtts = end.get("sufficient_packets"), end.get("sufficient_rtts")
    wrong = [(row, one.truth.packets[key]) for key, row in rows.items() if as_flag(row["delivered"]) and key in one.truth.packets]
    promises = "would have been declared lost" in said.headline
    if not wrong or not promises:
        tally.count(f"{said.mode}: no promise of thresholds", bool(wrong))
        return
    # It speaks of those whose acknowledgement is known, where it does not know all.
    if "whose acknowledgement the log shows" in said.headline:
        wrong = [(row, packet) for row, packet in wrong if row["needed_rtts"]]
    wrong = [packet for _, packet in wrong if packet.needed_packets and packet.needed_rtts]
    at = max(packets or 0, PACKETS), max(rtts or 0, RTTS)
    failed = [x.key[1] for x in wrong
              if x.needed_packets > at[0] or x.needed_rtts > at[1] and not is_near(at[1], x.needed_rtts, x.rtt_ns)]
    where = f"{name} {said.mode}: {at[0]} and {at[1]:.3f}"
    tally.say(f"{said.mode}: thresholds suffice", not failed, f"{where}: {len(failed)} of {len(wrong)} lost all the same, as {failed[:3]}")
    if packets and not end.get("sufficient_packets_is_bound") and packets > PACKETS:
        tally.say(f"{said.mode}: fewer packets do not", any(x.needed_packets > packets - 1 for x in wrong), where)


def episodes(one):
    """Reductions in the sender's log by the window alone: each fall of it with a loss in the round trip before."""
    windows, found = one.log().windows, []
    lost_ms = one.log().losses_ms
    for (_, before), (at, after) in zip(windows, windows[1:]):
        rtt_ms = one.log().rtt_ns(at) / 1e6
        if after < FALL * before and any(at - rtt_ms <= lost <= at for lost in lost_ms):
            later = [w for t, w in windows if at <= t <= at + UNDONE_RTTS * rtt_ms]
            found.append({"at": at, "undone": any(w >= before for w in later)})
    return found


def reductions(one, mode, end, declared, tally, name):
    found = episodes(one)
    tally.say(f"{mode}: reductions", end["reductions"] == len(found), f"{name} {mode}: {end['reductions']} said, {len(found)} in the log")
    lost = [key for key in declared if (p := one.truth.packets.get(key)) and p.is_lost]
    needless = end.get("needless_reductions")
    if needless is None:
        return
    if not lost:
        tally.say(f"{mode}: all reductions needless, where nothing was lost", needless == end["reductions"], f"{name} {mode}: {needless} of {end['reductions']}")
    else:
        tally.say(f"{mode}: needed reductions are no more than packets lost", end["reductions"] - needless <= len(lost),
                  f"{name} {mode}: {needless} of {end['reductions']}, {len(lost)} lost")
    tally.count(f"{mode}: needless reductions", needless)
    tally.count(f"{mode}: undone", sum(e["undone"] for e in found))


def cost(one, said, end, clean, tally, name):
    """The share that needless reductions cost, beside the same transfer over a path without trouble, where nothing was lost."""
    share, least = end.get("cost_ratio"), end.get("cost_least_ratio")
    if clean is None or share is None or any(p.is_lost for p in one.truth.of("application")) or one.recording.path == "clean":
        return
    exact = 1 - clean / one.duration_s()
    where = f"{name} {said.mode}: {share:.2f}, at least {least if least is None else round(least, 2)}, measured {exact:.2f}"
    tally.say(f"{said.mode}: cost within {COST_NEAR}", abs(share - exact) <= COST_NEAR, where)
    if least is not None:
        tally.say(f"{said.mode}: cost no less than said", exact >= least - COST_NEAR, where)


def receiver(one, said, tally, name):
    """The order of arrival at the end that received the data."""
    mode, arrivals = said.mode, said.end(one.receiver)["arrivals"]
    application = one.truth.of("application")
    late = [p for p in application if p.overtaken]
    tally.say(f"{mode}: late packets", arrivals["reordered"] == len(late), f"{name} {mode}: {arrivals['reordered']} said, {len(late)}")
    lost = [p for p in application if not p.arrived and any(q.arrived and q.key[1] > p.key[1] for q in application)]
    if arrivals.get("missing") is not None:
        tally.say(f"{mode}: missing packets", arrivals["missing"] == len(lost), f"{name} {mode}: {arrivals['missing']} said, {len(lost)}")
    elif arrivals["missing_at_most"] < len(lost):
        tally.say(f"{mode}: missing packets at most", False, f"{name} {mode}: {arrivals['missing_at_most']} said, {len(lost)}")


def clean_s(recording, out):
    """How long the same transfer takes over the path without trouble, if that was recorded and the path is otherwise the same."""
    clean = dataclasses.replace(recording, path="clean")
    is_same = all(recording.settings[key] == clean.settings[key] for key in ("rate", "queue", "delay", "work"))
    if not is_same or not os.path.exists(os.path.join(out, clean.name, "truth.csv")):
        return None
    return Recorded(clean, out).duration_s()


def score(chosen, out, inorder, show_wrong):
    """Prints what is right of each sender's statements, and writes what was said beside each recording."""
    by_stack, everything = collections.defaultdict(Tally), Tally()
    for recording in chosen:
        one = Recorded(recording, out)
        one.clean_s = clean_s(recording, out)
        lines = compared(one, inorder, by_stack[recording.sender])
        with open(os.path.join(one.folder, "said.txt"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    for tally in by_stack.values():
        everything.counts += tally.counts
        everything.seen += tally.seen
        everything.wrong += tally.wrong
    table(by_stack, everything)
    if show_wrong:
        print("\n".join(["", *everything.wrong]))


def table(by_stack, everything):
    whats = sorted({what for what, _ in everything.counts} | set(everything.seen))
    names = [*by_stack, "all"]
    widths = [max(len(what) for what in whats) if whats else 0, *(max(14, len(name)) for name in names)]
    row = lambda cells: "  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip()
    print("\n" + row(["true of how many said", *names]))
    for what in whats:
        print(row([what, *((by_stack | {"all": everything})[name].share(what) for name in names)]))
