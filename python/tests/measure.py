"""Measures what the package costs beside the command, on a capture with a million events; prints figures, asserts nothing
about time.

    python python/tests/measure.py [PAIRS]

The capture is made here: one TCP flow of two million packets, captured at its receiver, in which each second packet comes
before the first. Command and package run in alternating processes; the figure is user time, in seconds.
"""

import os
import resource
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

EVENTS = 1_000_000
PAYLOAD = 100

PACKAGE = """
import sys, inorder
result = inorder.analyze(sys.argv[1], what_if=False, threads=1)
[flow] = result.flows.to_dicts()
assert flow["reordered"] == int(sys.argv[2]), flow["reordered"]
"""

COMMAND = "import sys; sys.argv[0] = 'inorder'; from inorder._inorder import command; sys.exit(command())"


def segment(port: int, peer: int, seq: int, ack: int, flags: int, payload: int, reverse: bool) -> bytes:
    """An Ethernet frame with a TCP segment without options."""
    ends = (b"\x0a\0\0\1", b"\x0a\0\0\2")
    src, dst = ends[::-1] if reverse else ends
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40 + payload, 0, 0x4000, 64, 6, 0, src, dst)
    tcp = struct.pack("!HHIIBBHHH", port, peer, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, 0x50, flags, 65535, 0, 0)
    return b"\2\0\0\0\0\1\2\0\0\0\0\2\x08\0" + ip + tcp + bytes(payload)


def write(path: Path) -> None:
    """The capture, with snap length of the headers."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 64, 1))

        def put(time_ns: int, frame: bytes) -> None:
            kept = frame[:64]
            file.write(struct.pack("<IIII", *divmod(time_ns, 1_000_000_000), len(kept), len(frame)) + kept)

        put(0, segment(1000, 2000, 999, 0, 0x02, 0, False))
        put(10_000, segment(2000, 1000, 499, 1000, 0x12, 0, True))
        put(5_000_000, segment(1000, 2000, 1000, 500, 0x10, 0, False))
        time_ns = 6_000_000
        for pair in range(EVENTS):
            base = 1000 + 2 * pair * PAYLOAD
            for seq in (base + PAYLOAD, base):
                time_ns += 10_000
                put(time_ns, segment(1000, 2000, seq, 500, 0x10, PAYLOAD, False))
            put(time_ns + 1_000, segment(2000, 1000, 500, base + 2 * PAYLOAD, 0x10, 0, True))


def user_seconds(*arguments: str) -> float:
    """User time of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([sys.executable, "-c", *arguments], check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def speed(capture: Path, pairs: int) -> None:
    ratios = []
    for _ in range(pairs):
        options = ["--no-what-if", "--threads", "1", "--events", "--csv", "--rows", "flows"]
        command = user_seconds(COMMAND, "analyze", *options, str(capture))
        package = user_seconds(PACKAGE, str(capture), str(EVENTS))
        ratios.append(package / command)
        print(f"analyze: command {command:.2f} s, package {package:.2f} s, ratio {ratios[-1]:.3f}", flush=True)
    print(f"analyze: median ratio {sorted(ratios)[len(ratios) // 2]:.3f}")


def addresses(table: object) -> list[list[int]]:
    import pyarrow

    columns = pyarrow.table(table).columns
    return [[b.address for chunk in c.chunks for b in chunk.buffers() if b] for c in columns]


def copies(capture: Path) -> None:
    import polars

    import inorder

    events = inorder.analyze(capture, what_if=False).events
    frame = polars.DataFrame(events)
    same = addresses(frame) == addresses(events)
    size = frame.estimated_size("mb")
    print(f"events: {frame.height:,} rows, {frame.width} columns, {size:.0f} MB; the same addresses in Polars: {same}")


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "million.pcap"
        write(capture)
        print(f"capture: {os.path.getsize(capture) / 1e6:.0f} MB, {3 * EVENTS + 3:,} frames")
        copies(capture)
        speed(capture, pairs)


if __name__ == "__main__":
    main()
