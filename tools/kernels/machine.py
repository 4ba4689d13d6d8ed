"""An emulated machine that boots an image, and what it says on its serial line."""

import os
import subprocess
import time

# Seconds. A guest that says nothing for so long is not waited for.
BOOT = 240
ALL = 3600
# A machine with /dev/kvm boots within so long, or its /dev/kvm is one that hangs.
PROBE = 15


class Outcome:
    """What a guest has said: lines by their sort, `kernel`, `check`, `tests`, `skipped` and `stderr`."""

    def __init__(self, text, seconds):
        self.text, self.seconds = text, seconds
        self.lines = {}
        for line in text.splitlines():
            words = line.strip("\r").split(" ", 2)
            if words[0] == "headstart" and len(words) > 1:
                self.lines.setdefault(words[1], []).append(words[2] if len(words) > 2 else "")

    def has_booted(self):
        return "kernel" in self.lines

    def is_done(self):
        return "done" in self.lines


def accelerator(image):
    """`kvm` where it works, which a machine that has it may be wrong about; `tcg`, slow and everywhere, otherwise."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    outcome = boot(image, "kvm", PROBE, until=b"headstart kernel")
    return "kvm" if outcome.has_booted() else "tcg"


def run(image, accel):
    """Once more if it did not come up: kernels under emulation now and then do not."""
    outcome = boot(image, accel, ALL)
    return outcome if outcome.has_booted() else boot(image, accel, ALL)


def boot(image, accel, limit, until=b"headstart done"):
    command = [
        "qemu-system-x86_64", "-accel", accel, "-cpu", "host" if accel == "kvm" else "max",
        "-m", "1500", "-smp", "2", "-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot",
        "-kernel", image.vmlinuz, "-initrd", image.initramfs,
        "-append", "console=ttyS0 quiet panic=-1 rdinit=/init mitigations=off",
    ]  # fmt: skip
    began, said = time.monotonic(), b""
    machine = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    os.set_blocking(machine.stdout.fileno(), False)
    try:
        while machine.poll() is None and until not in said:
            said += machine.stdout.read() or b""
            lasted = time.monotonic() - began
            if lasted > limit or (lasted > BOOT and b"headstart kernel" not in said):
                said += f"\nnot done within {lasted:.0f} s\n".encode()
                break
            time.sleep(0.1)
        said += machine.stdout.read() or b""
    finally:
        machine.kill()
        machine.wait()
    return Outcome(said.decode(errors="replace"), time.monotonic() - began)
