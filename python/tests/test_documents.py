"""The Python programs in the documents run as they stand, with captures of ours in place of the reader's.

The examples of docs/python.md are doctests (test_package.py); here are those without a prompt.
"""

import re
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import distributed
import pytest
from conftest import ROOT

import inorder


def programs(document: str) -> list[str]:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / document).read_text(), re.DOTALL | re.MULTILINE)
    return [block for block in blocks if ">>>" not in block]


def documents() -> list[str]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [str(page.relative_to(ROOT)) for page in pages]


PROGRAMS = [(document, at) for document in documents() for at in range(len(programs(document)))]


class Deployment(distributed.LocalCluster):
    """Stands in for a deployment on a batch system or on Kubernetes: one worker in this process, and what it was asked."""

    asked: dict[str, Any]

    def __init__(self, **asked: Any) -> None:
        Deployment.asked = asked
        super().__init__(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None)

    def adapt(self, *, maximum_jobs: int) -> None:
        assert maximum_jobs > 0


def deployment(module: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = ModuleType(module)
    setattr(stand_in, name, Deployment)
    monkeypatch.setitem(sys.modules, module, stand_in)


def test_some_programs_are_found() -> None:
    assert {document for document, _ in PROGRAMS} >= {"README.md", "docs/corpora.md"}


@pytest.mark.parametrize(("document", "at"), PROGRAMS)
def test_a_program_runs(document: str, at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = programs(document)[at]
    if "testdata/" not in program:
        # The reader's folders: captures to be read, and places for results.
        shutil.copytree(ROOT / "testdata" / "demo", tmp_path / "captures", ignore=lambda _, names: [
            name for name in names if not name.endswith(".pcap")
        ])
        (tmp_path / "results").mkdir()
        monkeypatch.chdir(tmp_path)
        for remote, here in {"s3://bucket": tmp_path, "/shared": tmp_path, "/results": tmp_path / "results"}.items():
            program = program.replace(f'"{remote}/', f'"{here}/')
    monkeypatch.setitem(sys.modules, "dask_kubernetes", ModuleType("dask_kubernetes"))
    deployment("dask_kubernetes.operator", "KubeCluster", monkeypatch)
    deployment("dask_jobqueue", "SLURMCluster", monkeypatch)
    names: dict[str, Any] = {}
    try:
        exec(compile(program, f"{document}, program {at + 1}", "exec"), names)
        if "corpus(" in program:
            [study] = [place for place in tmp_path.rglob("study") if place.is_dir()]
            assert inorder.Study(study).tally()["items_done"] == 2
    finally:
        if isinstance(cluster := names.get("cluster"), Deployment):
            cluster.close()
