"""Many TCP connections from namespace a to 10.0.0.2 in namespace b, in one program without threads.

    flows.py FLOWS BYTES      each flow carries BYTES bytes; ends when all have arrived, and fails if one has not
    flows.py FLOWS forever    until SIGUSR1; fails if a connection broke or its bytes were not those sent

What arrives must be what was sent: the bytes of a flow follow from its number and their place.
"""

import ctypes
import os
import selectors
import signal
import socket
import sys
import time

PIECE = bytes(range(256)) * 64
MAX_SECONDS = 600
CLONE_NEWNET = 0x40000000


def in_namespace(name: str, make):
    """Calls `make` in a network namespace: a socket stays in that in which it was made."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{name}") as namespace, open("/proc/self/ns/net") as own:
        if libc.setns(namespace.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
        made = make()
        libc.setns(own.fileno(), CLONE_NEWNET)
    return made


def piece(at: int, most: int) -> bytes:
    begin = at % 256
    return PIECE[begin : begin + min(most, len(PIECE) - 256)]


def listening() -> socket.socket:
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("", 5001))
    server.listen(20000)
    server.setblocking(False)
    return server


def opening(number: int) -> socket.socket:
    client = socket.socket()
    client.bind(("10.0.0.1", 0))
    client.setblocking(False)
    client.connect_ex(("10.0.0.2", 5001))
    return client


class Flows:
    def __init__(self, flows: int, size: int | None):
        self.size = size
        self.stop = False
        self.finished = 0
        self.flows = flows
        self.selector = selectors.EpollSelector()
        self.server = in_namespace("b", listening)
        self.selector.register(self.server, selectors.EVENT_READ, None)
        clients = in_namespace("a", lambda: [opening(number) for number in range(flows)])
        for client in clients:
            self.selector.register(client, selectors.EVENT_WRITE, ["send", 0])

    def run(self) -> bool:
        end = time.monotonic() + MAX_SECONDS
        while self.finished < self.flows:
            if self.size is not None and time.monotonic() > end:
                print(f"@{self.finished} of {self.flows} flows finished", flush=True)
                return False
            for key, _ in self.selector.select(1):
                self.on(key)
        return True

    def on(self, key: selectors.SelectorKey) -> None:
        if key.data is None:
            connection, _ = self.server.accept()
            connection.setblocking(False)
            self.selector.register(connection, selectors.EVENT_READ, ["receive", 0])
        elif key.data[0] == "send":
            self.send(key)
        else:
            self.receive(key)

    def send(self, key: selectors.SelectorKey) -> None:
        sent = key.data[1]
        left = len(PIECE) if self.size is None else self.size - sent
        if left == 0 or self.stop:
            self.selector.unregister(key.fileobj)
            key.fileobj.shutdown(socket.SHUT_WR)
            key.fileobj.close()
            return
        try:
            key.data[1] += key.fileobj.send(piece(sent, left))
        except BlockingIOError:
            pass

    def receive(self, key: selectors.SelectorKey) -> None:
        got = key.fileobj.recv(len(PIECE) - 256)
        at = key.data[1]
        if got:
            if got != piece(at, len(got)):
                sys.exit("@bytes that were not sent")
            key.data[1] += len(got)
            return
        if self.size is not None and at != self.size:
            sys.exit(f"@a flow ended after {at} bytes")
        self.selector.unregister(key.fileobj)
        key.fileobj.close()
        self.finished += 1


def main() -> None:
    flows = int(sys.argv[1])
    size = None if sys.argv[2] == "forever" else int(sys.argv[2])
    world = Flows(flows, size)

    def stop(*_: object) -> None:
        world.stop = True

    signal.signal(signal.SIGUSR1, stop)
    good = world.run()
    # Closing 20,000 sockets one by one takes longer than all else.
    os._exit(0 if good else 1)


main()
