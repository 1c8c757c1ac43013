"""What a log has, read in the simplest way: a twin of crates/qlog, which counts and does not judge."""
import json

SPACES = {"initial": "initial", "handshake": "handshake"}
NO_NUMBER = ("retry", "version_negotiation", "stateless_reset")


def events(path):
    """Name, time and data of each event; a document, or a value in each line."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        whole = [json.loads(text)]
    except ValueError:
        whole = list(lines(text))
    for value in whole:
        for trace in value.get("traces", []):
            yield from trace.get("events", [])
        if "name" in value and "data" in value:
            yield value


def lines(text):
    for line in text.replace("\x1e", "\n").splitlines():
        if line.strip():
            try:
                yield json.loads(line)
            except ValueError:
                # The program ended while it wrote.
                return


def kind(event):
    return event["name"].rsplit(":", 1)[-1].lower()


def packet(data):
    """Space and number; None if it has none."""
    header = data.get("header") or data
    of_type = header.get("packet_type") or data.get("type") or data.get("packet_type") or "1RTT"
    number = header.get("packet_number", data.get("packet_number"))
    if of_type.lower() in NO_NUMBER or number is None:
        return None
    return SPACES.get(of_type.lower(), "application"), int(number)


def length(data):
    raw = data.get("raw") or {}
    header = data.get("header") or {}
    return raw.get("length") or header.get("packet_size") or header.get("length") or 0


class Log:
    """What the logs of one end of a recording say."""

    def __init__(self, path):
        self.sent, self.lost, self.windows, self.kinds, self.version = [], [], [], {}, None
        self.sent_ms, self.losses_ms, self.trips, self.trip = {}, [], [], {}
        self.path = path
        with open(path, encoding="utf-8") as file:
            head = file.read(2000)
        for word in ("qlog_version", "file_schema"):
            if f'"{word}"' in head:
                rest = head.split(f'"{word}"', 1)[1]
                self.version = rest.split('"')[1]
        for event in events(path):
            self.event(kind(event), float(event.get("time") or 0), event.get("data") or {}, event["name"])

    def event(self, of_kind, at_ms, data, name):
        self.kinds[name] = self.kinds.get(name, 0) + 1
        if of_kind == "packet_sent" and (one := packet(data)):
            self.sent.append((*one, length(data), at_ms))
            self.sent_ms[one] = at_ms
        elif of_kind == "packet_lost" and (one := packet(data)):
            self.lost.append((*one, at_ms, data.get("trigger")))
            self.losses_ms.append(at_ms)
        elif of_kind in ("metrics_updated", "recovery_metrics_updated"):
            # quiche counts losses and does not name the packets.
            if data.get("cf_lost_packets"):
                self.losses_ms.append(at_ms)
            window = data.get("congestion_window", data.get("cwnd"))
            if window is not None:
                self.windows.append((at_ms, float(window)))
            self.trip.update({name: float(data[name]) for name in ("smoothed_rtt", "latest_rtt") if name in data})
            self.trips.append((at_ms, max(self.trip.values(), default=0)))

    def unit_ns(self):
        """Of round trips: milliseconds, or seconds if they are that small."""
        return 1e9 if self.trips and max(trip for _, trip in self.trips) < 2 else 1e6

    def rtt_ns(self, at_ms):
        """The greater of the smoothed and the latest round trip at a time of the log."""
        known = [trip for when, trip in self.trips if when <= at_ms]
        return known[-1] * self.unit_ns() if known else 0

    def least_rtt_ns(self, at_ms):
        """The lesser of that and the next one: programs measure before they declare losses, and log it before or afterwards."""
        after = [trip for when, trip in self.trips if when > at_ms]
        return min(self.rtt_ns(at_ms), *(trip * self.unit_ns() for trip in after[:1])) if after else self.rtt_ns(at_ms)
