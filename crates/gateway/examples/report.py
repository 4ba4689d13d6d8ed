#!/usr/bin/env python3
"""A server that tells its site's gateway what each connection has met. Standard library alone.

    python3 report.py agent.toml 8080

It answers every request with 200 KB (HTTP/1.0). At the end of a connection it reads TCP_INFO, as the applications of TCP/SPAND do
(Zhang, Qiu & Keshav 2000, section 5.1), and hands it to `headstart report`, which reports only the prefix of the address.
"""

import json
import socket
import subprocess
import sys

ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 200000\r\n\r\n" + bytes(200_000)
# The kernel fills in as much of struct tcp_info as it knows.
ROOM = 512


def line(connection, peer):
    """What `headstart report` reads: TCP_INFO in hexadecimal digits."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, ROOM)
    return json.dumps({"peer": peer, "tcp_info": info.hex()}) + "\n"


def answer(connection):
    """True if the peer has taken all of it."""
    try:
        connection.recv(65536)
        connection.sendall(ANSWER)
        connection.shutdown(socket.SHUT_WR)
        # The peer closes when it has all: everything is acknowledged by then.
        return connection.recv(65536) == b""
    except OSError:
        return False


def main():
    config, port = sys.argv[1], int(sys.argv[2])
    # It keeps one connection to the gateway; nobody waits for it but the pipe.
    reporter = subprocess.Popen(["headstart", "report", "--config", config, "-"], stdin=subprocess.PIPE, text=True)
    with socket.create_server(("127.0.0.1", port)) as server:
        while True:
            connection, (peer, *_) = server.accept()
            with connection:
                if answer(connection):
                    reporter.stdin.write(line(connection, peer))
                    reporter.stdin.flush()


if __name__ == "__main__":
    main()
