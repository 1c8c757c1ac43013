"""The verb ``simulate``."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from inorder._inorder import Table
from inorder._inorder import simulate as _simulate
from inorder._inorder import toml_of_json
from inorder.errors import MalformedError, UnreadableError
from inorder.own import CongestionControl, LossDetection, Sorter
from inorder.result import Result


class Simulation(Result):
    """The runs of a scenario. :meth:`to_dict` also has the means of each cell with their intervals."""

    @property
    def runs(self) -> Table:
        """A row for each run: its place in the grid, its seed, all measures."""
        return self.table("runs")

    @property
    def samples(self) -> Table:
        """Window, threshold, round-trip time, ... over time, of the first run of each cell; empty without
        ``samples=True`` and without ``output.trace_interval`` in the scenario."""
        return self.table("samples")

    def html(self) -> str:
        """The page of ``inorder simulate --html``, which needs no network. Its charts need ``samples=True``."""
        return self._findings.html()


def simulate(
    scenario: str | os.PathLike[str] | Mapping[str, Any],
    *,
    set: Mapping[str, Any] | None = None,
    seed: int | None = None,
    repetitions: int | None = None,
    quick: bool = False,
    samples: bool = False,
    threads: int | None = None,
    congestion: Mapping[str, Callable[[], CongestionControl]] | None = None,
    loss_detection: Mapping[str, Callable[[], LossDetection]] | None = None,
    sorters: Mapping[str, Callable[[], Sorter]] | None = None,
) -> Simulation:
    """Simulates TCP over paths that reorder. A run is a function of scenario and seed, on every machine.

    `scenario` is the path of a file, its text (TOML, recognised by a line break), or the same as a dictionary; docs/scenario.md
    has every key. `set` overrides keys or axes of the grid: ``{"flow.count": 10}``. `seed` is that of the first
    of `repetitions` of each cell; `quick` runs one of a tenth of the duration. `samples` keeps values over time of the
    first run of each cell. The result does not depend on `threads`, by default one for each core.

    `congestion`, `loss_detection` and `sorters` are classes written in Python (:class:`CongestionControl`,
    :class:`LossDetection`, :class:`Sorter`), for teaching and prototypes: each acknowledgement or packet is a call, which makes a
    simulation much slower. The scenario names them as ``sender.congestion = "NAME"`` and ``sender.loss_detection = "NAME"``
    of a flow and ``receiver_card.sorter = "NAME"``. What one of them raises ends the simulation and is raised here.

    Raises :class:`MalformedError` for a wrong scenario, :class:`UnreadableError`, :class:`UsageError`.

    >>> link = {"kind": "link", "rate": "100 Mbit/s"}
    >>> back = {"kind": "delay", "delay": "5 ms"}
    >>> scenario = {
    ...     "run": {"duration": "1 s", "repetitions": 2},
    ...     "flow": [{}],
    ...     "forward": [link, {"kind": "delay", "delay": "5 ms"}],
    ...     "reverse": [back],
    ...     "grid": {"forward.1.jitter": ["0 ms", "0.5 ms"]},
    ... }
    >>> runs = simulate(scenario).runs.to_dicts()
    >>> [run["reordered_at_stack"] > 10 for run in runs]
    [False, False, True, True]
    """
    text, name, is_json = given(scenario)
    changes = options(set, seed, repetitions, quick, samples, threads)
    algorithms: dict[str, dict[str, Callable[[], Any]]] = {
        "congestion": dict(congestion or {}),
        "loss_detection": dict(loss_detection or {}),
        "sorters": dict(sorters or {}),
    }
    return Simulation(_simulate(text, name, is_json, changes, algorithms))


def options(
    set: Mapping[str, Any] | None,
    seed: int | None,
    repetitions: int | None,
    quick: bool,
    samples: bool,
    threads: int | None,
) -> dict[str, Any]:
    """What changes a scenario and says how often it runs, as the native part takes it."""
    return {
        "set": set_text(set),
        "seed": seed,
        "repetitions": repetitions,
        "quick": quick,
        "samples": samples,
        "threads": threads,
    }


def scenario_text(scenario: str | os.PathLike[str] | Mapping[str, Any]) -> tuple[str, str]:
    """The text of a scenario in TOML, and its name in messages."""
    text, name, is_json = given(scenario)
    return (toml_of_json(text) if is_json else text), name


def set_text(set: Mapping[str, Any] | None) -> list[str]:
    """Overrides as ``--set`` takes them."""
    return [f"{key}={_value(value)}" for key, value in (set or {}).items()]


def given(scenario: str | os.PathLike[str] | Mapping[str, Any]) -> tuple[str, str, bool]:
    """The text of a scenario, its name in messages, and whether it is JSON."""
    if isinstance(scenario, Mapping):
        return json.dumps(scenario), "scenario", True
    if isinstance(scenario, str) and "\n" in scenario:
        return scenario, "scenario", False
    path = Path(scenario)
    try:
        return path.read_text(encoding="utf-8"), str(path), False
    except OSError as error:
        raise UnreadableError(f"{path}: cannot read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = f"{path}: cannot read: expected a scenario in TOML, found bytes that are no text"
        raise MalformedError(line) from error


def _value(value: Any) -> str:
    """A value as ``--set`` takes it."""
    return value if isinstance(value, str) else json.dumps(value)
