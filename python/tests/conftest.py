"""What all tests share: the folder they run in, and the command."""

import csv
import io
import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: The command of the package that is tested, in a process of its own.
COMMAND = "import sys; sys.argv[0] = 'inorder'; from inorder._inorder import command; sys.exit(command())"

# Whoever starts the tests in the background may have them ignore Ctrl-C, which some of them send.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths in tests and examples are relative to the checkout."""
    monkeypatch.chdir(ROOT)


def run(*arguments: str, code: int = 0) -> str:
    """What the command prints."""
    environment = os.environ | {"COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments], capture_output=True, text=True, env=environment
    )
    assert done.returncode == code, done.stderr
    return done.stdout


def agree(table: Any, printed: str) -> None:
    """Asserts that a table has the rows and columns of CSV that the command printed."""
    header, *lines = csv.reader(io.StringIO(printed))
    # A timestamp knows its unit.
    assert [plain(name) for name in header] == [plain(name) for name in table.columns]
    rows = table.to_dicts()
    assert len(rows) == len(lines)
    for row, line in zip(rows, lines):
        for (name, value), text in zip(row.items(), line):
            assert same(value, text), (name, value, text)


def plain(name: str) -> str:
    return name.removesuffix("_ns")


def same(value: Any, text: str) -> bool:
    if value is None:
        return text == ""
    if isinstance(value, bool):
        return text == str(value).lower()
    if isinstance(value, float):
        # A number that is not known is empty in CSV.
        return text == "" if math.isnan(value) else float(text) == value
    return str(value) == text
