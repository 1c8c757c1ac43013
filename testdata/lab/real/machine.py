"""Runs drawn transfers on real Linux: many in one guest of the lab's kernel in virtual time, where a busy machine changes nothing,
or on the running kernel in real time. Either way `path` (validation/stacks/path) starts both ends and is the path between them."""
import json
import os
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path

from real import limits, plan

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "inorder"
#: Longest time that a guest may take for each of its transfers, seconds of the machine.
LONGEST = 120

HEAD = """#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C PYTHONDONTWRITEBYTECODE=1
exec </dev/null >{log} 2>&1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /run
"""
TAIL = "echo recorded; sync; echo o >/proc/sysrq-trigger; sleep 60\n"


def kernel():
    """The lab's kernel (build-kernel)."""
    return CACHE / "uml" / "linux"


def prepared(folder, number):
    """Writes scenario and plan of a number; its name, and the words of the command, or None if it is there already."""
    name, path, ends, known = plan.drawn(number)
    if (folder / f"{name}.known.json").exists():
        return name, None
    (folder / f"{name}.toml").write_text(path)
    (folder / f"{name}.json").write_text(json.dumps(ends))
    (folder / f"{name}.drawn.json").write_text(json.dumps({"number": number, **known}))
    end = f"{HERE}/end.py"
    file = folder / f"{name}.json"
    return name, ["--out", str(folder / name), "--seed", str(number), "--scenario", str(folder / f"{name}.toml"), "--seconds", "90",
                  "--client", f"{end} client {file}", "--server", f"{end} server {file}"]


def guest(commands, linux, scratch):
    """One boot for all of them; what the guest said."""
    work = Path(tempfile.mkdtemp(prefix="guest-", dir=scratch))
    log, init = work / "log", work / "init"
    init.write_text(HEAD.format(log=log) + "".join(shlex.join(map(str, words)) + "\n" for words in commands) + TAIL)
    init.chmod(0o755)
    command = [linux, "mem=512M", "root=/dev/root", "rootfstype=hostfs", "hostfs=/", "rw", f"init={init}", "con=null", "con0=null", "quiet",
               "time-travel=inf-cpu", f"uml_dir={work}/"]
    machine = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=dict(os.environ, TMPDIR=str(work)), start_new_session=True)
    try:
        machine.wait(timeout=LONGEST * len(commands))
    except subprocess.TimeoutExpired:
        pass
    finally:
        try:
            os.killpg(machine.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return log.read_text(errors="replace") if log.exists() else ""


def record(folder, numbers, path, linux, scratch):
    """Records these numbers and writes their truth; errors as lines."""
    work = [prepared(folder, number) for number in numbers]
    commands = [[path, *words] for _, words in work if words]
    said = ""
    if commands and linux:
        said = guest(commands, linux, scratch)
    elif commands:
        for words in commands:
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            said += done.stdout
    errors = []
    for name, words in work:
        if words:
            error = finish(folder, name)
            errors += [f"{name}: {error}"] if error else []
    return errors, said


def finish(folder, name):
    """The truth of a recording; why there is none, if so."""
    known = json.loads((folder / f"{name}.drawn.json").read_text())
    if not (folder / f"{name}.info.csv").exists():
        return "the ends did not finish"
    found = limits.timeline(folder / name, known)
    if not found:
        return "no data was sent"
    limits.write(folder / f"{name}.limits.csv", *found)
    (folder / f"{name}.drawn.json").rename(folder / f"{name}.known.json")
    return None
