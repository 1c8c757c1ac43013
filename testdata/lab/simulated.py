"""Recordings of simulated paths: `inorder simulate --pcap` of the scenarios in experiments/detection."""
import os
import re
import shutil
import subprocess

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))


def command():
    """The program: $INORDER, or the one built from this repository."""
    if os.environ.get("INORDER"):
        return [os.environ["INORDER"]]
    return ["cargo", "run", "-q", "--profile", "quick", "--manifest-path", os.path.join(ROOT, "Cargo.toml"), "-p", "inorder", "--"]


def simulate(name, s, out, truth, scratch):
    """Writes the captures and truths of every cell, NAME-CELL; returns lines for the user."""
    work = os.path.join(scratch, f"simulated-{os.getpid()}-{name}")
    os.makedirs(work, exist_ok=True)
    scenario = os.path.join(ROOT, "experiments", "detection", s["scenario"])
    options = ["--seed", str(s["seed"]), "--pcap", work, "--repetitions", "1"]
    options += [x for setting in s.get("set", []) for x in ("--set", setting)]
    subprocess.run(command() + ["simulate", scenario] + options, check=True, stdout=subprocess.DEVNULL)
    lines = []
    for file in sorted(os.listdir(work)):
        if not file.endswith(".snd.pcapng"):
            continue
        cell = re.sub(r".*?(\d*)\.snd\.pcapng$", r"\1", file) or "0"
        old, new = os.path.join(work, file.removesuffix(".snd.pcapng")), os.path.join(out, f"{name}-{int(cell)}")
        for end in ("snd", "rcv"):
            shutil.move(f"{old}.{end}.pcapng", f"{new}.{end}.pcapng")
        done = subprocess.run([truth, "--loss", s.get("loss", "loss"), new], stdout=subprocess.PIPE, text=True, check=True)
        lines.append(done.stdout.strip())
    shutil.rmtree(work)
    return "\n".join(lines)
