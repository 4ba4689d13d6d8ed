"""Captures for tests: copies of a simulated one, each with a client network and a time of its own."""

import struct

CLIENT = bytes((10, 0, 0, 1))


def packets(*files):
    """Times in nanoseconds, and packets, of captures with nanoseconds and bare IP, in the order of times."""
    found = []
    for file in files:
        data = file.read_bytes()
        assert data[:4].hex() == "4d3cb2a1" and data[20:24].hex() == "65000000"
        at = 24
        while at < len(data):
            seconds, nanos, length, _ = struct.unpack_from("<4I", data, at)
            found.append((seconds * 10**9 + nanos, data[at + 16 : at + 16 + length]))
            at += 16 + length
    return sorted(found, key=lambda packet: packet[0])


def write_copy(original, number, path):
    """Writes the packets as capture `number`: 37 ms later than the one before, from another network."""
    client = bytes((10, 1 + number // 256, number % 256, 1))
    with path.open("wb") as out:
        out.write(bytes.fromhex("4d3cb2a1020004000000000000000000ffff000065000000"))
        for at, packet in original:
            at += number * 37_000_000
            ends = [client if packet[n : n + 4] == CLIENT else packet[n : n + 4] for n in (12, 16)]
            packet = packet[:12] + ends[0] + ends[1] + packet[20:]
            out.write(struct.pack("<4I", at // 10**9, at % 10**9, len(packet), len(packet)) + packet)
    return path
