#!/usr/bin/python3
"""The running kernel as one end of the path: `kernel.py client|server up BYTES | fetch TIMES BYTES [KEY=VALUE...]`.

Makes a network namespace of its own with a TUN device, hands the device to the path through the standard input (see
path/src/end.rs), and transfers by ordinary sockets. The namespace ends with the program. Keys: flows=N (connections at
the same time, to ports 5001 and above), and sysctls below net.ipv4, such as tcp_sack=0 or tcp_congestion_control=reno."""
import ctypes
import fcntl
import os
import socket
import struct
import subprocess
import sys
import threading
import time

PORT, REQUEST, LINGER = 5001, 100, 0.7
CLONE_NEWNET, TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x40000000, 0x400454CA, 1, 0x1000
ADDRESS = {"client": "192.0.2.1", "server": "192.0.2.2"}


def namespace():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        sys.exit(f"kernel: a network namespace cannot be made: {os.strerror(ctypes.get_errno())}")


def device(address):
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH14x", b"path", IFF_TUN | IFF_NO_PI))
    for words in (f"addr add {address}/24 dev path", "link set path txqueuelen 1000 up"):
        subprocess.run(["ip", *words.split()], check=True)
    return tun


def settings(keys):
    files = {f"/proc/sys/net/ipv4/{key}": value for key, value in keys.items()}
    # The path carries IPv4 alone.
    if os.path.exists("/proc/sys/net/ipv6"):
        files["/proc/sys/net/ipv6/conf/all/disable_ipv6"] = "1"
    for name, value in files.items():
        with open(name, "w") as file:
            file.write(value)


def take(connection, length):
    """Reads `length` bytes, or to the end."""
    while length > 0:
        part = connection.recv(min(length, 1 << 16))
        if not part:
            return
        length -= len(part)


def client(connection, work):
    if work[0] == "up":
        connection.sendall(bytes(work[1]))
        connection.shutdown(socket.SHUT_WR)
        take(connection, 1 << 40)
        return
    for _ in range(work[1]):
        connection.sendall(bytes(REQUEST))
        take(connection, work[2])


def server(connection, work):
    if work[0] == "fetch":
        for _ in range(work[1]):
            take(connection, REQUEST)
            connection.sendall(bytes(work[2]))
    take(connection, 1 << 40)


def main():
    role, kind, *rest = sys.argv[1:]
    numbers = [int(word) for word in rest if "=" not in word]
    keys = dict(word.split("=", 1) for word in rest if "=" in word)
    flows = int(keys.pop("flows", 1))
    namespace()
    settings(keys)
    tun = device(ADDRESS[role])
    ports = range(PORT, PORT + flows)
    listeners = [socket.create_server(("", port)) for port in ports] if role == "server" else []
    socket.send_fds(socket.socket(fileno=os.dup(0)), [b"t"], [tun])

    def transfer(i):
        if role == "client":
            with socket.create_connection((ADDRESS["server"], ports[i])) as connection:
                client(connection, (kind, *numbers))
        else:
            with listeners[i].accept()[0] as connection:
                server(connection, (kind, *numbers))

    threads = [threading.Thread(target=transfer, args=(i,)) for i in range(flows)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(LINGER)


main()
