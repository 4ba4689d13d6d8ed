"""What a guest boots: a kernel, and a file system in memory with the agent, its tests, their libraries and busybox."""

import json
import lzma
import os
import re
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULES = ("tun", "tcp_bbr")


class Programs:
    """The agent and its tests, built and stripped, with the libraries that they are linked to."""

    def __init__(self, root, folder):
        self.folder = folder / "programs"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        for name, built in build(root).items():
            target = self.folder / name
            subprocess.run(["strip", "-o", target, built], check=True)
            self._collect_libraries(built)
        self._collect_libraries(shutil.which("busybox"))

    def _collect_libraries(self, program):
        """None of a program that is linked statically, which ldd calls a failure."""
        told = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
        for library in re.findall(r"(/\S+) \(0x", told):
            place = self.folder / library.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, place)


def build(root):
    """Where cargo has put the two programs, by their names in the guest."""
    cargo = ["cargo", "test", "--locked", "--package", "headstart-agent", "--test", "kernel", "--no-run"]
    cargo.append("--message-format=json-render-diagnostics")
    done = subprocess.run(cargo, cwd=root, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit("the agent's tests were not built")
    names = {"kernel": "tests", "headstart-agent": "headstart-agent"}
    found = {}
    for message in map(json.loads, done.stdout.splitlines()):
        name = names.get(message.get("target", {}).get("name"))
        is_wanted = name == "tests" or "bin" in message.get("target", {}).get("kind", [])
        if name and is_wanted and message.get("executable"):
            found[name] = message["executable"]
    return found


class Image:
    """A kernel and the file system that it boots."""

    def __init__(self, kernel, place, programs, expected, folder):
        self.kernel = kernel
        self.vmlinuz = first(place, "vmlinuz*")
        self.modules = [name for name in MODULES if first(place, f"{name}.ko*")]
        self.initramfs = folder / f"{kernel.series}.cpio.gz"
        tree = folder / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(programs.folder, tree)
        for directory in ("bin", "proc", "sys", "dev", "tmp", "run", "modules"):
            (tree / directory).mkdir(exist_ok=True)
        shutil.copy(shutil.which("busybox"), tree / "bin/busybox")
        shutil.copy(HERE / "init", tree / "init")
        os.chmod(tree / "init", 0o755)
        (tree / "settings").write_text(f"export HEADSTART_EXPECTS={expected}\n" if expected else "")
        for name in self.modules:
            unpack(first(place, f"{name}.ko*"), tree / f"modules/{name}.ko")
        pack(tree, self.initramfs)


def first(place, pattern):
    return next(iter(sorted(place.rglob(pattern))), None)


def unpack(module, target):
    data = module.read_bytes()
    if module.suffix == ".xz":
        data = lzma.decompress(data)
    elif module.suffix == ".zst":
        data = subprocess.run(["zstd", "-dcq", module], capture_output=True, check=True).stdout
    target.write_bytes(data)


def pack(tree, file):
    names = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
    with open(file, "wb") as out:
        cpio = subprocess.Popen(
            ["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"], cwd=tree, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        gzip = subprocess.Popen(["gzip", "-1"], stdin=cpio.stdout, stdout=out)
        cpio.stdin.write(names.encode())
        cpio.stdin.close()
        if cpio.wait() or gzip.wait():
            raise SystemExit(f"{file} was not packed")
