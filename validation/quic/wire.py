"""Opens the datagrams of a recording with the key log of the connection: the truth does not depend on what a log says.

Packet protection of RFC 9001 for QUIC versions 1 and 2 (RFC 9369), with updates of keys. Needs the package cryptography.
"""
import csv
import dataclasses
import hashlib
import hmac
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

# RFC 9001 section 5.2, RFC 9369 section 3.3.1.
SALTS = {1: bytes.fromhex("38762cf7f55934b34d179ae6a4c80cadccbb7f0a"), 0x6B3343CF: bytes.fromhex("0dede3def700a6db819381be6e269dcbf9bd2ed9")}
# Types of long headers by version (RFC 9000 section 17.2, RFC 9369 section 3.2).
TYPES = {1: ("initial", "0rtt", "handshake", "retry"), 0x6B3343CF: ("retry", "initial", "0rtt", "handshake")}
SPACES = {"initial": "initial", "handshake": "handshake", "0rtt": "application", "1rtt": "application"}
TAG_BYTES = 16
# Of the delay in ACK frames, unless an end says otherwise (RFC 9000 section 18.2), which none of ours does.
ACK_DELAY_EXPONENT = 3
MAX_UPDATES = 50


@dataclasses.dataclass
class Datagram:
    """A datagram as the relay saw it."""
    direction: str
    place: int
    came_ns: int
    size: int
    fate: str
    went_on_ns: list
    data: bytes


@dataclasses.dataclass
class Packet:
    """A packet of a datagram."""
    space: str
    number: int
    size: int
    datagram: Datagram
    acked: list = dataclasses.field(default_factory=list)
    ack_delay_ns: int = 0
    asks_for_ack: bool = False
    is_complete: bool = True
    closes: bool = False


def datagrams(folder):
    with open(os.path.join(folder, "relay.csv"), encoding="ascii", newline="") as file, open(os.path.join(folder, "relay.bin"), "rb") as raw:
        for row in csv.DictReader(file):
            size = int(row["bytes"])
            yield Datagram(row["direction"], int(row["place"]), int(row["came_ns"]), size, row["fate"],
                           [int(ns) for ns in row["went_on_ns"].split()], raw.read(size))


def expand(secret, label, length, digest):
    """HKDF-Expand-Label without a context (RFC 8446 section 7.1)."""
    label = b"tls13 " + label
    info = length.to_bytes(2, "big") + bytes([len(label)]) + label + b"\0"
    made, block = b"", b""
    for i in range(1, 255):
        block = hmac.new(secret, block + info + bytes([i]), digest).digest()
        made += block
        if len(made) >= length:
            return made[:length]
    raise ValueError("too long")


class Keys:
    """Keys of one direction and level."""

    def __init__(self, secret, version, kind=None):
        self.secret, self.version = secret, version
        self.kinds = [kind] if kind else (["aes256"] if len(secret) == 48 else ["aes128", "chacha"])
        self.digest = hashlib.sha384 if len(secret) == 48 else hashlib.sha256
        self.prefix = b"quicv2 " if version != 1 else b"quic "
        self.made = {}

    def of(self, kind, generation):
        """Key and initialisation vector after this number of updates."""
        if (kind, generation) not in self.made:
            secret = self.secret
            for _ in range(generation):
                secret = expand(secret, self.prefix + b"ku", len(secret), self.digest)
            length = 16 if kind == "aes128" else 32
            key = expand(secret, self.prefix + b"key", length, self.digest)
            aead = ChaCha20Poly1305(key) if kind == "chacha" else AESGCM(key)
            self.made[kind, generation] = aead, expand(secret, self.prefix + b"iv", 12, self.digest)
        return self.made[kind, generation]

    def mask(self, kind, sample):
        length = 16 if kind == "aes128" else 32
        key = self.made.setdefault(kind, expand(self.secret, self.prefix + b"hp", length, self.digest))
        if kind == "chacha":
            return Cipher(algorithms.ChaCha20(key, sample), None).encryptor().update(bytes(5))
        return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(sample)[:5]


class Opener:
    """Opens the packets of one connection, in the order in which the relay saw them."""

    def __init__(self, key_log):
        self.secrets = {}
        with open(key_log, encoding="ascii") as lines:
            for line in lines:
                words = line.split()
                if len(words) == 3 and not line.startswith("#"):
                    self.secrets.setdefault(words[0], bytes.fromhex(words[2]))
        self.keys, self.version, self.id_lengths = {}, 1, {}
        self.largest, self.generation = {}, {}
        self.unreadable = 0

    def packets(self, datagram):
        """The packets of a datagram; those that cannot be read are counted."""
        rest = datagram.data
        while rest:
            if rest[0] & 0x80:
                length = yield from self.long(rest, datagram)
            else:
                length = yield from self.short(rest, datagram)
            if not length:
                # Zeros behind the last packet, or something that is no packet.
                self.unreadable += any(rest)
                return
            rest = rest[length:]

    def long(self, data, datagram):
        if not data[0] & 0x80 or len(data) < 7:
            return 0
        version, at = int.from_bytes(data[1:5], "big"), 5
        if version not in TYPES:
            return 0
        ids = []
        for _ in range(2):
            ids.append(data[at + 1:at + 1 + data[at]])
            at += 1 + data[at]
        kind = TYPES[version][data[0] >> 4 & 3]
        # What the end that receives has chosen stands in the packets that it sends.
        self.id_lengths[other(datagram.direction)] = len(ids[1])
        if kind == "retry":
            return len(data)
        if kind == "initial":
            if "initial" not in self.keys:
                self.begin(ids[0], version)
            length, at = variable(data, at)
            at += length
        length, at = variable(data, at)
        keys = self.of_level(kind, datagram.direction, version)
        if keys:
            packet = self.open(keys, kind, data[:at + length], at, datagram)
            if packet:
                yield packet
            else:
                self.unreadable += 1
        return at + length

    def short(self, data, datagram):
        keys = self.of_level("1rtt", datagram.direction, self.version)
        packet = keys and self.open(keys, "1rtt", data, 1 + self.id_lengths.get(datagram.direction, 0), datagram)
        if not packet:
            return 0
        yield packet
        return len(data)

    def begin(self, first_id, version):
        self.version, digest = version, hashlib.sha256
        secret = hmac.new(SALTS[version], first_id, digest).digest()
        for name, label in (("to-server", b"client in"), ("to-client", b"server in")):
            self.keys["initial", name] = Keys(expand(secret, label, 32, digest), version, "aes128")
        self.keys["initial"] = True

    def of_level(self, kind, direction, version):
        if (kind, direction) not in self.keys:
            end = "CLIENT" if direction == "to-server" else "SERVER"
            label = {"handshake": f"{end}_HANDSHAKE_TRAFFIC_SECRET", "1rtt": f"{end}_TRAFFIC_SECRET_0", "0rtt": "CLIENT_EARLY_TRAFFIC_SECRET"}[kind]
            if label not in self.secrets:
                return None
            self.keys[kind, direction] = Keys(self.secrets[label], version)
        return self.keys[kind, direction]

    def open(self, keys, kind, data, at, datagram):
        if len(data) < at + 4 + TAG_BYTES:
            return None
        for cipher in list(keys.kinds):
            mask = keys.mask(cipher, data[at + 4:at + 20])
            first = data[0] ^ mask[0] & (0x0F if data[0] & 0x80 else 0x1F)
            length = (first & 3) + 1
            cut = bytes(a ^ b for a, b in zip(data[at:at + length], mask[1:]))
            header = bytes([first]) + data[1:at] + cut
            space = SPACES[kind]
            number = whole(self.largest.get((space, datagram.direction), -1), int.from_bytes(cut, "big"), length * 8)
            text = self.decrypt(keys, cipher, kind, first, number, header, data[at + length:], datagram.direction)
            if text is not None:
                keys.kinds = [cipher]
                key = space, datagram.direction
                self.largest[key] = max(self.largest.get(key, -1), number)
                packet = Packet(space, number, len(data), datagram)
                read_frames(text, packet)
                return packet
        return None

    def decrypt(self, keys, cipher, kind, first, number, header, text, direction):
        generations = [0]
        if kind == "1rtt":
            now = self.generation.get(direction, 0)
            phase = first >> 2 & 1
            generations = [g for g in (now, now + 1, now - 1) if 0 <= g < MAX_UPDATES and g % 2 == phase]
        for generation in generations:
            aead, vector = keys.of(cipher, generation)
            nonce = (int.from_bytes(vector, "big") ^ number).to_bytes(12, "big")
            try:
                text = aead.decrypt(nonce, text, header)
            except InvalidTag:
                continue
            if kind == "1rtt":
                self.generation[direction] = max(self.generation.get(direction, 0), generation)
            return text
        return None


def other(direction):
    return "to-client" if direction == "to-server" else "to-server"


def whole(largest, cut, bits):
    """The packet number nearest to the one that is expected (RFC 9000 appendix A.3)."""
    expected, window = largest + 1, 1 << bits
    number = expected & ~(window - 1) | cut
    if number <= expected - window // 2 and number + window < 1 << 62:
        return number + window
    if number > expected + window // 2 and number >= window:
        return number - window
    return number


def variable(data, at):
    """A number of RFC 9000 section 16, and where the next field begins."""
    length = 1 << (data[at] >> 6)
    return int.from_bytes(data[at:at + length], "big") & ((1 << (8 * length - 2)) - 1), at + length


# Frames that are numbers alone (RFC 9000 section 19), with how many.
PLAIN = {0x01: 0, 0x04: 3, 0x05: 2, 0x10: 1, 0x11: 2, 0x12: 1, 0x13: 1, 0x14: 1, 0x15: 2, 0x16: 1, 0x17: 1, 0x19: 1, 0x1E: 0, 0x1F: 0, 0xAF: 4}


def read_frames(text, packet):
    """Notes what is acknowledged and whether the packet asks for an acknowledgement."""
    at = 0
    while at < len(text):
        kind, at = variable(text, at)
        if kind == 0:
            continue
        if kind in (2, 3):
            at = acknowledged(text, at, kind == 3, packet)
            continue
        if kind in (0x1C, 0x1D):
            packet.closes = True
            return
        packet.asks_for_ack = True
        if kind in PLAIN:
            for _ in range(PLAIN[kind]):
                _, at = variable(text, at)
        elif kind == 6 or 8 <= kind <= 15:
            at = stream(text, at, kind)
        elif kind == 7:
            length, at = variable(text, at)
            at += length
        elif kind == 0x18:
            _, at = variable(text, at)
            _, at = variable(text, at)
            at += 1 + text[at] + 16
        elif kind in (0x1A, 0x1B):
            at += 8
        elif kind == 0x31:
            length, at = variable(text, at)
            at += length
        elif kind == 0x30:
            return
        else:
            packet.is_complete = False
            return


def stream(text, at, kind):
    """One behind a STREAM or CRYPTO frame."""
    if kind != 6:
        _, at = variable(text, at)
    if kind == 6 or kind & 4:
        _, at = variable(text, at)
    if kind == 6 or kind & 2:
        length, at = variable(text, at)
        return at + length
    return len(text)


def acknowledged(text, at, has_counts, packet):
    """Notes the ranges of an ACK frame (RFC 9000 section 19.3)."""
    largest, at = variable(text, at)
    delay, at = variable(text, at)
    packet.ack_delay_ns = (delay << ACK_DELAY_EXPONENT) * 1000
    count, at = variable(text, at)
    first, at = variable(text, at)
    low = largest - first
    packet.acked.append((low, largest))
    for _ in range(count):
        gap, at = variable(text, at)
        length, at = variable(text, at)
        high = low - gap - 2
        low = high - length
        packet.acked.append((low, high))
    for _ in range(3 if has_counts else 0):
        _, at = variable(text, at)
    return at
