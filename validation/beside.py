"""Runs scenarios on the lab's Linux and in the simulator, run by run, and judges by intervals whether the two agree.

Every run is kept as a line of a CSV file, so a comparison that was interrupted goes on where it ended, and more runs of a cell
make its interval narrower. A ratio of two means has an interval by the rule that `inorder lab --beside-simulation` uses:
their relative half-widths (Student's t, 95 %), added as squares.
"""

import csv
import json
import math
import pathlib
import subprocess
import sys
import threading
import time

LINUX, SIMULATION = "Linux", "simulation"
# Student's t for a two-sided interval of 95 %, by degrees of freedom; beyond them that of the normal distribution is close enough.
T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093]
KEPT = ["throughput", "completion", "response", "retransmissions", "duplicate_acks", "sack_blocks", "recoveries", "timeouts", "dropped", "delay", "rtt"]
# Throughputs closer than this share are the same for anybody: equal runs differ by a segment at the end.
SAME = 0.99
AGREES, DIFFERS, UNDECIDED = "agrees", "differs", "undecided"


class Mean:
    """The mean of some runs, and half the width of its interval (none for a single run)."""

    def __init__(self, values: list[float]):
        self.n = len(values)
        self.mean = sum(values) / self.n if values else math.nan
        self.half = None
        if self.n > 1:
            variance = sum((value - self.mean) ** 2 for value in values) / (self.n - 1)
            self.half = (T[self.n - 2] if self.n - 2 < len(T) else 1.96) * math.sqrt(variance / self.n)

    def __str__(self) -> str:
        return f"{self.mean:.2f}" + (f" +- {self.half:.2f}" if self.half is not None else "")


class Ratio:
    """A mean over another, with its interval."""

    def __init__(self, above: Mean, below: Mean):
        self.mean = above.mean / below.mean if below.mean else math.nan
        self.half = None
        if above.half is not None and below.half is not None and above.mean and below.mean:
            self.half = self.mean * math.hypot(above.half / above.mean, below.half / below.mean)

    def within(self, low: float, high: float) -> str:
        """Whether the ratio lies there, by the whole interval."""
        if self.half is None or math.isnan(self.mean):
            return UNDECIDED
        if low <= self.mean - self.half and self.mean + self.half <= high:
            return AGREES
        if self.mean + self.half < low or self.mean - self.half > high:
            return DIFFERS
        return UNDECIDED

    def __str__(self) -> str:
        return f"{self.mean:.3f}" + (f" +- {self.half:.3f}" if self.half is not None else "")


class Runs:
    """Runs by scenario, cell and engine, in a CSV file; several threads may add to them."""

    def __init__(self, path: str | None):
        self.path = pathlib.Path(path) if path else None
        self.lock = threading.Lock()
        self.values: dict[tuple[str, str, str], dict[int, dict[str, float]]] = {}
        if self.path and self.path.exists():
            with open(self.path, newline="") as file:
                for row in csv.DictReader(file):
                    numbers = {name: float(row[name]) for name in KEPT if row.get(name)}
                    self.values.setdefault((row["scenario"], row["cell"], row["engine"]), {})[int(row["seed"])] = numbers

    def add(self, scenario: str, cell: str, engine: str, seed: int, numbers: dict[str, float]) -> None:
        with self.lock:
            self.values.setdefault((scenario, cell, engine), {})[seed] = numbers
            if self.path:
                self.append([scenario, cell, engine, seed, *(numbers.get(name, "") for name in KEPT)])

    def append(self, row: list) -> None:
        is_new = not self.path.exists()
        with open(self.path, "a", newline="") as file:
            writer = csv.writer(file)
            if is_new:
                writer.writerow(["scenario", "cell", "engine", "seed", *KEPT])
            writer.writerow(row)

    def count(self, scenario: str, cell: str | None = None, engine: str = LINUX) -> int:
        """Runs that every cell of a scenario has on Linux, or one of them on this engine."""
        with self.lock:
            if cell is not None:
                return len(self.values.get((scenario, cell, engine), {}))
            counts = [len(runs) for (name, _, engine), runs in self.values.items() if name == scenario and engine == LINUX]
        return min(counts, default=0)

    def cells(self, scenario: str) -> list[str]:
        with self.lock:
            return list(dict.fromkeys(cell for name, cell, _ in self.values if name == scenario))

    def mean(self, scenario: str, cell: str, engine: str, measure: str) -> Mean:
        with self.lock:
            runs = list(self.values.get((scenario, cell, engine), {}).values())
        return Mean([run[measure] for run in runs if measure in run])


def labels(cell: dict) -> dict[str, str]:
    found = cell["labels"]
    return found if isinstance(found, dict) else {entry["axis"]: entry["value"] for entry in found}


def run(inorder: str, scenario: str, file: pathlib.Path, settings: list[str], seed: int, runs: Runs, simulate: bool = True, cell: str = "") -> None:
    """Runs every cell of a scenario once on Linux and, if wanted, once in the simulator; a scenario without axes is this cell."""
    take(inorder, ["lab", "--beside-simulation"] if simulate else ["lab"], scenario, file, settings, seed, runs, cell)


def simulate(inorder: str, scenario: str, file: pathlib.Path, settings: list[str], seed: int, runs: Runs, cell: str = "") -> None:
    """Runs every cell of a scenario once in the simulator; the last run with a seed counts."""
    take(inorder, ["simulate"], scenario, file, settings, seed, runs, cell)


def take(inorder: str, verb: list[str], scenario: str, file: pathlib.Path, settings: list[str], seed: int, runs: Runs, only: str = "") -> None:
    command = [inorder, *verb, "--json", "--no-progress", "--threads", "1", "--repetitions", "1", "--seed", str(seed), str(file)]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"{' '.join(command)}\n{done.stderr.strip()}")
    if done.returncode:
        # A run without a result; the others of this scenario count.
        print(done.stderr.strip(), file=sys.stderr)
    for cell in json.loads(done.stdout)["cells"]:
        place = ", ".join(value for axis, value in labels(cell).items() if axis != "runs_on") or only
        numbers = {name: cell["estimates"][name]["mean"] for name in KEPT if (cell["estimates"].get(name) or {}).get("mean") is not None}
        engine = LINUX if cell["engine"] == "uml" else SIMULATION
        if cell["estimates"].get("throughput", {}).get("n"):
            runs.add(scenario, place, engine, seed, numbers)


class Clock:
    """The time that a comparison may take."""

    def __init__(self, minutes: float | None):
        self.end = time.monotonic() + 60 * minutes if minutes else math.inf

    def is_over(self) -> bool:
        return time.monotonic() > self.end
