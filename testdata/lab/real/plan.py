"""Transfers over real Linux, drawn from their numbers: the same kinds of trouble as transfers.py, as settings of sockets and hosts."""
import re

import transfers
from draw import Draw

#: Congestion controls of the lab's kernel.
CONTROLS = ["cubic"] * 6 + ["reno"] * 3 + ["bbr"] * 3 + ["bic", "westwood", "highspeed", "yeah", "htcp", "vegas"]


def number_of(text):
    """The number of a scenario's value with a unit, `"1200 B"`."""
    return float(re.search(r"[\d.]+", text)[0])


def bytes_of(text):
    return int(number_of(text) * {"kB": 1e3, "MB": 1e6}.get(text.strip('"').split()[-1], 1))


def application(t):
    """What the client does: in the words of a scenario, as a plan."""
    value = {key: number_of(text) for key, text in re.findall(r'(\w+) = "([\d.]+ [^"]+)"', t.application)}
    if '"paced"' in t.application:
        return {"kind": "paced", "rate": value["rate"], "write": int(value["write"])}
    if '"interactive"' in t.application:
        return {"kind": "requests", "request": int(value["request"]), "response": int(value["response"]), "think": value["think"] / 1e6}
    return {"kind": "bulk"}


def host(t, keys, control):
    """Settings of a host and of its socket."""
    sysctl = {"tcp_no_metrics_save": 1}
    for key, setting in (("timestamps", "tcp_timestamps"), ("sack", "tcp_sack"), ("window_scaling", "tcp_window_scaling")):
        if keys.get(key) == "false":
            sysctl[setting] = 0
    out = {"sysctl": sysctl, "control": control}
    for key in ("send_buffer", "receive_buffer"):
        if key in keys:
            out[key] = bytes_of(keys[key])
    return out


def outages(t):
    """When the path is interrupted, from and until, nanoseconds of its time."""
    times = re.findall(r'kind = "outage"\nfrom = "(\d+) us"\nuntil = "(\d+) us"', "\n".join(t.forward + t.reverse))
    return sorted({(int(a) * 1000, int(b) * 1000) for a, b in times})


def drawn(number):
    """A name, and what is `made` of a number."""
    draw = Draw(f"real {number}")
    return f"real-{number}", *made(draw, transfers.kinds(draw), CONTROLS)


def made(draw, chosen, controls):
    """Of kinds of trouble: the scenario of the path, the plan of both ends, and what the score needs to know."""
    t = transfers.shape(draw, chosen)
    control = draw.choice(controls)
    seconds = min(20, t.seconds)
    plan = {"work": {**application(t), "seconds": seconds, "size": int(t.size) if t.size else 0}, "seconds": 20,
            # Some samples in each round trip; more would only make the guest slow.
            "every": min(0.02, max(0.002, t.rtt / 10)),
            "client": host(t, t.sender, control), "server": host(t, t.receiver, control)}
    if "mtu" in t.flow:
        plan["path"] = t.flow["mtu"]
    if "read_rate" in t.flow:
        plan["server"]["read"] = {"rate": number_of(t.flow["read_rate"]), "bytes": bytes_of(t.flow["read"])}
    plan["client"]["no_delay"] = draw.chance(0.3)
    path = f'[run]\nduration = "1000 s"\n\n[[probe]]\nrate = "1 bit/s"\n\n' + transfers.ways(t)
    known = {"kinds": [kind.__name__.replace("_", "-") for kind in chosen], "rate": t.rate, "rtt": t.rtt, "before": 0,
             "forward_ns": round(t.rtt / 2 * 1e9), "control": control, "nagle": not plan["client"]["no_delay"], "outages": outages(t),
             "policed": transfers.policer in chosen}
    return path, plan, known
