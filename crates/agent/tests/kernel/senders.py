"""Sends as much as it can over several connections and prints, as JSON, what of each was acknowledged.

senders.py ADDRESS PORT SECONDS FROM FLOW...   FLOW: weight[>weight][:congestion control][@second at which it begins]

The second weight is that from a second before FROM on.

Bytes count from second FROM on. Also printed: the windows of all, a round trip and a bit after the last flow began, and what
the last one had in its first moment."""

import fcntl, json, socket, struct, sys, termios, threading, time

TCP, WEIGHT = socket.IPPROTO_TCP, 0x7E01
SND_CWND = 80  # offset in struct tcp_info
AFTER = 0.2


class Flow:
    def __init__(self, to, spec, began):
        spec, _, at = spec.partition("@")
        weight, _, control = spec.partition(":")
        weight, _, self.later = weight.partition(">")
        self.at, self.sent, self.first = float(at or 0), 0, None
        self.socket = socket.socket()
        if control:
            self.socket.setsockopt(TCP, socket.TCP_CONGESTION, control.encode())
        else:
            self.weigh(weight)
        self.thread = threading.Thread(target=self.run, args=(to, began), daemon=True)
        self.thread.start()

    def weigh(self, weight):
        self.socket.setsockopt(TCP, WEIGHT, struct.pack("=I", int(weight)))

    def run(self, to, began):
        time.sleep(max(0, began + self.at - time.monotonic()))
        self.socket.connect(to)
        block = bytes(1 << 16)
        while True:
            self.sent += self.socket.send(block)
            if self.first is None:
                self.first = self.window()

    def acked(self):
        queued = fcntl.ioctl(self.socket, termios.TIOCOUTQ, bytes(4))
        return max(0, self.sent - struct.unpack("=i", queued)[0])

    def window(self):
        info = self.socket.getsockopt(TCP, socket.TCP_INFO, SND_CWND + 4)
        return struct.unpack_from("=I", info, SND_CWND)[0]


address, port, seconds, start = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
began = time.monotonic()
flows = [Flow((address, port), spec, began) for spec in sys.argv[5:]]


def until(second):
    time.sleep(max(0, began + second - time.monotonic()))


if any(flow.later for flow in flows):
    until(start - 1)
    for flow in flows:
        if flow.later:
            flow.weigh(flow.later)

last = max(flow.at for flow in flows)
windows = None
before = None
for second in sorted([start, last + AFTER]):
    until(second)
    if second == start:
        before = [flow.acked() for flow in flows]
    else:
        windows = [flow.window() for flow in flows]
until(seconds)
acked = [flow.acked() - old for flow, old in zip(flows, before)]
print(json.dumps({"acked": acked, "windows": windows, "first": flows[-1].first}))
