#!/usr/bin/python3
"""Transfers over ngtcp2's example programs of Debian (ngtcp2-client, ngtcp2-server), which speak HTTP/3. `ngtcp2_end.py server PORT` or
`ngtcp2_end.py client PORT up|down BYTES`. Both ends are on this machine: the client lays the file that it asks for."""
import os
import subprocess
import sys
import time

# The file lies beside the folders of the logs.
FOLDER = os.path.join(os.path.dirname(os.environ["QLOGDIR"]), "files")
NAME = "data"


def is_bound(port):
    with open("/proc/net/udp", encoding="ascii") as sockets:
        return any(line.split()[1].endswith(f":{port:04X}") for line in list(sockets)[1:])


def serve(port):
    line = ["/usr/sbin/gtlsserver", "--quiet", "--no-quic-dump", f"--htdocs={FOLDER}", f"--qlog-dir={os.environ['QLOGDIR']}", "127.0.0.1",
            str(port), os.environ["KEY"], os.environ["CERT"]]
    with subprocess.Popen(line, stdin=subprocess.DEVNULL) as server:
        while not is_bound(port) and server.poll() is None:
            time.sleep(0.02)
        print("ready", flush=True)
        # It serves on and on. What it writes last is there when the log has not grown for a while.
        last, same = -1, 0
        while same < 20:
            time.sleep(0.1)
            sizes = sum(entry.stat().st_size for entry in os.scandir(os.environ["QLOGDIR"]))
            same, last = (same + 1 if sizes == last and sizes else 0), sizes
        server.terminate()


def ask(port, way, size):
    at = os.path.join(FOLDER, NAME)
    with open(at, "wb") as file:
        file.truncate(size if way == "down" else 1)
    line = ["/usr/bin/gtlsclient", "--quiet", "--no-quic-dump", "--no-http-dump", "--exit-on-all-streams-close", f"--qlog-dir={os.environ['QLOGDIR']}"]
    if way == "up":
        sent = at + ".up"
        with open(sent, "wb") as file:
            file.truncate(size)
        line += [f"--data={sent}"]
    sys.exit(subprocess.run([*line, "127.0.0.1", str(port), f"https://localhost:{port}/{NAME}"], check=False).returncode)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    if sys.argv[1] == "server":
        serve(int(sys.argv[2]))
    else:
        ask(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))


main()
