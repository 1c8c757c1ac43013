"""The verb ``lab``."""

import os
from collections.abc import Mapping
from typing import Any, Literal

from inorder._inorder import Table
from inorder._inorder import lab as _lab
from inorder.simulation import Simulation, given, options


class OnLinux(Simulation):
    """The runs of a scenario on real Linux. The tables are those of :class:`Simulation`, and two more."""

    @property
    def agreement(self) -> Table:
        """With ``beside_simulation=True`` a row for each measure of each cell: the means on Linux and simulated with half the
        width of their 95 % intervals, their ratio, and whether they agree within 15 %."""
        return self.table("agreement")

    @property
    def failures(self) -> Table:
        """A row for each run that has no result, with the reason."""
        return self.table("failures")


def lab(
    scenario: str | os.PathLike[str] | Mapping[str, Any],
    *,
    engine: Literal["uml", "uml-package", "netns"] = "uml",
    guest: str | os.PathLike[str] | None = None,
    beside_simulation: bool = False,
    set: Mapping[str, Any] | None = None,
    seed: int | None = None,
    repetitions: int | None = None,
    quick: bool = False,
    samples: bool = False,
    threads: int | None = None,
) -> OnLinux:
    """Runs a scenario on a real Linux kernel: User Mode Linux, or namespaces of this system's kernel.

    `scenario`, `set`, `seed`, `repetitions`, `quick`, `samples` and `threads` (machines at once) are as for :func:`simulate`, and so are the
    tables of the result. Random numbers are the kernel's own: runs differ, and the intervals say by how much. `engine` is ``"uml"``
    (a virtual clock and no rights needed; ``inorder lab kernel`` builds the kernel once), ``"uml-package"`` (the kernel of Debian's
    package user-mode-linux, in real time) or ``"netns"`` (as root, in real time). The program ``inorder-guest``, which runs in the machine, is not part of the wheel: it is installed with the command (``cargo install``, the
    Debian package) and found in ``PATH``, or is `guest`. `beside_simulation` also simulates the scenario and compares both.

    Raises :class:`LabError` if the kernel or the guest's program is missing, or a machine does not start; :class:`UsageError` for a key
    that real Linux cannot carry out, with its place in the scenario; :class:`MalformedError`, :class:`UnreadableError`.
    A run that fails is a row of :attr:`OnLinux.failures`.

    >>> scenario = {"run": {"duration": "1 s"}, "flow": [{}], "forward": [{"kind": "delay", "delay": "5 ms"}]}
    >>> scenario["reverse"] = scenario["forward"]
    >>> lab(scenario, guest="/nowhere/inorder-guest")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    inorder.errors.LabError: ...
    """
    text, name, is_json = given(scenario)
    changes = options(set, seed, repetitions, quick, samples, threads)
    program = None if guest is None else os.fspath(guest)
    return OnLinux(_lab(text, name, is_json, changes, engine, program, beside_simulation))
