#!/usr/bin/python3
"""One end of a transfer over real Linux TCP, with a log from which its truth is read: `end.py client|server PLAN.json`.

Makes a network namespace of its own with a TUN device, hands the device to the path through the standard input
(validation/stacks/path), and transfers as the plan says. The client, which sends the data (or asks), writes beside the plan
- NAME.info.csv: what the kernel's TCP_INFO says every few milliseconds, and how many bytes wait in the socket;
- NAME.writes.csv: when the application was writing, so that a blocked writer is known.
Times are nanoseconds since the epoch, as in the captures. It runs on the running kernel and in User Mode Linux alike."""
import csv
import ctypes
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time

PORT, LINGER = 5001, 0.3
CLONE_NEWNET, TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x40000000, 0x400454CA, 1, 0x1000
SIOCOUTQ, TCP_CC_INFO = 0x5411, 26
SO_SNDBUFFORCE, SO_RCVBUFFORCE, SO_MAX_PACING_RATE = 32, 33, 47
ADDRESS = {"client": "192.0.2.1", "server": "192.0.2.2"}
#: The fields of `struct tcp_info` (include/uapi/linux/tcp.h), up to the last one that is read.
BYTES = "state ca_state retransmits probes backoff options wscale flags".split()
WORDS = ("rto ato snd_mss rcv_mss unacked sacked lost retrans fackets last_data_sent last_ack_sent last_data_recv last_ack_recv pmtu "
         "rcv_ssthresh rtt rttvar snd_ssthresh snd_cwnd advmss reordering rcv_rtt rcv_space total_retrans").split()
LONGS = "pacing_rate max_pacing_rate bytes_acked bytes_received".split()
MORE = "segs_out segs_in notsent_bytes min_rtt data_segs_in data_segs_out".split()
CLOCKS = "delivery_rate busy_time rwnd_limited sndbuf_limited".split()
LATER = "delivered delivered_ce".split()
SENT = "bytes_sent bytes_retrans".split()
LAST = "dsack_dups reord_seen rcv_ooopack snd_wnd".split()
FIELDS = BYTES + WORDS + LONGS + MORE + CLOCKS + LATER + SENT + LAST
LAYOUT = struct.Struct(f"<8B{len(WORDS)}I{len(LONGS)}Q{len(MORE)}I{len(CLOCKS)}Q{len(LATER)}I{len(SENT)}Q{len(LAST)}I")
KEPT = ("state ca_state retransmits backoff snd_mss unacked sacked lost retrans rtt snd_ssthresh snd_cwnd total_retrans pacing_rate "
        "bytes_acked notsent_bytes min_rtt busy_time rwnd_limited sndbuf_limited snd_wnd flags").split()


def namespace():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        sys.exit(f"end: a network namespace cannot be made: {os.strerror(ctypes.get_errno())}")


def device(address, route):
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH14x", b"path", IFF_TUN | IFF_NO_PI))
    for words in (f"addr add {address}/24 dev path", "link set path txqueuelen 1000 up"):
        subprocess.run(["ip", *words.split()], check=True)
    if route:
        subprocess.run(["ip", "route", "replace", "192.0.2.0/24", "dev", "path", *route], check=True)
    return tun


def settings(keys):
    files = {f"/proc/sys/net/ipv4/{key}": value for key, value in keys.items()}
    if os.path.exists("/proc/sys/net/ipv6"):
        files["/proc/sys/net/ipv6/conf/all/disable_ipv6"] = "1"
    for name, value in files.items():
        with open(name, "w", encoding="ascii") as file:
            file.write(str(value))


def options(sock, plan):
    for name, option, beyond in (("send_buffer", socket.SO_SNDBUF, SO_SNDBUFFORCE), ("receive_buffer", socket.SO_RCVBUF, SO_RCVBUFFORCE)):
        if name in plan:
            # The kernel doubles what it is given, for its own overhead, and bounds it by a maximum of the whole host unless forced.
            sock.setsockopt(socket.SOL_SOCKET, beyond if plan.get("forced") else option, int(plan[name]))
    if "pacing" in plan:
        sock.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, plan["pacing"])
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, plan["control"].encode())
    if plan.get("no_delay"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class Writes:
    """When the application was inside a call that writes."""

    def __init__(self, sock, begun):
        self.sock, self.calls, self.busy, self.begun = sock, [], None, begun

    def write(self, data):
        start = time.time_ns()
        self.busy = start
        self.sock.sendall(data)
        self.calls.append((start, time.time_ns()))
        self.busy = None
        if len(self.calls) == 1:
            self.begun()


def send(sock, work, writes):
    """Writes what the plan's application has, until its size or its time is over."""
    end = time.monotonic() + work["seconds"]
    left = work.get("size") or 1 << 60
    if work["kind"] == "requests":
        return ask(sock, work, writes, end)
    piece = work.get("write", 16_384)
    due = time.monotonic()
    while left > 0 and time.monotonic() < end:
        writes.write(bytes(min(left, piece)))
        left -= piece
        if work["kind"] == "paced":
            due = max(due + piece * 8 / work["rate"], time.monotonic() - 0.1)
            time.sleep(max(0, due - time.monotonic()))


def ask(sock, work, writes, end):
    """One request after the other, or some ahead of the answers."""
    for _ in range(work.get("ahead", 0)):
        writes.write(bytes(work["request"]))
    while time.monotonic() < end:
        writes.write(bytes(work["request"]))
        take(sock, work["response"])
        time.sleep(work["think"])


class Server:
    """A socket that stops reading once the client has ended: its last packet may have been lost."""

    def __init__(self, sock, ended):
        self.sock, self.ended = sock, ended
        sock.settimeout(1)

    def recv(self, length):
        while True:
            try:
                return self.sock.recv(length)
            except TimeoutError:
                if os.path.exists(self.ended):
                    return b""
            except ConnectionResetError:
                return b""

    def sendall(self, data):
        self.sock.settimeout(20)
        self.sock.sendall(data)
        self.sock.settimeout(1)


def take(sock, length):
    while length > 0:
        part = sock.recv(min(length, 1 << 16))
        if not part:
            return False
        length -= len(part)
    return True


def serve(sock, plan):
    work = plan["work"]
    if work["kind"] == "requests":
        while take(sock, work["request"]):
            sock.sendall(bytes(work["response"]))
    elif "read" in plan["server"]:
        read = plan["server"]["read"]
        while sock.recv(read["bytes"]):
            time.sleep(read["bytes"] * 8 / read["rate"])
    else:
        take(sock, 1 << 60)


def sample(sock, every, rows, over):
    while not over.is_set():
        raw = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 280)
        now = time.time_ns()
        if len(raw) < LAYOUT.size:
            sys.exit("end: this kernel's TCP_INFO is too old")
        info = dict(zip(FIELDS, LAYOUT.unpack_from(raw)))
        gains = struct.unpack_from("<2I", sock.getsockopt(socket.IPPROTO_TCP, TCP_CC_INFO, 20).ljust(20, b"\0"), 12)
        queued = struct.unpack("i", fcntl.ioctl(sock, SIOCOUTQ, bytes(4)))[0]
        rows.append([now, *(info[name] for name in KEPT), *gains, queued])
        over.wait(every)


def table(path, head, rows):
    with open(path, "w", newline="", encoding="ascii") as file:
        csv.writer(file).writerows([head, *rows])


def client(plan, name):
    sock = socket.socket()
    options(sock, plan["client"])
    sock.connect((ADDRESS["server"], PORT))
    rows, over = [], threading.Event()
    sampler = threading.Thread(target=sample, args=(sock, plan["every"], rows, over))
    # The first sample comes after the first write: before it, the kernel says that there is nothing to send.
    writes = Writes(sock, sampler.start)
    try:
        sock.settimeout(plan["work"]["seconds"])
        send(sock, plan["work"], writes)
        sock.shutdown(socket.SHUT_WR)
        take(sock, 1 << 60)
    except OSError:
        # Its time is over, or the path was interrupted for too long: what waits in the buffer is given up.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    over.set()
    if sampler.ident:
        sampler.join()
    table(f"{name}.info.csv", ["ns", *KEPT, "pacing_gain", "cwnd_gain", "queued"], rows)
    table(f"{name}.writes.csv", ["start_ns", "end_ns"], writes.calls + ([(writes.busy, time.time_ns())] if writes.busy else []))
    sock.close()


def server(plan):
    listener = socket.create_server(("", PORT))
    options(listener, plan["server"])
    return listener


def main():
    role, file = sys.argv[1:]
    with open(file, encoding="utf-8") as text:
        plan = json.load(text)
    namespace()
    settings(plan[role].get("sysctl", {}))
    tun = device(ADDRESS[role], plan[role].get("route"))
    listener = server(plan) if role == "server" else None
    socket.send_fds(socket.socket(fileno=os.dup(0)), [b"t"], [tun])
    if role == "client":
        client(plan, file.removesuffix(".json"))
    else:
        with listener.accept()[0] as sock:
            serve(Server(sock, file.removesuffix(".json") + ".info.csv"), plan)
    time.sleep(LINGER)


main()
