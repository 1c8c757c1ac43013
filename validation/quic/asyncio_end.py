"""Transfers over aioquic, or over qh3, which has the same interface. `asyncio_end.py aioquic|qh3 server PORT` or
`asyncio_end.py aioquic|qh3 client PORT up|down BYTES [CONGESTION]`. What is sent says go/transfer."""
import asyncio
import importlib
import os
import ssl
import sys

STACK = sys.argv[1]
# When all is there, acknowledgements of what came late are to arrive.
LINGER_S = 0.4
LONGEST_S = 120
WINDOW = 64 << 20

configuration = importlib.import_module(f"{STACK}.quic.configuration")
logger = importlib.import_module(f"{STACK}.quic.logger")
front = importlib.import_module(f"{STACK}.asyncio")


def settings(is_client, congestion=None):
    made = configuration.QuicConfiguration(
        is_client=is_client, alpn_protocols=["inorder"], max_data=WINDOW, max_stream_data=WINDOW, idle_timeout=20,
        quic_logger=logger.QuicFileLogger(os.environ["QLOGDIR"]),
        secrets_log_file=open(os.environ["SSLKEYLOGFILE"], "a", encoding="ascii"))
    if congestion:
        made.congestion_control_algorithm = congestion
    if is_client:
        made.verify_mode = ssl.CERT_NONE
        made.server_name = "localhost"
    else:
        made.load_cert_chain(os.environ["CERT"], os.environ["KEY"])
    return made


async def serve(port, congestion):
    ended = asyncio.Event()

    async def answer(reader, writer):
        request = await reader.readexactly(9)
        while await reader.read(1 << 16):
            pass
        size = int.from_bytes(request[1:], "big") if request[:1] == b"d" else 1
        writer.write(bytes(size))
        writer.write_eof()

    class Ends(front.QuicConnectionProtocol):
        def quic_event_received(self, event):
            super().quic_event_received(event)
            if type(event).__name__ == "ConnectionTerminated":
                ended.set()

    await front.serve("127.0.0.1", port, configuration=settings(False, congestion), create_protocol=Ends,
                      stream_handler=lambda reader, writer: asyncio.ensure_future(answer(reader, writer)))
    print("ready", flush=True)
    await ended.wait()
    await asyncio.sleep(0.2)


async def ask(port, way, size, congestion):
    async with front.connect("127.0.0.1", port, configuration=settings(True, congestion), local_port=0) as connection:
        reader, writer = await connection.create_stream()
        writer.write(way[:1].encode() + size.to_bytes(8, "big"))
        if way == "up":
            writer.write(bytes(size))
        writer.write_eof()
        while await reader.read(1 << 16):
            pass
        await asyncio.sleep(LINGER_S)


def main():
    words = sys.argv[2:]
    if words[0] == "server":
        task = serve(int(words[1]), *(words[2:] or [None]))
    else:
        task = ask(int(words[1]), words[2], int(words[3]), *(words[4:] or [None]))
    asyncio.run(asyncio.wait_for(task, LONGEST_S))


main()
