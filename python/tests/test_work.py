"""Work beside the interpreter: Ctrl-C, progress, threads."""

import io
import os
import signal
import subprocess
import sys
import threading
import time

import headstart
import pytest

LONG = {"page": "news", "schemes": "linux,hs-cubic", "repeat": 2000}


def _script(text):
    """Runs a script that handles SIGINT. A job in the background of a shell may inherit SIGINT ignored."""
    return subprocess.Popen(
        [sys.executable, "-c", text],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def test_ctrl_c_stops_a_race():
    """The signal comes after the first progress. The process then prints in much less than the race."""
    script = (
        "import headstart\n"
        "try:\n"
        f"    headstart.race(progress=lambda *_: print('going', flush=True), **{LONG!r})\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped')\n"
    )
    process = _script(script)
    assert process.stdout.readline() == "going\n"
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert rest.splitlines()[-1] == "stopped"


@pytest.mark.parametrize("function", ["analyze", "predict"])
def test_ctrl_c_stops_the_read_of_a_silent_pipe(function, tmp_path):
    """The pipe has a writer that writes nothing. Its `open` returns once the reader has opened the pipe, too."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = _script(
        "import headstart\n"
        "try:\n"
        f"    headstart.{function}({str(pipe)!r})\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped')\n"
    )
    with pipe.open("wb"):
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    assert (process.returncode, rest) == (0, "stopped\n")


def test_the_interpreter_goes_on_meanwhile():
    """Another thread counts while a race runs. With the lock held it would stand still."""
    counted, over = [0], threading.Event()

    def count():
        while not over.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begun, before = time.monotonic(), counted[0]
    headstart.race("news", schemes="linux", repeat=20, threads=1)
    took = time.monotonic() - begun
    over.set()
    thread.join()
    assert counted[0] - before > 20 * took


def test_progress_ends_with_all():
    seen = []
    headstart.race("30kB", repeat=3, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] > 0
    assert seen == sorted(seen)


def test_the_number_of_all_stays_the_same():
    """Two paths are two races. Their loads are counted together from the start."""
    seen = []
    paths = ["5mbit,80ms,20p", "20mbit,20ms,100p"]
    headstart.race("30kB", paths, repeat=200, threads=1, progress=lambda *counts: seen.append(counts))
    assert len(seen) > 1 and len({total for _, total in seen if total}) == 1
    assert seen[-1][0] == seen[-1][1]


def test_a_bar_closes_at_the_end(monkeypatch):
    tqdm = pytest.importorskip("tqdm.auto")
    closed = []

    class Bar(tqdm.tqdm):
        def close(self):
            if not self.disable:
                closed.append((self.n, self.total))
            super().close()

    monkeypatch.setattr("tqdm.auto.tqdm", Bar)
    show = headstart.tqdm(file=io.StringIO())
    for done in (0, 3, 10):
        assert closed == []
        show(done, 10)
    assert closed == [(10, 10)]


def test_an_exception_of_the_callback_is_raised():
    def fails(done, total):
        raise ZeroDivisionError("mine")

    begun = time.monotonic()
    with pytest.raises(ZeroDivisionError, match="mine"):
        headstart.race(progress=fails, **LONG)
    assert time.monotonic() - begun < 60


def test_results_do_not_depend_on_threads():
    one, two = (headstart.race("30kB", repeat=4, threads=n).to_json() for n in (1, 2))
    assert one == two


def test_a_fork_after_a_race_can_race():
    """Pools of `multiprocessing` fork. No thread of a race may be missing in the child."""
    headstart.race("3kB", schemes="linux", exact=True)
    child = os.fork()
    if child == 0:
        headstart.race("3kB", schemes="linux", exact=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
