"""What the programs of this folder share: how they are called, and how they ask `inorder`."""
import importlib.machinery
import importlib.util
import json
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def numbers(text):
    """`from-to`, the last one not included."""
    first, _, end = text.partition("-")
    return range(int(first), int(end))


def drawn(parser, usual):
    """The arguments of all programs that look at drawn transfers: the folder, which numbers, and the program."""
    parser.add_argument("folder", type=Path)
    parser.add_argument("--numbers", type=numbers, default=range(usual), help="from-to, the last one not included")
    parser.add_argument("--inorder", default=ROOT / "target" / "release" / "inorder", help="the program")


def script(name):
    """A program of this folder as a module: its file has no suffix."""
    loader = importlib.machinery.SourceFileLoader(name, str(HERE / name))
    spec = importlib.util.spec_from_loader(name, loader)
    out = importlib.util.module_from_spec(spec)
    loader.exec_module(out)
    return out


def analysis(command, capture, *options):
    """The JSON document of `inorder analyze`; `command` is the program or a list of words that call it."""
    words = list(command) if isinstance(command, (list, tuple)) else [command]
    done = subprocess.run([*words, "analyze", "--quiet", *options, "--json=-", capture], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise RuntimeError(f"{capture}: {done.stderr.decode(errors='replace').strip()}")
    return json.loads(done.stdout)


def largest_flow(said):
    """The flow with the most data."""
    return max(said["flows"], key=lambda flow: flow["data_bytes"])
