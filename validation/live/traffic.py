"""Traffic whose content is known, for validation/live/run.

    traffic.py serve PORT                               TCP and UDP on all addresses, until it is killed
    traffic.py transfer HOST PORT CONNECTIONS BYTES     all connections at once; every byte is compared
    traffic.py datagrams HOST PORT COUNT MOST           each is sent back; sizes up to MOST, beyond the MTU, too
    traffic.py sink PORT FILE                           one connection; when data came, seconds since the epoch
    traffic.py pour HOST PORT SECONDS BYTES_PER_SECOND  sends to the sink at a steady rate

It ends with an error if something is not as it was sent.
"""

import asyncio
import hashlib
import random
import socket
import struct
import sys
import threading
import time

HEAD = struct.Struct("!QQ")
PATIENCE_S = 60


def content(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


def both(kind: socket.SocketKind, port: int) -> socket.socket:
    """A socket for IPv4 and IPv6."""
    made = socket.socket(socket.AF_INET6, kind)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    made.bind(("::", port))
    return made


def echo(port: int) -> None:
    receiver = both(socket.SOCK_DGRAM, port)
    while True:
        data, address = receiver.recvfrom(1 << 16)
        receiver.sendto(data, address)


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers data with its hash."""
    _, size = HEAD.unpack(await reader.readexactly(HEAD.size))
    writer.write(hashlib.sha256(await reader.readexactly(size)).digest())
    await writer.drain()
    writer.close()


async def serve(port: int) -> None:
    threading.Thread(target=echo, args=(port,), daemon=True).start()
    listener = both(socket.SOCK_STREAM, port)
    server = await asyncio.start_server(answer, sock=listener, backlog=4096, limit=1 << 26)
    await server.serve_forever()


async def transfer(host: str, port: int, connections: int, size: int) -> None:
    async def one(seed: int) -> None:
        data = content(seed, size)
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(HEAD.pack(seed, size) + data)
        found = await reader.readexactly(32)
        writer.close()
        if found != hashlib.sha256(data).digest():
            sys.exit(f"connection {seed}: the data is not what was sent")

    start = time.monotonic()
    await asyncio.wait_for(asyncio.gather(*map(one, range(connections))), PATIENCE_S)
    print(f"{connections} connections, {connections * size / 1e6:.1f} MB, {time.monotonic() - start:.2f} s")


def datagrams(host: str, port: int, count: int, most: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sender = socket.socket(family, socket.SOCK_DGRAM)
    sender.settimeout(2)
    for number in range(count):
        data = content(number, 1 + (number * most) // count)
        sender.sendto(data, (host, port))
        if sender.recv(1 << 16) != data:
            sys.exit(f"datagram {number} of {len(data)} bytes: came back changed or out of order")
    print(f"{count} datagrams of up to {most} bytes")


def sink(port: int, path: str) -> None:
    listener = both(socket.SOCK_STREAM, port)
    listener.listen()
    # The file says that it listens.
    with open(path, "w", buffering=1) as out:
        connection, _ = listener.accept()
        while connection.recv(1 << 16):
            out.write(f"{time.time():.4f}\n")
        out.write("end\n")


def pour(host: str, port: int, seconds: float, rate: float) -> None:
    connection = socket.create_connection((host, port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    start, sent, piece = time.monotonic(), 0, bytes(8192)
    while (passed := time.monotonic() - start) < seconds:
        if sent > passed * rate:
            time.sleep(len(piece) / rate / 2)
            continue
        connection.sendall(piece)
        sent += len(piece)
    connection.shutdown(socket.SHUT_WR)


def main(words: list[str]) -> None:
    match words:
        case ["serve", port]:
            asyncio.run(serve(int(port)))
        case ["transfer", host, port, connections, size]:
            asyncio.run(transfer(host, int(port), int(connections), int(size)))
        case ["datagrams", host, port, count, most]:
            datagrams(host, int(port), int(count), int(most))
        case ["sink", port, path]:
            sink(int(port), path)
        case ["pour", host, port, seconds, rate]:
            pour(host, int(port), float(seconds), float(rate))
        case _:
            sys.exit(__doc__)


main(sys.argv[1:])
