"""What became of an action that `inorder analyze` proposed, for `act` (real Linux) and `remedy` (the simulator).

- harmful: the transfer lost more than HARM of its goodput, whatever the action was for;
- inside, outside: the gain against the range that was promised; helps: more than SAME, where none was;
- shorter queue, fewer sent again: what a managed queue and a pacer are for;
- would help: nothing was proposed, and a setting brings more than HELPS; asks for it: the same where the question to the sender's
  kernel is about this setting.
"""
from typing import NamedTuple

#: Difference between two equal sets of runs, as a share of their goodput.
SAME = 0.02
#: A setting that loses more harms.
HARM = 0.05
#: A setting that brings more would have been worth a word.
HELPS = 0.2
#: A shorter queue, in milliseconds of the round trip.
SHORTER_MS = 1
#: Less than any goodput, in any unit.
NOTHING = 1e-9
#: An action that only asks the sender's kernel whether its buffer was full, and the setting that would be the answer.
ASK, ASKED_FOR = "ask", "larger send buffer"
#: What stands for the action where none is proposed but another capture.
CAPTURE = "capture"


class Outcome(NamedTuple):
    """Means over the runs of a transfer: goodput (in any unit), round trip in milliseconds, packets sent again."""

    goodput: float
    rtt_ms: float
    again: float


def mean(outcomes):
    return Outcome(*(sum(values) / len(outcomes) for values in zip(*outcomes)))


def gain(before, after):
    """By what share of its goodput a transfer is faster."""
    return after.goodput / max(NOTHING, before.goodput) - 1


def judged(action, before, after):
    """How the gain stands to what was promised."""
    more, promised = gain(before, after), action["gain"]
    if more < -HARM:
        return "harmful"
    if action["kind"] == "queue":
        return "shorter queue" if after.rtt_ms < before.rtt_ms - SHORTER_MS else "no effect"
    if action["kind"] == "shape":
        return "fewer sent again" if after.again < before.again / 2 else "no effect"
    if promised:
        return "inside" if promised["low"] - SAME <= more <= promised["high"] + SAME else "outside"
    return "helps" if more > SAME else "no effect"


def none_proposed(kind, more, by):
    """Nothing is set by the action `kind`; `by` is the setting that brings most, and `more` what it brings."""
    if more <= HELPS:
        return "rightly none"
    return "asks for it" if kind == ASK and by == ASKED_FOR else "would help"
