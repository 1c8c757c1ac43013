"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from inorder.errors import UsageError


def free(path: Path, force: bool | None = None) -> Path:
    """Refuses to replace a file, unless that is wanted; `None` is for callers who cannot be asked for it."""
    if path.exists() and not force:
        way = "" if force is None else ", or --force to replace it"
        raise UsageError(f"{path}: this file exists already; expected a new file{way}")
    return path


@contextmanager
def draft(path: Path, force: bool | None = None) -> Iterator[Path]:
    """A name beside `path`, with the same end, for a file that becomes `path` when the block ends.

    If the block fails, as on a full disk, what was written goes and an older `path` stays as it is. What is no regular
    file, such as a pipe or a terminal, is written directly.
    """
    target = free(path, force).resolve()
    if target.exists() and not target.is_file():
        yield target
        return
    beside = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    try:
        yield beside
        beside.replace(target)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
