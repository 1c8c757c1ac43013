"""A relay of UDP datagrams between a client and a server on loopback, which delays, drops and doubles by a seeded plan.

    relay.py --front PORT --back PORT --seed N --to-server PLAN --to-client PLAN OUT

The client sends to the front port, the relay to the server's. A plan is words: `delay=MS` (each datagram), `rate=MBITS` and
`queue=DATAGRAMS` (a line behind a queue that drops what does not fit), `late=SHARE,MS` (this share comes later by this time, and
others overtake them), `jitter=MS` (a time up to this for each, so that they overtake each other), `loss=SHARE`, `double=SHARE`,
`after=DATAGRAMS` (from which on these happen), `until=DATAGRAMS`. OUT.csv has a row for each datagram: direction, place in its
direction, when it came and when its copies went on (nanoseconds of the machine's monotonic clock), its length, what happened to
it; OUT.bin has its bytes, one behind the other.
"""
import argparse
import csv
import heapq
import random
import select
import signal
import socket
import time

# Of a socket, so that no datagram is lost outside the plan.
BUFFER_BYTES = 8 << 20
MS_NS = 1_000_000
# From here on the relay waits without sleeping: a sleep may take a tenth of a millisecond longer than asked.
SPIN_NS = 150_000


def plan_of(text):
    plan = {"delay": 0.0, "rate": 0.0, "queue": 1000.0, "late": 0.0, "lateness": 0.0, "jitter": 0.0, "loss": 0.0,
            "double": 0.0, "after": 0.0, "until": float("inf")}
    for word in text.split():
        key, value = word.split("=")
        if key == "late":
            value, lateness_ms = value.split(",")
            plan["lateness"] = float(lateness_ms)
        if key not in plan:
            raise SystemExit(f"relay: no word {key}; known: {', '.join(plan)}")
        plan[key] = float(value)
    return plan


class Direction:
    """What happens to the datagrams of one direction."""

    def __init__(self, name, plan, seed):
        self.name, self.plan, self.random = name, plan, random.Random(f"{seed} {name}")
        self.count, self.free_ns, self.on_line = 0, 0, []

    def fate(self, now_ns, size):
        """When its copies go on, and what happens to it."""
        plan, draw = self.plan, [self.random.random() for _ in range(5)]
        place, self.count = self.count, self.count + 1
        active = plan["after"] <= place < plan["until"]
        if active and draw[0] < plan["loss"]:
            return [], "lost"
        leaves_ns = now_ns
        if plan["rate"]:
            while self.on_line and self.on_line[0] <= now_ns:
                self.on_line.pop(0)
            if len(self.on_line) >= plan["queue"]:
                return [], "queue"
            leaves_ns = max(now_ns, self.free_ns) + int(size * 8 * 1000 / plan["rate"])
            self.free_ns = leaves_ns
            self.on_line.append(leaves_ns)
        at_ns, fate = leaves_ns + int(plan["delay"] * MS_NS), "passed"
        if active and draw[1] < plan["late"]:
            at_ns, fate = at_ns + int(plan["lateness"] * MS_NS), "late"
        if active:
            at_ns += int(draw[2] * plan["jitter"] * MS_NS)
        if active and draw[3] < plan["double"]:
            return [at_ns, at_ns + int(draw[4] * 2 * MS_NS)], fate + " doubled"
        return [at_ns], fate


class Relay:
    """Both sockets, and what waits for its time."""

    def __init__(self, args):
        self.front, self.back = udp(), udp()
        self.front.bind(("127.0.0.1", args.front))
        self.back.connect(("127.0.0.1", args.back))
        self.client = None
        self.ways = {self.front: Direction("to-server", plan_of(args.to_server), args.seed),
                     self.back: Direction("to-client", plan_of(args.to_client), args.seed)}
        self.waiting, self.rows, self.order = [], [], 0
        self.bytes = open(args.out + ".bin", "wb")

    def run(self, ended):
        poll = select.poll()
        for one in self.ways:
            poll.register(one, select.POLLIN)
        sockets = {one.fileno(): one for one in self.ways}
        while not ended:
            now_ns = time.monotonic_ns()
            self.send(now_ns)
            wait_ns = self.waiting[0][0] - now_ns if self.waiting else 50 * MS_NS
            wait_ms = 0 if wait_ns < SPIN_NS else min((wait_ns - SPIN_NS) / MS_NS, 50)
            for fileno, _ in poll.poll(wait_ms):
                self.receive(sockets[fileno])

    def receive(self, from_socket):
        while True:
            try:
                data, address = from_socket.recvfrom(65536)
            except BlockingIOError:
                return
            except ConnectionRefusedError:
                continue
            now_ns = time.monotonic_ns()
            if from_socket is self.front:
                self.client = address
            way = self.ways[from_socket]
            times, fate = way.fate(now_ns, len(data))
            row = [way.name, way.count - 1, now_ns, len(data), fate]
            self.rows.append(row)
            self.bytes.write(data)
            for at_ns in times:
                self.order += 1
                heapq.heappush(self.waiting, (at_ns, self.order, from_socket is self.front, data, row))

    def send(self, now_ns):
        while self.waiting and self.waiting[0][0] <= now_ns:
            _, _, to_server, data, row = heapq.heappop(self.waiting)
            try:
                if to_server:
                    self.back.send(data)
                else:
                    self.front.sendto(data, self.client)
            except OSError:
                # The end has gone.
                continue
            row.append(time.monotonic_ns())

    def write(self, out):
        self.bytes.close()
        with open(out + ".csv", "w", encoding="ascii", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["direction", "place", "came_ns", "bytes", "fate", "went_on_ns"])
            for way, place, came_ns, size, fate, *times in self.rows:
                rows.writerow([way, place, came_ns, size, fate, " ".join(map(str, times))])


def udp():
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for side in (socket.SO_RCVBUF, socket.SO_SNDBUF):
        made.setsockopt(socket.SOL_SOCKET, side, BUFFER_BYTES)
    made.setblocking(False)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--front", type=int, required=True)
    parser.add_argument("--back", type=int, required=True)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--to-server", default="")
    parser.add_argument("--to-client", default="")
    parser.add_argument("out")
    args = parser.parse_args()
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    relay = Relay(args)
    print("ready", flush=True)
    relay.run(ended)
    relay.write(args.out)


main()
