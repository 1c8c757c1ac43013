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
LONGEST = 300

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
    (folder / f"{name}.drawn.json").write_text(json.dumps({"number": number, **known}))
    return name, words(folder / name, path, ends, number)


def words(name, path, ends, seed):
    """Writes scenario and plan of a transfer; what the path is called with, beside its program."""
    scenario, plan_file = Path(f"{name}.toml"), Path(f"{name}.json")
    scenario.write_text(path)
    plan_file.write_text(json.dumps(ends))
    end = f"{HERE}/end.py"
    return ["--out", str(name), "--seed", str(seed), "--scenario", str(scenario), "--seconds", "90", *ends.get("path", []),
            "--client", f"{end} client {plan_file}", "--server", f"{end} server {plan_file}"]


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


def run(commands, linux, scratch):
    """Runs them in one guest of this kernel, or without one on the running kernel; what was said."""
    if not commands:
        return ""
    if linux:
        return guest(commands, linux, scratch)
    done = [subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False) for command in commands]
    return "".join(each.stdout for each in done)


def record(folder, numbers, path, linux, scratch):
    """Records these numbers and writes their truth; errors as lines."""
    work = [prepared(folder, number) for number in numbers]
    said = run([[path, *command] for _, command in work if command], linux, scratch)
    errors = []
    for name, command in work:
        if command:
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
    *timeline, packets = found
    limits.write(folder / f"{name}.limits.csv", *timeline)
    (folder / f"{name}.known.json").write_text(json.dumps({**known, "packets": [packets]}))
    (folder / f"{name}.drawn.json").unlink()
    return None
