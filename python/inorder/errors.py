"""The exceptions of this package. Each message is the one line that the command prints."""

from typing import Any


class Error(Exception):
    """What every exception of this package is."""


class UsageError(Error, ValueError):
    """An argument has a value that does not exist, or two arguments contradict each other."""


class InputError(Error):
    """Something that was to be read cannot be used."""


class UnreadableError(InputError, OSError):
    """A file cannot be opened or read."""


class NotACaptureError(InputError, ValueError):
    """A file is no capture, or one whose frames cannot be read."""


class DamagedError(InputError, ValueError):
    """The input is damaged; what came before the damage was used.

    ``partial`` has the result of that part, or ``None``.
    """

    partial: Any = None


class MalformedError(InputError, ValueError):
    """Input other than a capture (a scenario, a net, a list of numbers) is malformed."""


class LabError(Error, RuntimeError):
    """The lab lacks something (a kernel, a program, rights), or a step of it failed."""
