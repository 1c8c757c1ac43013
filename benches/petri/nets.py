"""Nets that another program solves, too, and what a command took. Used by `storm` and `greatspn` beside this file."""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
#: Exit code of what was ended by a signal.
ENDED = 99


class Net:
    """Places with their tokens, transitions with rate and arcs, and the place that is asked to be empty."""

    def __init__(self, asked):
        self.asked, self.places, self.transitions = asked, {}, []

    def place(self, name, tokens):
        self.places[name] = tokens

    def transition(self, name, rate, ins, outs):
        self.transitions.append((name, rate, ins.split(), outs.split()))

    def text(self):
        lines = ["net beside", *(f"place {name} {tokens}" for name, tokens in self.places.items())]
        for name, rate, ins, outs in self.transitions:
            lines.append(f"transition {name} exponential rate {rate!r}")
            lines += [f" in {place}" for place in ins] + [f" out {place}" for place in outs]
        return "\n".join(lines) + "\n"


def kanban(cards):
    """Four cells (Ciardo and Tilgner, ICASE report 96-35), rates as there."""
    net = Net("cards1")
    for cell in "1234":
        for place, tokens in (("cards", cards), ("machine", 0), ("broken", 0), ("out", 0)):
            net.place(place + cell, tokens)
        net.transition("redo" + cell, 0.36, "machine" + cell, "broken" + cell)
        net.transition("back" + cell, 0.3, "broken" + cell, "machine" + cell)
        net.transition("ok" + cell, 0.84, "machine" + cell, "out" + cell)
    net.transition("in", 1.0, "cards1", "machine1")
    net.transition("split", 0.4, "out1 cards2 cards3", "cards1 machine2 machine3")
    net.transition("join", 0.5, "out2 out3 cards4", "cards2 cards3 machine4")
    net.transition("leave", 0.9, "out4", "cards4")
    return net


def philosophers(count):
    """Each eats with both forks beside him."""
    net = Net("eats0")
    for seat in range(count):
        net.place(f"fork{seat}", 1)
        net.place(f"eats{seat}", 0)
    for seat in range(count):
        forks = f"fork{seat} fork{(seat + 1) % count}"
        net.transition(f"begin{seat}", 2.0, forks, f"eats{seat}")
        net.transition(f"end{seat}", 1.0, f"eats{seat}", forks)
    return net


def row(room):
    """M/M/1 with room for this number of customers, at a load of 0.999."""
    net = Net("queue")
    net.place("queue", 0)
    net.place("room", room)
    net.transition("arrive", 0.999, "room", "queue")
    net.transition("serve", 1.0, "queue", "room")
    return net


def built(profile):
    """Our program: the one that INORDER names, or this checkout's, compiled if it is not as it should be."""
    if program := os.environ.get("INORDER"):
        return program
    subprocess.run(["cargo", "build", "--quiet", "--profile", profile, "-p", "inorder"], cwd=ROOT, check=True)
    return TARGET / profile / "inorder"


def ours(program, net, options, read, limit_s):
    """A line about what our program finds out about a net."""
    with tempfile.NamedTemporaryFile("w", suffix=".net") as file:
        file.write(net.text())
        file.flush()
        return measured([program, "petri", *options, "--json", file.name], lambda text: read(json.loads(text)), limit_s)


def measured(command, read, limit_s):
    """What a command found, its processor seconds and its MiB; or why there is nothing."""
    code = f"ENDED = {ENDED}; import resource,subprocess,sys; done = subprocess.run(sys.argv[1:]); used = resource.getrusage(resource.RUSAGE_CHILDREN); " \
        "print(used.ru_utime, used.ru_maxrss, file=sys.stderr); sys.exit(ENDED if done.returncode < 0 else done.returncode)"
    bound = lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s))  # noqa: E731
    done = subprocess.run([sys.executable, "-c", code, *map(str, command)], capture_output=True, text=True, preexec_fn=bound)
    if done.returncode == ENDED:
        return f"not done in {limit_s} s"
    if done.returncode:
        return done.stderr.strip().splitlines()[-2][:100]
    seconds, kib = done.stderr.split()[-2:]
    states, probability = read(done.stdout)
    return f"{states:>9,} {float(seconds):>8.2f} {int(kib) / 1024:>7.0f} {probability:.6f}"
