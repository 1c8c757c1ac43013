"""What `inorder analyze` proposes, carried out: each kind of action as a change of the plan and the path of a transfer."""
import copy
import re
import shlex

COMMAND, PREFIX = "sysctl -w ", "net.ipv4."
#: Requests that are under way beside the one whose answer is awaited.
AHEAD = 3


#: Of a packet with timestamps on Ethernet, the payload.
PAYLOAD = 1448 / 1514


class Cannot(Exception):
    """Why an action cannot be carried out here."""


def sysctls(action):
    """What the commands of an action set below `net.ipv4`."""
    words = [word for line in action["commands"] if line.startswith(COMMAND) for word in shlex.split(line.removeprefix(COMMAND))]
    return dict(word.removeprefix(PREFIX).split("=", 1) for word in words if word.startswith(PREFIX))


def both(plan, **keys):
    for end in ("client", "server"):
        plan[end]["sysctl"].update(keys)


def settings(path, plan, action):
    both(plan, **{key: value for key, value in sysctls(action).items() if key != "tcp_congestion_control"})
    return path


def buffer(key, setting):
    """A larger buffer; an application that sets it asks for as much itself."""
    def change(path, plan, action):
        keys = sysctls(action)
        both(plan, **{key: keys[key] for key in (setting, "tcp_sack") if key in keys})
        for end in ("client", "server"):
            if key in plan[end]:
                plan[end][key] = int(keys[setting].split()[-1])
        return path
    return change


def control(path, plan, action):
    for end in ("client", "server"):
        plan[end]["control"] = sysctls(action)["tcp_congestion_control"]
    return path


def reader(path, plan, action):
    if not plan["server"].pop("read", None):
        raise Cannot("the application reads as fast as it can")
    return path


def application(path, plan, action):
    if plan["work"]["kind"] != "requests":
        raise Cannot("there are no requests")
    plan["work"]["ahead"] = AHEAD
    return path


def no_delay(path, plan, action):
    """Both ends: either may hold the end of what it sends back."""
    for end in ("client", "server"):
        plan[end]["no_delay"] = True
    return path


def route(path, plan, action):
    """Attributes of a route: what stands behind the device, or behind the gateway."""
    found = [m for line in action["commands"] if (m := re.search(r"(rto_min|mtu|reordering|congctl) (\S+)$", line))]
    if not found:
        raise Cannot("no route is named")
    for end in ("client", "server"):
        plan[end]["route"] = [found[0][1], found[0][2]]
    return path


def path_mtu(path, plan, action):
    """Where nobody tells the sender, it tries smaller packets; else the route has the MTU."""
    return settings(path, plan, action) if sysctls(action) else route(path, plan, action)


def shape(path, plan, action):
    """One socket is paced. The pacer of a device counts headers, too, that of a socket does not."""
    kbit = number_in(action["commands"], r"maxrate (\d+)kbit")
    plan["client"]["pacing"] = int(kbit * 1000 / 8 * PAYLOAD)
    return path


def number_in(commands, pattern):
    found = [m for line in commands if (m := re.search(pattern, line))]
    return int(found[0][1]) if found else 0


def sort(path, plan, action):
    """A card in front of the receiver sorts."""
    sorter = re.search(r"sees them: (\S+), which", action["advice"])
    if not sorter:
        raise Cannot("no sorter is named")
    coalesce_ns = 1000 * number_in(action["commands"], r"rx-usecs (\d+)")
    plan["path"] = [*plan.get("path", []), "--card", f"{sorter[1]},{coalesce_ns}"]
    return path


def queue(path, plan, action):
    """The queue of the bottleneck is fq_codel's, with as many packets as Linux gives it."""
    target = number_in(action["commands"], r"target (\d+)ms") or 5
    interval = number_in(action["commands"], r"interval (\d+)ms") or 100
    keys = f'queue = "10240 packets"\nqueue_discipline = "fq-codel"\ntarget = "{target} ms"\ninterval = "{interval} ms"'
    managed = re.sub(r'queue = "\d+ packets"\nqueue_discipline = "drop-tail"', keys, path)
    if managed == path:
        raise Cannot("the queue is managed already")
    return managed


def without(kind):
    def change(path, plan, action):
        less = re.sub(rf'\[\[(forward|reverse)\]\]\nkind = "{kind}"\n(\w+ = .*\n)*', "", path)
        if less == path:
            raise Cannot("nothing interrupts the path")
        return less
    return change


def one_way(path, plan, action):
    less = re.sub(r'policy = "\S+"', 'policy = "flow"', path)
    if less == path:
        raise Cannot("there is one way only")
    return less


CHANGES = {"wait-longer": settings, "sack": settings, "undo": settings, "scaling": settings, "probe": settings,
           "window": buffer("receive_buffer", "tcp_rmem"), "send-buffer": buffer("send_buffer", "tcp_wmem"), "control": control,
           "reader": reader, "application": application, "no-delay": no_delay, "timer": route, "path-mtu": path_mtu, "shape": shape, "sort": sort, "queue": queue, "outage": without("outage"),
           "one-way": one_way}


def holds(action, version):
    """Whether an action holds for a kernel of this version, `(6, 18)`, as far as it names one."""
    before = re.search(r"before (\d+)\.(\d+)", action.get("holds", ""))
    return not before or version < (int(before[1]), int(before[2]))


def carried_out(path, plan, action):
    """Path and plan with an action."""
    change = CHANGES.get(action["kind"])
    if not change:
        raise Cannot("nothing here does that")
    plan = copy.deepcopy(plan)
    return change(path, plan, action), plan


def sets(kind, words):
    return {"kind": kind, "commands": [f"{COMMAND}{words}"]}


#: What could be set, whatever is the matter: where nothing is proposed, none of it should help.
ANY = {
    "larger receive buffer": sets("window", "net.ipv4.tcp_rmem='4096 131072 16777216'"),
    "larger send buffer": sets("send-buffer", "net.ipv4.tcp_wmem='4096 131072 16777216'"),
    "options on": sets("sack", "net.ipv4.tcp_sack=1 net.ipv4.tcp_timestamps=1 net.ipv4.tcp_window_scaling=1"),
    "BBR": sets("control", "net.ipv4.tcp_congestion_control=bbr"),
    "CUBIC": sets("control", "net.ipv4.tcp_congestion_control=cubic"),
    "managed queue": {"kind": "queue", "commands": ["tc qdisc replace dev IF root fq_codel"]},
    "shorter timer": {"kind": "timer", "commands": ["ip route change X rto_min 20ms"]},
    "longer timer": {"kind": "timer", "commands": ["ip route change X rto_min 1s"]},
    "threshold of 300": sets("wait-longer", "net.ipv4.tcp_reordering=300"),
    "no delay": {"kind": "no-delay", "commands": []},
    "MTU probing": sets("probe", "net.ipv4.tcp_mtu_probing=1"),
}


def alternatives(path, plan):
    """All settings that would change something: (name, path, plan)."""
    for name, action in ANY.items():
        try:
            other = carried_out(path, plan, action)
        except Cannot:
            continue
        if other != (path, plan):
            yield name, *other
