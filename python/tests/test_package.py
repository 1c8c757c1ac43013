"""The types, the documentation and the command of the package."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, run

import inorder

MODULES = ["inorder", *(f"inorder.{m.name}" for m in pkgutil.iter_modules(inorder.__path__))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_examples_in_the_guide() -> None:
    guide = ROOT / "docs" / "python.md"
    done = doctest.testfile(str(guide), module_relative=False)
    assert done.attempted > 10 and done.failed == 0


def test_everything_public_says_what_it_is() -> None:
    for name in inorder.__all__:
        if not name.startswith("__"):
            assert getattr(inorder, name).__doc__, name


def check(*arguments: str) -> None:
    done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types() -> None:
    check("mypy", "--config-file", "pyproject.toml")


def test_stubs_say_what_the_native_part_has() -> None:
    check("mypy.stubtest", "--concise", "--mypy-config-file", "pyproject.toml", "inorder._inorder")


def test_the_version_is_that_of_the_command() -> None:
    assert run("--version").split() == ["inorder", inorder.__version__]


def test_the_command_uses_its_exit_codes(tmp_path: Path) -> None:
    run("analyze", "--wrong", code=2)
    run("analyze", str(tmp_path / "none.pcap"), code=1)
    run("analyze", "-q", "--threshold", "late=1%", "testdata/demo/demo-sender.pcap", code=4)
