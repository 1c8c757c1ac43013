"""The truth of a recording: FOLDER/truth.csv has a row for each packet that was sent, from relay.csv, relay.bin and keys.

    truth.py FOLDER

Times are the relay's, nanoseconds. `overtaken`: by how much the highest number that arrived before was higher. `acked_ns`: when
the first acknowledgement of it arrived. `needed_packets` and `needed_rtts`: the least thresholds (RFC 9002 section 6.1) that do
not declare it lost before that, by what was acknowledged and by the greater of the smoothed and the latest round trip (section
5) after each acknowledgement. Runs with the Python that has the package cryptography.
"""
import collections
import csv
import os
import sys

import wire

MAX_ACK_DELAY_NS = 25_000_000
COLUMNS = ["direction", "space", "number", "bytes", "place", "fate", "asks", "sent_ns", "arrived_ns", "overtaken", "acked_ns",
           "rtt_ns", "needed_packets", "needed_rtts"]


class RoundTrip:
    """The estimate of RFC 9002 section 5."""

    def __init__(self):
        self.latest = self.smoothed = self.least = None

    def measured(self, ns, ack_delay_ns):
        self.latest = ns
        if self.smoothed is None:
            self.smoothed = self.least = ns
            return
        self.least = min(self.least, ns)
        delay_ns = min(ack_delay_ns, MAX_ACK_DELAY_NS)
        adjusted = ns - delay_ns if ns >= self.least + delay_ns else ns
        self.smoothed = (7 * self.smoothed + adjusted) // 8

    def greater(self):
        return max(self.smoothed or 0, self.latest or 0)


def arrivals(packets):
    """Sets `overtaken` of each packet that arrived."""
    events = sorted((packet.datagram.went_on_ns[0], i) for i, packet in enumerate(packets) if packet.datagram.went_on_ns)
    highest = {}
    for _, i in events:
        packet = packets[i]
        before = highest.get((packet.datagram.direction, packet.space), -1)
        packet.overtaken = max(0, before - packet.number)
        highest[packet.datagram.direction, packet.space] = max(before, packet.number)


class Acknowledged:
    """What the acknowledgements of one direction and space have said so far."""

    def __init__(self):
        self.highest, self.steps = -1, []

    def needed(self, packet, trip):
        """Sets what would not have declared the packet lost, which is acknowledged now."""
        packet.rtt_ns = trip.greater()
        if self.highest < packet.number:
            return
        packet.needed_packets = self.highest - packet.number + 1
        # A loss is declared at an acknowledgement, or by the timer that it set, until the next one comes.
        waits = [(until_ns - packet.datagram.came_ns) / rtt_ns for until_ns, rtt_ns, highest in reversed(self.steps)
                 if highest > packet.number and rtt_ns and until_ns > packet.datagram.came_ns]
        packet.needed_rtts = max(waits, default=None)


def acknowledgements(packets):
    """Sets when each packet was first acknowledged, and which thresholds would have waited for that."""
    sent = {(p.datagram.direction, p.space, p.number): p for p in packets}
    came = sorted((p.datagram.went_on_ns[0], i) for i, p in enumerate(packets) if p.acked and p.datagram.went_on_ns)
    said, trips = collections.defaultdict(Acknowledged), collections.defaultdict(RoundTrip)
    for at_ns, i in came:
        ack = packets[i]
        direction = wire.other(ack.datagram.direction)
        so_far, trip = said[direction, ack.space], trips[direction]
        so_far.steps.append((at_ns, trip.greater(), so_far.highest))
        numbers = [(direction, ack.space, n) for low, high in ack.acked for n in range(low, high + 1)]
        newly = [sent[key] for key in numbers if key in sent and sent[key].acked_ns is None]
        if not newly:
            continue
        for packet in newly:
            packet.acked_ns = at_ns
            so_far.needed(packet, trip)
        last = max(newly, key=lambda p: p.number)
        if last.number == max(high for _, high in ack.acked) and any(p.asks_for_ack for p in newly):
            trip.measured(at_ns - last.datagram.came_ns, ack.ack_delay_ns if ack.space == "application" else 0)
        so_far.highest = max(so_far.highest, last.number)


def after_the_end(packets):
    """An end that has closed takes nothing more: what comes then has not arrived."""
    for direction in ("to-server", "to-client"):
        closing = [p.datagram.came_ns for p in packets if p.closes and p.datagram.direction == wire.other(direction)]
        for packet in packets:
            datagram = packet.datagram
            if closing and datagram.direction == direction:
                in_time = [ns for ns in datagram.went_on_ns if ns < min(closing)]
                if datagram.went_on_ns and not in_time:
                    datagram.fate += " after-close"
                datagram.went_on_ns = in_time


def packets_of(folder):
    opener = wire.Opener(os.path.join(folder, "keys"))
    packets = []
    for datagram in wire.datagrams(folder):
        packets.extend(opener.packets(datagram))
    for packet in packets:
        packet.overtaken = packet.acked_ns = packet.rtt_ns = packet.needed_packets = packet.needed_rtts = None
    after_the_end(packets)
    arrivals(packets)
    acknowledgements(packets)
    return packets, opener.unreadable


def main():
    folder = sys.argv[1]
    packets, unreadable = packets_of(folder)
    if unreadable:
        sys.exit(f"{unreadable} packets cannot be opened with the key log")
    with open(os.path.join(folder, "truth.csv"), "w", encoding="ascii", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        for p in packets:
            of = p.datagram
            rows.writerow([of.direction, p.space, p.number, p.size, of.place, of.fate, int(p.asks_for_ack), of.came_ns,
                           " ".join(map(str, of.went_on_ns)), p.overtaken, p.acked_ns, p.rtt_ns, p.needed_packets, p.needed_rtts])
    lost = sum(not p.datagram.went_on_ns for p in packets)
    late = sum(bool(p.overtaken) for p in packets)
    print(f"{os.path.basename(folder)}: {len(packets)} packets, {late} late, {lost} lost")


main()
