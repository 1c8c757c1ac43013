"""Builds the programs of validation/stacks into the user's cache folder; nothing of a stack's code lies in the repository."""
import glob
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.realpath(__file__))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "inorder", "stacks")
BIN = os.path.join(CACHE, "bin")
# lwIP's settings of each of its programs (lwip/lwipopts.h).
LWIP = {"lwip": [], "lwip-small": ["-DSMALL"], "lwip-options": ["-DOPTIONS"]}
LWIP_CORE = ("core/*.c", "core/ipv4/icmp.c", "core/ipv4/ip4.c", "core/ipv4/ip4_addr.c", "core/ipv4/ip4_frag.c")


class Missing(Exception):
    """Why something cannot be built here, in a few words."""


def tool(name):
    if not shutil.which(name):
        raise Missing(f"{name} is not installed")


def command(words, **options):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode:
        tail = "\n".join(done.stdout.strip().splitlines()[-5:])
        raise Missing(f"{' '.join(words[:3])} failed: {tail}")


def cargo(folder, name):
    tool("cargo")
    target = os.path.join(CACHE, folder)
    command(["cargo", "build", "-q", "--manifest-path", f"{HERE}/{folder}/Cargo.toml", "--target-dir", target])
    shutil.copy2(os.path.join(target, "debug", name), os.path.join(BIN, name))


def path():
    cargo("path", "path")


def smoltcp():
    cargo("smoltcp", "smoltcp")


def gvisor():
    tool("go")
    command(["go", "build", "-o", os.path.join(BIN, "gvisor"), "."], cwd=f"{HERE}/gvisor")


def lwip():
    tool("gcc")
    source = lwip_source()
    files = [f for pattern in LWIP_CORE for f in sorted(glob.glob(os.path.join(source, "src", pattern)))]
    for name, settings in LWIP.items():
        include = [f"-I{HERE}/lwip", f"-I{source}/src/include"]
        command(["gcc", "-O1", "-w", *settings, *include, "-o", os.path.join(BIN, name), f"{HERE}/lwip/main.c", *files])


def lwip_source():
    """Unpacks Debian's source package, by the machine's own list of archives with sources added, and without changing that list."""
    found = glob.glob(os.path.join(CACHE, "lwip", "lwip-*", "src"))
    if found:
        return os.path.dirname(found[0])
    for name in ("apt-get", "dpkg-source"):
        tool(name)
    folder = os.path.join(CACHE, "lwip")
    parts = os.path.join(folder, "parts")
    for name in ("parts", "lists/partial"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    lists = [*glob.glob("/etc/apt/sources.list.d/*"), "/etc/apt/sources.list"]
    for number, file in enumerate(lists):
        if os.path.exists(file):
            with open(file, encoding="utf-8") as f:
                text = f.read()
            if "debian" not in text.lower():
                continue
            text = re.sub(r"(?m)^(Types: )?deb(?= |$)", r"\1deb-src", text)
            end = ".sources" if file.endswith(".sources") else ".list"
            with open(os.path.join(parts, f"{number}{end}"), "w", encoding="utf-8") as f:
                f.write(text)
    options = {"Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": parts,
               "Dir::State::lists": os.path.join(folder, "lists"), "Dir::Cache::srcpkgcache": "", "Dir::Cache::pkgcache": ""}
    apt = ["apt-get", "-q", *(f"-o{key}={value}" for key, value in options.items())]
    command([*apt, "update"])
    command([*apt, "source", "lwip"], cwd=folder)
    return lwip_source()


def slirp():
    tool("gcc")
    if not os.path.exists("/usr/include/slirp/libslirp.h"):
        raise Missing("libslirp is not installed (Debian: libslirp-dev)")
    command(["gcc", "-O1", "-o", os.path.join(BIN, "slirp"), f"{HERE}/slirp/main.c", "-lslirp", "-lpthread"])


def kernel():
    tool("ip")
    link = os.path.join(BIN, "kernel.py")
    if not os.path.lexists(link):
        os.symlink(f"{HERE}/kernel.py", link)


# What builds the programs whose names begin so.
BUILDERS = {"kernel": kernel, "gvisor": gvisor, "lwip": lwip, "smoltcp": smoltcp, "slirp": slirp}


def build(names):
    """Builds the path and what is named of BUILDERS. Returns {name: why it is not there}."""
    os.makedirs(BIN, exist_ok=True)
    path()
    missing = {}
    for name in sorted(names):
        try:
            BUILDERS[name]()
        except Missing as why:
            missing[name] = str(why)
    return missing


def builder_of(program):
    """Whose program it is: lwip of lwip-small, kernel of kernel.py."""
    return re.match("[a-z]+", program)[0]
