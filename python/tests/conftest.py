"""What tests share: the programs of this build, beside which the package is held."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _programs():
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    return Path(target, os.environ.get("HEADSTART_PROFILE", "debug"))


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def remarks():
    """Runs a command of `headstart`; returns the lines that it prints beside its results."""

    def run(*words):
        words = [_programs() / "headstart", *map(os.fspath, words)]
        return subprocess.run(words, check=True, capture_output=True, encoding="utf-8").stderr.splitlines()

    return run


@pytest.fixture(scope="session")
def command():
    """Runs a command of `headstart`; returns what it prints."""

    def run(*words):
        words = [_programs() / "headstart", *map(os.fspath, words)]
        return subprocess.run(words, check=True, capture_output=True, encoding="utf-8").stdout

    return run
