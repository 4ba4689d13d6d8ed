"""Plans from Python."""

import json

import headstart
import pytest

PLAN = """seed = 3
repeats = 2
schemes = ["newreno+iw=1", "linux"]
[topology]
kind = "dumbbell"
bottleneck = { rate = "1.5mbit", delay = "50ms", queue = "50p" }
side = { rate = "10mbit", delay = "1ms" }
[workload.short]
from = "sources"
to = "sinks"
count = 2
start = { kind = "uniform", until = "2s" }
traffic = { kind = "bulk", size = "30kB" }
[[sweep]]
key = "workload.short.count"
values = [1, 5]
"""


@pytest.fixture(scope="module")
def sweep():
    return headstart.simulate(PLAN)


def test_the_result_is_the_command_lines(command, sweep, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    printed = command("lab", "sim", plan, "--out", tmp_path / "results", "--json")
    assert sweep.to_json() == printed
    assert headstart.simulate(plan).to_json() == printed


def test_a_folder_has_the_commands_bytes(command, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    command("lab", "sim", plan, "--out", tmp_path / "one")
    headstart.simulate(plan, out=tmp_path / "two")
    files = [path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*")]
    assert len(files) > 10
    for file in filter(lambda file: (tmp_path / "one" / file).is_file(), files):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_a_dict_is_the_plan_of_its_keys(sweep):
    """Coordinates, seeds and values are those of the text; only the plan's hash differs."""
    plan = {
        "seed": 3,
        "repeats": 2,
        "schemes": ["newreno+iw=1", "linux"],
        "topology": {
            "kind": "dumbbell",
            "bottleneck": {"rate": "1.5mbit", "delay": "50ms", "queue": "50p"},
            "side": {"rate": "10mbit", "delay": "1ms"},
        },
        "workload": {
            "short": {
                "from": "sources",
                "to": "sinks",
                "count": 2,
                "start": {"kind": "uniform", "until": "2s"},
                "traffic": {"kind": "bulk", "size": "30kB"},
            }
        },
        "sweep": [{"key": "workload.short.count", "values": [1, 5]}],
    }
    assert headstart.simulate(plan).to_dict()["cells"] == sweep.to_dict()["cells"]


def test_tables_have_the_rows_of_the_folder(sweep):
    """2 counts × 2 schemes × 2 repeats are eight runs, and (1 + 5) × 4 are 24 transfers."""
    assert len(sweep.cells) == 8
    assert len(sweep.flows) == 24
    assert {row["run"] for row in sweep.flows.to_pylist()} == set(range(8))
    assert sweep.table_names[0] == "summary"


def test_mistakes_name_line_and_key():
    with pytest.raises(headstart.Error) as raised:
        headstart.simulate(PLAN.replace("repeats = 2", "repeats = 0"))
    error = raised.value
    assert (error.file, error.line, error.key) == ("plan", 2, "repeats")
    assert str(error) == "plan:2: 0 repeats: use 1 to 100000"


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(headstart.Error, match="plan.tml: no such file"):
        headstart.simulate(tmp_path / "plan.tml")


def test_none_is_no_value_of_a_plan():
    with pytest.raises(headstart.Error, match="seed: None is no value of a plan"):
        headstart.simulate({"seed": None})


def test_a_sweep_goes_on_where_it_was_stopped(tmp_path):
    """A callback that raises after the first run stops the rest; the next call makes only these."""
    counts = []

    def stop(done, total):
        if done > 0:
            counts.append((done, total))
            raise InterruptedError

    long = PLAN.replace("repeats = 2", "repeats = 400")
    with pytest.raises(InterruptedError):
        headstart.simulate(long, out=tmp_path / "out", jobs=1, progress=stop)
    assert len(counts) == 1
    left = []
    headstart.simulate(long, out=tmp_path / "out", progress=lambda done, total: left.append((done, total)))
    done, total = left[-1]
    assert done == total < 1600
    assert json.loads((tmp_path / "out/manifest.json").read_text())["done"] == 1600


def test_runs_that_fail_leave_the_results():
    slow = PLAN.replace("seed = 3", 'seed = 3\ntime_limit = "1s"')
    with pytest.raises(headstart.Error, match="8 of 8 runs failed") as raised:
        headstart.simulate(slow)
    assert raised.value.result.to_dict()["failed"]
