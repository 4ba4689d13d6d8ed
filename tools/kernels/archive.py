"""Debian's kernels: which there are, and their packages, fetched once and kept below the target directory.

apt is told of a list of sources and of folders of its own: nothing is installed, and what this machine gets its packages
from is left alone. What was fetched is written down with its SHA-256, as the signed lists have it.
"""

import hashlib
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Kernels for virtual machines: small, and as the others where TCP and eBPF are concerned.
IMAGE = re.compile(r"linux-(?:image|binary)-(\d+)\.(\d+)(?:\.(\d+))?\S*-cloud-amd64$")


MODULES = re.compile(r"linux-modules-\d\S*-cloud-amd64$")


class Kernel:
    """A kernel of the archives: `series` such as 6.1, `version` of its package."""

    def __init__(self, series, version, packages):
        self.series, self.version, self.packages = series, version, packages

    def order(self):
        return tuple(int(part) for part in self.series.split("."))


def kernel(series, image, known):
    """The kernel of an image, whose modules may be in a package of their own, or nowhere."""
    modules = image["Package"].replace("linux-binary-", "linux-modules-")
    beside = [
        package
        for package in known
        if package["Package"] == modules != image["Package"] and package["Version"] == image["Version"]
    ]
    return Kernel(series, image["Version"], [image, *beside[:1]])


class Archive:
    """Debian's archives, as apt sees them by a list of sources of ours."""

    def __init__(self, folder):
        self.folder = folder
        for part in ("lists/partial", "cache/archives/partial", "packages"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        said = {
            "Dir::Etc::SourceList": HERE / "sources.list",
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::State::Lists": folder / "lists",
            "Dir::State::status": "/dev/null",
            "Dir::Cache": folder / "cache",
            "APT::Sandbox::User": "root",
            "Acquire::Languages": "none",
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
        }
        self.options = [word for key, value in said.items() for word in ("-o", f"{key}={value}")]

    def update(self):
        """Suites that cannot be had are named; the others are there. What was there stays without a network."""
        done = self._run(["apt-get", *self.options, "update"], check=False)
        for line in (done.stdout + done.stderr).splitlines():
            if line.startswith(("E:", "W:")):
                print(f"archives: {line}", flush=True)

    def kernels(self):
        """The newest kernel of each series, oldest series first."""
        names = self._run(["apt-cache", *self.options, "pkgnames", "linux-"]).stdout.split()
        known = self._known([name for name in names if IMAGE.match(name) or MODULES.match(name)])
        newest = {}
        for package in known:
            found = IMAGE.match(package["Package"])
            # Backports to an older release are the same kernel twice.
            if not found or re.search(r"deb1[12]", package["Package"]):
                continue
            series = f"{found[1]}.{found[2]}"
            numbers = [int(part) for part in re.findall(r"\d+", package["Version"])]
            # Of two packages of a version the one with the image is the larger one.
            rank = (numbers, int(package["Size"]))
            if series not in newest or rank > newest[series][0]:
                newest[series] = (rank, package)
        kernels = [kernel(series, package, known) for series, (_, package) in newest.items()]
        return sorted(kernels, key=Kernel.order)

    def _known(self, names):
        """What the lists say of these packages, for each of their versions. Asked once: apt reads all lists each time."""
        text = self._run(["apt-cache", *self.options, "show", *names], check=False).stdout
        parts = [dict(re.findall(r"^([\w-]+): (.*)$", part, re.M)) for part in text.split("\n\n")]
        return [fields for fields in parts if "SHA256" in fields]

    def fetch(self, kernel):
        """The folder into which the kernel's packages are unpacked."""
        place = self.folder / f"{kernel.series}_{kernel.version}"
        marker = place / "complete"
        if marker.exists():
            return place
        place.mkdir(exist_ok=True)
        for package in kernel.packages:
            name = f"{package['Package']}={package['Version']}"
            self._run(["apt-get", *self.options, "download", name], cwd=self.folder / "packages")
            file = self._file(package)
            self._run(["dpkg-deb", "-x", str(file), str(place)])
            with open(self.folder / "fetched.tsv", "a", encoding="utf-8") as written:
                written.write(f"{kernel.series}\t{package['Package']}\t{package['Version']}\t{package['SHA256']}\n")
            file.unlink()
        marker.touch()
        return place

    def _file(self, package):
        """Its file, which is as the signed lists say."""
        pattern = f"{package['Package']}_*.deb"
        for file in (self.folder / "packages").glob(pattern):
            if hashlib.sha256(file.read_bytes()).hexdigest() == package["SHA256"]:
                return file
        raise SystemExit(f"no {pattern} with SHA-256 {package['SHA256']}")

    def _run(self, command, check=True, cwd=None):
        done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
        if check and done.returncode:
            raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
        return done
