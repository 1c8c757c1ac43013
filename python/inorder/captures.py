"""Captures by path and by URL, and the progress of studies."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inorder._inorder import list_captures
from inorder.errors import UsageError

#: Called with the number of tasks that are done, and of all.
Progress = Callable[[int, int], object]


def opener(storage_options: Mapping[str, Any] | None) -> Callable[[str], Any]:
    """What opens captures by URL."""

    def open_url(url: str) -> Any:
        return _fsspec().open(url, "rb", **(storage_options or {})).open()

    return open_url


def listed_captures(places: Sequence[str], storage_options: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The captures that places name: their names in results, where they are, and what changes when they change."""
    here = [place for place in places if "://" not in place]
    captures: list[dict[str, Any]] = json.loads(list_captures(here)) if here else []
    for place in places:
        if "://" in place:
            captures += _listed_by_url(place, storage_options)
    return sorted(captures, key=lambda capture: str(capture["file"]))


#: Ends of the names of captures in folders of a bucket, where looking into every object would cost a request each; of
#: files the content decides (crates/pipeline/src/source/below.rs).
_ENDS = tuple(end + more for end in (".pcap", ".pcapng", ".cap") for more in ("", ".gz", ".zst", ".zstd", ".xz", ".bz2", ".lz4"))


def _listed_by_url(place: str, storage_options: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    system, root = _fsspec().url_to_fs(place, **(storage_options or {}))
    if any(sign in root for sign in "*?["):
        found = system.glob(root, detail=True)
        base = root.split("*")[0].split("?")[0].split("[")[0].rpartition("/")[0]
    elif system.isfile(root):
        found, base = {root: system.info(root)}, root.rpartition("/")[0]
    else:
        found = {name: about for name, about in system.find(root, detail=True).items() if name.lower().endswith(_ENDS)}
        base = root.rstrip("/")
    if not found:
        raise UsageError(f"{place}: no capture here, expected a capture, a folder of captures or a pattern")
    captures = []
    for name, about in found.items():
        version = next((about[key] for key in ("ETag", "etag", "mtime", "LastModified", "created") if key in about), None)
        captures.append(
            {
                "file": name.removeprefix(base).lstrip("/"),
                "path": _whole(system.unstrip_protocol(name), place),
                "bytes": about.get("size"),
                "version": None if version is None else str(version),
            }
        )
    return captures


def _whole(url: str, place: str) -> str:
    """The URL of a capture in `place`, with the host that systems of files on a host leave out of their paths.

    >>> _whole("sftp:///data/a.pcap", "sftp://me@host:22/data"), _whole("s3://bucket/a.pcap", "s3://bucket")
    ('sftp://me@host:22/data/a.pcap', 's3://bucket/a.pcap')
    """
    scheme, _, rest = place.partition("://")
    host = rest.partition("/")[0]
    return url.replace(":///", f"://{host}/", 1) if url.startswith(f"{scheme}:///") else url


def _fsspec() -> Any:
    try:
        import fsspec
    except ImportError:
        raise UsageError("captures in a bucket need fsspec: pip install '.[cluster]' in a checkout of inorder") from None
    return fsspec


def show(done: int, all: int) -> None:
    """Draws the progress on a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done} of {all} tasks" + ("\n" if done == all else ""))
        sys.stderr.flush()
