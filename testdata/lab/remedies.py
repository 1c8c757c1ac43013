"""What `inorder analyze` proposes, carried out: each kind of action as a change of a simulated transfer's scenario."""
import re

from real.actions import PAYLOAD, Cannot, number_in, sysctls

#: Every buffer that matters is smaller.
LARGE = '"16777216 B"'
#: Where Linux's own queue would begin.
FQ_CODEL_PACKETS = 10240


def put(scenario, **settings):
    """Keys of both ends or of one: `sender__sack = "true"`."""
    for key, value in settings.items():
        key = key.replace("__", ".")
        scenario = re.sub(rf"^{re.escape(key)} = .*\n", "", scenario, flags=re.M)
        scenario = re.sub(r"^return_route = .*\n", rf"\g<0>{key} = {value}\n", scenario, flags=re.M)
    return scenario


def faster(scenario, factor):
    """Every line faster by a factor."""
    return re.sub(r'^rate = "(\d+) bit/s"', lambda found: f'rate = "{int(int(found[1]) * factor)} bit/s"', scenario, flags=re.M)


def less(scenario, pattern, missing):
    """Without what `pattern` matches."""
    changed = re.sub(pattern, "", scenario, flags=re.M)
    if changed == scenario:
        raise Cannot(missing)
    return changed


def largest(action, key):
    """The last of the three sizes of a buffer that the commands set."""
    return f'"{sysctls(action)[key].split()[-1]} B"'


def sized(key, scenario, action, **settings):
    """A size or scaling, and SACK where the command has it, too."""
    if "tcp_sack" in sysctls(action):
        scenario = put(scenario, sender__sack="true", receiver__sack="true")
    return put(scenario, **(settings or {key: largest(action, "tcp_rmem" if key.startswith("receiver") else "tcp_wmem")}))


def options(scenario, action):
    on = {f"{end}__{option}": "true" for end in ("sender", "receiver") for option in ("sack", "dsack", "timestamps")}
    return put(scenario, **on)


def wait_longer(scenario, action):
    threshold = sysctls(action).get("tcp_reordering") or number_in(action["commands"], r"reordering (\d+)")
    return put(scenario, sender__loss_detection='"static"', sender__dupthresh=f'"{threshold} packets"')


def queue(scenario, action):
    target, interval = (number_in(action["commands"], rf"{word} (\d+)ms") or usual for word, usual in (("target", 5), ("interval", 100)))
    managed = f'queue = "{FQ_CODEL_PACKETS} packets"\nqueue_discipline = "fq-codel"\ntarget = "{target} ms"\ninterval = "{interval} ms"'
    changed = re.sub(r'queue = "\d+ packets"\nqueue_discipline = "drop-tail"', managed, scenario)
    if changed == scenario:
        raise Cannot("the queue is managed already")
    return changed


def timer(scenario, action):
    found = re.search(r"rto_min (\d+)(m?s)$", "\n".join(action["commands"]), re.M)
    if not found:
        raise Cannot("no timer is named")
    return put(scenario, sender__rto_min=f'"{found[1]} {found[2]}"')


def shape(scenario, action):
    bits = number_in(action["commands"], r"maxrate (\d+)kbit") * 1000 * PAYLOAD
    return put(scenario, sender__pacing=f'"{int(bits)} bit/s"')


def sort(scenario, action):
    sorter = re.search(r"sees them: (\S+), which", action["advice"])
    if not sorter:
        raise Cannot("no sorter is named")
    wait_us = number_in(action["commands"], r"rx-usecs (\d+)")
    return scenario + f'\n[receiver_card]\nsorter = "{sorter[1]}"\ncoalesce = "{wait_us} us"\n'


#: Without what cannot be simulated: what applications do differently, and packets that are too large.
CHANGES = {
    "window": lambda scenario, action: sized("receiver__receive_buffer", scenario, action),
    "scaling": lambda scenario, action: sized("", scenario, action, sender__window_scaling="true", receiver__window_scaling="true"),
    "send-buffer": lambda scenario, action: sized("sender__send_buffer", scenario, action),
    "reader": lambda scenario, action: less(scenario, r'^read(_rate)? = .*\n', "the application reads as fast as it can"),
    "no-delay": lambda scenario, action: put(scenario, sender__nagle='"off"', receiver__nagle='"off"'),
    "control": lambda scenario, action: put(scenario, sender__congestion='"bbr"'),
    "outage": lambda scenario, action: less(scenario, r'^\[\[line.stage\]\]\nkind = "outage"\n(\w.*\n)*', "nothing interrupts the path"),
    "one-way": lambda scenario, action: less(scenario, r'^\[\[line.stage\]\]\nkind = "(late|reorder)"\n(\w.*\n)*', "packets come in order"),
    "sack": options, "undo": options, "wait-longer": wait_longer, "queue": queue, "timer": timer, "shape": shape, "sort": sort,
}

#: What could be set, whatever is the matter: where nothing is proposed, none of it should help.
ANY = {
    "larger receive buffer": lambda scenario: put(scenario, receiver__receive_buffer=LARGE),
    "larger send buffer": lambda scenario: put(scenario, sender__send_buffer=LARGE),
    "window scaling": lambda scenario: put(scenario, sender__window_scaling="true", receiver__window_scaling="true"),
    "options on": lambda scenario: options(scenario, None),
    "BBR": lambda scenario: put(scenario, sender__congestion='"bbr"'),
    "CUBIC": lambda scenario: put(scenario, sender__congestion='"cubic"'),
    "shorter timer": lambda scenario: put(scenario, sender__rto_min='"20 ms"'),
    "longer timer": lambda scenario: put(scenario, sender__rto_min='"1 s"'),
    "no delay": lambda scenario: CHANGES["no-delay"](scenario, None),
}


def carried_out(scenario, action):
    """The scenario with an action."""
    change = CHANGES.get(action["kind"])
    if not change:
        raise Cannot("nothing here does that")
    changed = change(scenario, action)
    if changed == scenario:
        raise Cannot("that is so already")
    return changed


def alternatives(scenario):
    """All settings that would change something: (name, scenario)."""
    all_of_them = ((name, change(scenario)) for name, change in ANY.items())
    return [(name, changed) for name, changed in all_of_them if changed != scenario]
