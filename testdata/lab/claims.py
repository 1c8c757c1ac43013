"""The claims of what `analyze` says first, each with a predicate on the truth.

JSON has them as a list, `claims`: each with its kind and its numbers; those behind a claim `moved` are of the flow that it names. A
predicate answers True or False, or None where the truth of a transfer does not decide. Shares may be off by a fifth of the life, and
counts of packets by a fifth: a reader draws the same conclusions."""
from collections import Counter, defaultdict

#: A claim "held it for 90 % of the time" is false if the truth is further away than this.
OFF = 0.2
#: What does nothing to nobody: less of the life than this.
LITTLE = 0.1
#: A recovery counts as the window that it leaves.
AS_WINDOW = {"recovery-needed": "window-needed", "recovery-unneeded": "window-unneeded"}
UNNEEDED = ("window-unneeded", "recovery-unneeded", "timer-unneeded")
#: Limits with which nothing is wrong.
HARMLESS = {"application", "application:end", "line", "start", "handshake", "send-buffer:line", "receiver-window:line"}


def names(limit, end="application:end"):
    """What a limit of the truth may be called: a buffer that is full while the line is busy is both. `end` is what the application at its end is
    called."""
    limit, _, cause = limit.partition(":")
    return {end} if cause == "end" else {limit, cause} - {""}


class Truth:
    """What is true of one direction of a transfer."""

    def __init__(self, stretches, packets, known):
        life = sum(end - start for start, end, _ in stretches) or 1
        self.shares = Counter()
        for start, end, limit in stretches:
            self.shares[limit] += (end - start) / life
        self.windows = Counter()
        for limit, share in self.shares.items():
            self.windows[AS_WINDOW.get(limit, limit)] += share
        self.packets, self.known = packets, known

    def __str__(self):
        """The limits with more than a twentieth of the life, the longest first."""
        return ", ".join(f"{limit} {100 * share:.0f} %" for limit, share in self.windows.most_common() if share > 0.05)

    def of(self, limits):
        limits = set(limits)
        return sum(share for limit, share in self.windows.items() if names(limit) & limits)

    @property
    def unneeded(self):
        return sum(self.shares[limit] for limit in UNNEEDED)

    @property
    def main(self):
        """The longest limit; opening the connection only where nothing else was one, and the end, of which `ended` speaks, never."""
        known = {k: v for k, v in self.windows.items() if k not in ("application:end", "unknown")}
        proper = {k: v for k, v in known.items() if k != "handshake"} or known or self.windows
        return max(proper, key=proper.get)


def near(claimed, true):
    return abs(claimed - true) <= max(2, 0.2 * true)


def limits_of(claim):
    """The limits that a claim `held` names. A dead path, too, is a wait for the timer after losses."""
    limits = set(claim["limits"].split("+"))
    return limits | {"path-dead"} if "timer-needed" in limits else limits


def held(claim, truth):
    """Clauses that cannot tell limits apart speak of times of their own: what other clauses say of the same limits comes on top. A window is
    full of what a reader leaves only where one was drawn."""
    if claim.get("reads_slowly") and "slow-reader" not in truth.known["kinds"]:
        return False
    most = claim["share_at_most"] + claim.get("beside", 0)
    true = truth.of(limits_of(claim))
    return claim["share"] - OFF <= true + at_end(claim, truth) and true <= most + OFF


def at_end(claim, truth):
    """What was true behind the last data may be reported as the application's, too, where no clause is about the end."""
    idle = "application" in claim["limits"].split("+")
    return truth.shares["application:end"] if idle and not claim.get("end_told") else 0


def note_beside(claims):
    """Adds to each clause of several limits the shares of the other clauses that share one with it, and whether another is about the end."""
    clauses = [claim for claim in claims if claim["kind"] == "held"]
    ended = any(claim["kind"] == "ended" for claim in claims)
    for one in clauses:
        one["end_told"] = ended
    for one in clauses:
        if "+" in one["limits"]:
            others = [other for other in clauses if other is not one and limits_of(other) & limits_of(one)]
            one["beside"] = sum(other["share"] for other in others)


def moved(claim, truth):
    """A line's rate, where there is one: that of the bottleneck as payload."""
    line = claim.get("line_bps")
    if line is None or "policer" in truth.known["kinds"]:
        return None
    return 0.7 <= line / truth.known["rate"] <= 1.1


def bounded(key, open_key=None):
    """Between bounds; without `packets_at_most` there is none above. What `open_key` counts may be more of the same by the truth."""
    def judge(claim, truth):
        if truth.packets is None:
            return None
        true, least, most = truth.packets[key], claim["packets"], claim.get("packets_at_most")
        perhaps = true + truth.packets.get(open_key, 0)
        if not least:
            return perhaps > 0
        return (perhaps >= least or near(least, perhaps)) and (most is None or true <= most or near(most, true))
    return judge


def clean(_, truth):
    packets = truth.packets
    return packets and packets["losses"] + packets["reordered"] + packets["again"] == 0


def no_problem(claim, truth):
    harmful = sum(share for limit, share in truth.windows.items() if limit not in HARMLESS and limit != "unknown")
    return harmful <= LITTLE and clean(claim, truth) is not False


def ended(claim, truth):
    """That all had been sent; or, away from the sender, that no more came, whatever became of it."""
    silent = {"application:end"}
    if claim["text"].startswith("no data came"):
        silent |= {"application", "path-dead", "timer-needed", "timer-unneeded"}
        return truth.of(silent) >= claim["share"] - OFF
    return abs(claim["share"] - truth.of(silent)) <= OFF


def short(claim, truth):
    """What the first window takes at once leaves nothing to send: its way is the start of it, or the application's end."""
    started = truth.shares["handshake"] + truth.shares["start"]
    ended = truth.shares["application:end"]
    return claim["share"] - OFF <= started + ended and started <= (claim.get("share_at_most") or claim["share"]) + OFF


def not_reordering(claim, truth):
    """Unnecessary reductions may have other causes: a jump of the delay, lost acknowledgements."""
    in_order = truth.packets is not None and truth.packets["reordered"] == 0
    return in_order or truth.unneeded <= max(LITTLE, claim.get("share") or 0) + 0.02


PREDICATES = {
    "moved": moved,
    "held": held,
    "coarse": lambda claim, truth: None,
    "short": short,
    "ended": ended,
    # What had neither arrived nor been acknowledged when the run ended was lost, or was on its way.
    "lost": bounded("losses", "undecided"),
    "late": bounded("reordered"),
    "mistaken": lambda claim, truth: truth.packets and (truth.packets["spurious"] > 0 or truth.unneeded > 0),
    "misled": lambda claim, truth: truth.packets and (truth.packets["spurious"] > 0 or truth.unneeded > 0),
    "clean": clean,
    "not-reordering": not_reordering,
    "part-reordering": lambda claim, truth: truth.unneeded >= (claim.get("share") or 0) - LITTLE,
    "no-problem": no_problem,
    "nothing-lost": clean,
    "none-visible": lambda claim, truth: None,
    "none-known": lambda claim, truth: None,
}


def judge(name, place, result, truth, known, of_all=False):
    """The claims of a capture, with what is true of each; None if the headline has no list of them. What a clause says to be uncertain is judged
    only if it is asked for: it counts as unknown."""
    claims = result.get("claims")
    if claims is None:
        return None
    counts = {flow["flow"]: flow for flow in known.get("packets", [])}
    named = [claim["flow"] for claim in claims if claim.get("flow") in truth]
    about = Truth(truth[named[0]], counts.get(named[0]), known) if named else None
    note_beside(claims)
    out = []
    for claim in claims:
        if claim.get("flow") in truth:
            about = Truth(truth[claim["flow"]], counts.get(claim["flow"]), known)
        predicate = PREDICATES.get(claim["kind"])
        says = of_all or claim.get("sure") is not False
        verdict = predicate(claim, about) if predicate and about and says else None
        out.append((claim, None if verdict is None else bool(verdict), about))
    return {"name": name, "place": place, "claims": out, "main": names_main(out, about), "text": result.get("headline", "")}


def names_main(claims, truth):
    """Whether the first limit that is named is the main one: right, false, or silent, where none is named or what is named is uncertain."""
    first = next((claim for claim, _, _ in claims if claim["kind"] in ("held", "short")), None)
    if not first or not truth or first.get("sure") is False:
        return "silent"
    limits = limits_of(first) if first["kind"] == "held" else {"start", "handshake"}
    return "right" if truth.of(limits) >= truth.windows[truth.main] - 0.05 else "false"


def table(judged, wrong):
    """How often each kind of claim is true, and how many sentences are."""
    if not judged:
        return
    kinds = defaultdict(list)
    for sentence in judged:
        for claim, verdict, truth in sentence["claims"]:
            kinds[claim["kind"]].append(verdict)
            if wrong and verdict is False:
                print(f"false: {sentence['name']}.{sentence['place']}: {claim['kind']}: {claim['text']} (truth: {truth})")
    print("| claim | times | judged | true, % |\n|---|--:|--:|--:|")
    for kind, verdicts in sorted(kinds.items(), key=lambda item: -len(item[1])):
        known = [v for v in verdicts if v is not None]
        print(f"| {kind} | {len(verdicts)} | {len(known)} | {f'{100 * sum(known) / len(known):.1f}' if known else '-'} |")
    false = sum(any(v is False for _, v, _ in sentence["claims"]) for sentence in judged)
    mains = Counter(sentence["main"] for sentence in judged)
    unsure = sum(claim["share"] for sentence in judged for claim, _, _ in sentence["claims"] if claim.get("sure") is False)
    print(f"\n{100 * unsure / len(judged):.1f} % of the time is reported as uncertain.", end="")
    print(f"\nOf {len(judged)} sentences {false} ({100 * false / len(judged):.1f} %) have a false claim; the first limit named is the main one in "
          f"{mains['right']}, another one in {mains['false']}, and none is named in {mains['silent']}.")
