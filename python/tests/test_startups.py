"""Start-ups that are classes of Python."""

import signal
import threading
import time

import headstart
import pytest
from test_work import _script


class PlainSlowStart(headstart.StartUp):
    """Slow start with L = 1 (RFC 3465 §2.2), as the built-in `slowstart`."""

    base = "newreno"

    def on_ack(self, window, ack):
        if window.cwnd < window.ssthresh:
            window.cwnd += min(ack.acked, window.mss)


def _samples(race, scheme):
    return [
        (row["repeat"], row["visit"], row["page_s"], row["dropped_packets"])
        for row in race.samples.to_pylist()
        if row["scheme"] == scheme
    ]


@pytest.mark.parametrize("base", ["newreno", "linux", "linux+idle=startup"])
@pytest.mark.parametrize(
    ("page", "path"),
    [
        ("30kB", "20mbit,80ms,100p"),
        ("2MB", "5mbit,80ms,10p"),
        ("text", "5mbit,80ms,6p"),
        ("news", "20mbit,40ms,50p,loss=0.02"),
    ],
)
def test_slow_start_restated_has_the_times_of_slow_start(base, page, path):
    """Every load, to the nanosecond, and every drop: with overflows of short queues, and with random loss."""
    name = headstart.register(PlainSlowStart).partition("+")[2]
    schemes = [f"{base}+startup=slowstart", f"{base}+{name}"]
    race = headstart.race(page, path, schemes, repeat=3, visits=2)
    own, restated = (_samples(race, scheme) for scheme in schemes)
    assert own == restated
    assert len(own) == 6
    lossless = path == "20mbit,80ms,100p"
    assert lossless or any(dropped for *_, dropped in own)


def test_a_class_races_beside_schemes():
    """30 segments of 1448 bytes hold 30 kB: ten do not, and wait for a round trip of 80 ms."""

    class Larger(headstart.StartUp):
        def begin(self, window, start):
            window.cwnd = 3 * start.initial_window

        def on_ack(self, window, ack):
            window.cwnd += ack.acked

    race = headstart.race("30kB", "20mbit,80ms,100p", ["linux", Larger, "linux+iw=30"], exact=True)
    times = {row["scheme"]: row["page_s"] for row in race.schemes.to_pylist()}
    assert times["linux+startup=Larger"] == times["linux+iw=30"] < times["linux"] - 0.07


def test_a_plan_and_a_board_take_classes():
    plan = {
        "schemes": ["newreno+startup=slowstart", PlainSlowStart],
        "topology": {
            "kind": "dumbbell",
            "bottleneck": {"rate": "1.5mbit", "delay": "50ms", "queue": "10p"},
        },
        "workload": {
            "bulk": {"from": "sources", "to": "sinks", "count": 2, "traffic": {"kind": "bulk", "size": "300kB"}}
        },
    }
    rows = headstart.simulate(plan).flows.to_pylist()
    values = [[v for k, v in row.items() if k not in ("run", "cell", "scheme")] for row in rows]
    assert len(values) == 4 and values[:2] == values[2:]
    board = headstart.scoreboard(["linux", PlainSlowStart], quick=True, half="tune")
    assert "newreno+startup=PlainSlowStart" in [row["scheme"] for row in board.scores.to_pylist()]


class Recorder(PlainSlowStart):
    """Slow start that sets too small values now and then, and notes what it sees."""

    base = "linux"
    seen: list = []
    made = 0

    def __init__(self):
        self.is_done = False
        self.number = Recorder.made
        Recorder.made += 1

    def begin(self, window, start):
        self.is_done = False
        self.seen.append(("begin", self.number, window.cwnd, window.mss, start.occasion))

    def on_ack(self, window, ack):
        assert not self.is_done
        self.seen.append(("ack", self.number, window.cwnd, window.mss, ack.acked))
        super().on_ack(window, ack)
        if ack.acked_total > 50_000:
            window.cwnd = 1

    def on_loss(self, window, event):
        self.seen.append(("loss", self.number, window.cwnd, window.mss, event))
        window.ssthresh = 1

    def done(self, window):
        self.is_done = super().done(window)
        return self.is_done


def _recorded(**options):
    Recorder.seen, Recorder.made = [], 0
    race = headstart.race("text", "5mbit,80ms,10p", Recorder, repeat=2, **options)
    return race.to_json(), Recorder.seen


def test_the_window_never_falls_below_a_segment():
    """The class sets windows and thresholds of one byte. It is called for no ACK after it was done."""
    _, events = _recorded(threads=1)
    assert {"begin", "ack", "loss"} == {kind for kind, *_ in events}
    assert {"reduced", "timeout"} & {event[-1] for event in events if event[0] == "loss"}
    assert all(cwnd >= mss for _, _, cwnd, mss, _ in events)
    assert any(cwnd == mss for _, _, cwnd, mss, _ in events)
    occasions = {event[-1] for event in events if event[0] == "begin"}
    assert occasions == {"new path", "loss"}


def test_the_same_seed_gives_the_same_calls():
    assert _recorded(threads=1, seed=3) == _recorded(threads=1, seed=3)
    assert _recorded(threads=2, seed=3)[0] == _recorded(threads=1, seed=3)[0]
    assert _recorded(threads=1, seed=3)[0] != _recorded(threads=1, seed=4)[0]


def test_a_start_sees_what_waits():
    """A handshake over 80 ms, and 30 kB of body with a head of 200 bytes."""
    starts = []

    class Curious(PlainSlowStart):
        def begin(self, window, start):
            starts.append(start)

    headstart.race("30kB", "20mbit,80ms,100p", Curious, exact=True, threads=1)
    new = [start for start in starts if start.waiting == 30_200]
    assert new and all(start.occasion == "new path" and start.idle == 0 for start in new)
    assert all(0.08 <= start.rtt < 0.085 and start.now > 0.08 for start in new)


def test_spread_windows_take_longer_than_bursts():
    class Spread(PlainSlowStart):
        base = "linux"

        def begin(self, window, start):
            window.spread_over(start.rtt)

    race = headstart.race("14kB", "20mbit,80ms,100p", ["linux", Spread], exact=True)
    burst, spread = (row["page_s"] for row in race.schemes.to_pylist()[:2])
    assert burst + 0.06 < spread < burst + 0.09


@pytest.mark.parametrize("method", ["__init__", "begin", "on_ack", "on_loss", "done"])
@pytest.mark.parametrize("ask", ["race", "simulate"])
def test_an_exception_is_an_error_with_its_cause(method, ask, capfd):
    def fails(self, *_):
        raise ZeroDivisionError("mine")

    broken = type("Broken", (PlainSlowStart,), {method: fails})
    with pytest.raises(headstart.Error, match="start-up Broken: ZeroDivisionError: mine") as raised:
        if ask == "race":
            headstart.race("text", "5mbit,80ms,10p", broken)
        else:
            headstart.simulate(_plan(broken))
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    assert "panicked" not in capfd.readouterr().err
    # The next race has no trace of it.
    assert headstart.race("3kB", schemes="linux", exact=True).sentences


def _plan(start_up):
    return {
        "repeats": 3,
        "schemes": [start_up],
        "topology": {"kind": "dumbbell", "bottleneck": {"rate": "5mbit", "delay": "40ms", "queue": "5p"}},
        "workload": {"bulk": {"from": "sources", "to": "sinks", "traffic": {"kind": "bulk", "size": "1MB"}}},
    }


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda window: setattr(window, "cwnd", -1), "OverflowError"),
        (lambda window: setattr(window, "cwnd", 1.5), "TypeError"),
        (lambda window: setattr(window, "ssthresh", "many"), "TypeError"),
        (lambda window: setattr(window, "mss", 1), "AttributeError"),
        (lambda window: window.spread_over(0), "use a time in seconds, above 0"),
        (lambda window: window.spread_over(float("nan")), "use a time in seconds, above 0"),
    ],
)
def test_values_that_no_window_has_are_refused(change, why):
    wrong = type("Wrong", (PlainSlowStart,), {"begin": lambda self, window, start: change(window)})
    with pytest.raises(headstart.Error, match=why):
        headstart.race("30kB", schemes=wrong, exact=True)


def test_a_class_without_on_ack_is_refused():
    with pytest.raises(headstart.Error, match="Empty has no on_ack"):
        headstart.race("30kB", schemes=type("Empty", (headstart.StartUp,), {}), exact=True)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (int, "no subclass of headstart.StartUp"),
        (PlainSlowStart(), "no subclass of headstart.StartUp"),
        (type("A", (PlainSlowStart,), {"name": "a+b"}), "use letters"),
        (type("B", (PlainSlowStart,), {"name": "slowstart"}), "headstart's own"),
        (type("C", (PlainSlowStart,), {"base": "nowhere"}), "nowhere"),
    ],
)
def test_what_is_no_start_up_is_refused(given, why):
    with pytest.raises(headstart.Error, match=why):
        headstart.race("30kB", schemes=["linux", given], exact=True)


def test_a_class_replaces_an_earlier_one_of_its_name():
    """As in a notebook whose cell is run again."""
    times = []
    for factor in (1, 3):
        begin = lambda self, window, start, factor=factor: setattr(window, "cwnd", factor * window.cwnd)
        again = type("Again", (PlainSlowStart,), {"begin": begin, "base": "linux"})
        rows = headstart.race("30kB", schemes=again, exact=True).schemes.to_pylist()
        times += [row["page_s"] for row in rows if row["scheme"] == "linux+startup=Again"]
    assert times[0] > times[1]


def test_a_start_up_of_python_is_no_scheme():
    headstart.register(PlainSlowStart)
    with pytest.raises(headstart.Error, match="is a start-up, not a scheme: .*linux.startup=PlainSlowStart"):
        headstart.schemes("PlainSlowStart")


def test_an_exception_of_the_callback_ends_an_endless_start_up():
    process = _script(
        "import headstart\n"
        "class Endless(headstart.StartUp):\n"
        "    def on_ack(self, window, ack):\n"
        "        while True: pass\n"
        "def progress(done, total):\n"
        "    raise RuntimeError('mine')\n"
        "try:\n"
        "    headstart.race('30kB', schemes=Endless, threads=1, progress=progress)\n"
        "except RuntimeError as error:\n"
        "    print(error)\n"
    )
    try:
        printed, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, printed) == (0, "mine\n")


def test_an_exception_of_the_callback_leaves_other_races_alone():
    """A race in another thread is within its start-up when the callback raises."""
    inside, leave, others = threading.Event(), threading.Event(), []

    class Waiting(PlainSlowStart):
        def on_ack(self, window, ack):
            inside.set()
            while not leave.is_set():
                time.sleep(0.001)
            super().on_ack(window, ack)

    def progress(done, total):
        raise RuntimeError("mine")

    scheme = headstart.register(Waiting)
    race = lambda: others.append(headstart.race("3kB", schemes=scheme, exact=True, threads=1))
    thread = threading.Thread(target=race)
    thread.start()
    assert inside.wait(60)
    with pytest.raises(RuntimeError, match="mine"):
        headstart.race("news", schemes="linux", repeat=2000, progress=progress)
    leave.set()
    thread.join()
    assert len(others) == 1 and others[0].sentences


@pytest.mark.parametrize("loop", ["pass", "time.sleep(0.001)"])
def test_ctrl_c_ends_an_endless_start_up(loop):
    process = _script(
        "import headstart, time\n"
        "class Endless(headstart.StartUp):\n"
        "    def on_ack(self, window, ack):\n"
        "        print('going', flush=True)\n"
        f"        while True: {loop}\n"
        "try:\n"
        "    headstart.race('30kB', schemes=Endless, threads=1)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped')\n"
    )
    try:
        assert process.stdout.readline() == "going\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, rest) == (0, "stopped\n")
