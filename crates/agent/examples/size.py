# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sends BYTES to ADDRESS PORT over a connection that is told so beforehand, and prints what the agent knows of the
path. Works the same, and says so, where no agent runs: python3 size.py 192.0.2.1 9000 30000"""

import errno
import socket
import struct
import sys

HEADSTART_SIZE = 0x7E00  # include/headstart.h
HEADSTART_WEIGHT = 0x7E01
PATH = struct.Struct("=9I")  # struct headstart_path


def say(connection, option, value):
    """False if no agent attends to this process: nothing has changed."""
    try:
        connection.setsockopt(socket.IPPROTO_TCP, option, struct.pack("=I", value))
        return True
    except OSError as error:
        if error.errno != errno.ENOPROTOOPT:
            raise
        return False


def path_of(connection):
    """None if no agent attends to this process."""
    try:
        answer = connection.getsockopt(socket.IPPROTO_TCP, HEADSTART_SIZE, PATH.size)
    except OSError as error:
        if error.errno != errno.ENOPROTOOPT:
            raise
        return None
    names = "flags first_window remembered believed srtt_us min_rtt_us age_ms size weight"
    return dict(zip(names.split(), PATH.unpack(answer)))


def main(address, port, size):
    with socket.create_connection((address, int(port))) as connection:
        say(connection, HEADSTART_SIZE, int(size))
        say(connection, HEADSTART_WEIGHT, 3)
        connection.sendall(b"x" * int(size))
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)  # until the other end has read all and closes
        path = path_of(connection)
    if path is None:
        print("no agent")
    else:
        print("began with {first_window}, remembered {remembered}, weight {weight}".format(**path))


main(*sys.argv[1:])
