"""Fetches and builds the programs of validation/quic into the user's cache folder; nothing of a stack's code lies in the repository."""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "inorder", "quic")
BIN = os.path.join(CACHE, "bin")
PYTHON = os.path.join(CACHE, "python", "bin", "python")
# Seconds after which a build is given up.
LONGEST_S = 1800


class Missing(Exception):
    """Why something cannot be built here, in a few words."""


def tool(name):
    if not shutil.which(name):
        raise Missing(f"{name} is not installed")


def command(words, **options):
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=LONGEST_S, **options)
    except subprocess.TimeoutExpired as why:
        raise Missing(f"{' '.join(words[:3])} took too long") from why
    if done.returncode:
        tail = "\n".join(done.stdout.strip().splitlines()[-5:])
        raise Missing(f"{' '.join(words[:3])} failed: {tail}")


def python():
    """aioquic and qh3; the package cryptography, which aioquic needs, opens the datagrams."""
    wanted = os.path.join(HERE, "requirements.txt")
    if not os.path.exists(PYTHON):
        command([sys.executable, "-m", "venv", os.path.join(CACHE, "python")])
    command([PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", wanted])
    linked("asyncio_end.py")


def linked(script):
    """The cache outlives clones: a link may lead into one that is gone."""
    link, script = os.path.join(BIN, script), os.path.join(HERE, script)
    if os.path.realpath(link) != script:
        if os.path.lexists(link):
            os.remove(link)
        os.symlink(script, link)


def ngtcp2():
    for at in ("/usr/bin/gtlsclient", "/usr/sbin/gtlsserver"):
        if not os.path.exists(at):
            raise Missing(f"{at} is not there (Debian: ngtcp2-client, ngtcp2-server)")
    linked("ngtcp2_end.py")


def go():
    tool("go")
    for name in ("quicgo", "xnet"):
        command(["go", "build", "-o", os.path.join(BIN, name), f"./{name}"], cwd=f"{HERE}/go")


def go_old():
    """The same program with an older version of quic-go, which logs an older draft."""
    tool("go")
    modules = os.path.join(HERE, "go", "old.mod")
    command(["go", "build", "-modfile", modules, "-o", os.path.join(BIN, "quicgo-old"), "./quicgo"], cwd=f"{HERE}/go")


def cargo(folder, name):
    tool("cargo")
    target = os.path.join(CACHE, folder)
    command(["cargo", "build", "-q", "--locked", "--manifest-path", f"{HERE}/{folder}/Cargo.toml", "--target-dir", target])
    shutil.copy2(os.path.join(target, "debug", name), os.path.join(BIN, name))


def quiche():
    # Its TLS is built from source.
    for name in ("cmake", "c++"):
        tool(name)
    cargo("quiche", "quiche-end")


BUILDERS = {"python": python, "go": go, "go-old": go_old, "quinn": lambda: cargo("quinn", "quinn-end"), "quiche": quiche, "ngtcp2": ngtcp2}


def build(names):
    """Builds what is named of BUILDERS. Returns {name: why it is not there}."""
    os.makedirs(BIN, exist_ok=True)
    # What opens the datagrams.
    python()
    missing = {}
    for name in sorted(set(names) - {"python"}):
        try:
            BUILDERS[name]()
        except Missing as why:
            missing[name] = str(why)
    return missing
