"""Work spread over processes: the same bytes as in one process, on Ray, on Dask, and by Spark's function."""

import io
import json
import os
import secrets
import zipfile
from pathlib import Path

import captures as copies
import headstart
import pytest
from headstart._cluster import Cluster

PLAN = """seed = 3
repeats = {repeats}
schemes = ["newreno+iw=1", "linux"]
[topology]
kind = "dumbbell"
bottleneck = {{ rate = "1.5mbit", delay = "50ms", queue = "50p" }}
side = {{ rate = "10mbit", delay = "1ms" }}
[workload.short]
from = "sources"
to = "sinks"
count = 2
start = {{ kind = "uniform", until = "2s" }}
traffic = {{ kind = "bulk", size = "30kB" }}
[[sweep]]
key = "workload.short.count"
values = [1, 5]
"""
OPTIONS = {"sender": "linux", "vantage": "middle"}


@pytest.fixture(scope="module", autouse=True)
def environment():
    """Ray neither writes a token to the home folder nor reports its use."""
    kept = dict(os.environ)
    os.environ.update(RAY_AUTH_TOKEN=secrets.token_hex(32), RAY_USAGE_STATS_ENABLED="0")
    yield
    os.environ.clear()
    os.environ.update(kept)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Captures of 24 networks at overlapping times; each has losses."""
    folder = tmp_path_factory.mktemp("captures")
    headstart.race("news", "5mbit,80ms,10p", "linux", exact=True, pcap=folder)
    original = copies.packets(folder / "linux-down-sent.pcap", folder / "linux-up.pcap")
    return [copies.write_copy(original, n, folder / f"capture{n:02}.pcap") for n in range(24)]


@pytest.fixture(scope="module")
def whole(files):
    return headstart.analyze(files, **OPTIONS)


# Captures that are merged


def test_runs_merge_to_one(files, whole, command, tmp_path):
    """The report of 24 runs is that of one, in any order, in Python and on the command line."""
    folders = []
    for file in files:
        folders.append(tmp_path / file.stem)
        headstart.analyze(file, out=folders[-1], mergeable=True, **OPTIONS)
    merged = headstart.analyze(merge=folders[::-1])
    assert merged.to_json() == whole.to_json()
    assert merged.sentences == whole.sentences
    assert repr(merged) == repr(whole)
    assert command("analyze", "--merge", *folders, "--json=findings") == whole.to_json()
    # The words begin alike; the lists of the worst need connections.
    words = command("analyze", *files, "--sender", "linux", "--vantage", "middle")
    assert words.startswith(command("analyze", "--merge", *folders).rstrip("\n"))


def test_what_is_no_run_is_not_merged(files, tmp_path):
    headstart.analyze(files[0], out=tmp_path / "one", mergeable=True, **OPTIONS)
    sums = tmp_path / "one/sums.json"
    cases = [
        ([tmp_path / "none"], "none/sums.json: No such file"),
        ([tmp_path / "one", tmp_path / "one"], "is named twice"),
    ]
    for folders, why in cases:
        with pytest.raises(headstart.Error, match=why):
            headstart.analyze(merge=folders)
    with pytest.raises(headstart.Error, match="holds sums.json"):
        headstart.analyze(files[0], out=tmp_path / "one", **OPTIONS)
    for changed, why in [({"headstart": "0.0.0"}, "by headstart 0.0.0"), ({}, "no sums of a run")]:
        sums.write_text(json.dumps(changed))
        with pytest.raises(headstart.Error, match=why):
            headstart.analyze(merge=tmp_path / "one")


# Any cluster


class _Here:
    """A pool of this process."""

    slots = 1

    def map(self, task, jobs, most):
        for number, job in enumerate(jobs):
            yield number, task(job)


class _NoPool:
    """A pool that may get no task."""

    slots = 1

    def map(self, task, jobs, most):
        raise AssertionError("a task was submitted")


HERE = Cluster(lambda retries: _Here())
REFUSING = Cluster(lambda retries: _NoPool())


@pytest.fixture
def taken(tmp_path):
    """Folders that cannot have the results of `PLAN`, by what they hold."""
    (tmp_path / "file").write_text("")
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers/notes.txt").write_text("")
    headstart.simulate(PLAN.format(repeats=1), out=tmp_path / "another plan")
    return tmp_path


@pytest.mark.parametrize(
    ("out", "why"),
    [
        ("{}/file", "cannot be a folder for results"),
        ("{}/file/below", "cannot be a folder for results"),
        ("{}/papers", "no results of a plan"),
        ("{}/another plan", "results of another plan"),
        ("file://{}/file", "holds file"),
        ("file://{}/papers", "holds notes.txt; name another folder, or use force=True"),
        ("file://{}/another plan", "holds cells.csv"),
    ],
)
def test_an_unusable_folder_is_refused_before_the_tasks(out, why, taken):
    with pytest.raises(headstart.Error, match=why) as raised:
        REFUSING.simulate(PLAN.format(repeats=2), out=out.format(taken))
    assert raised.value.key == "out"


@pytest.mark.parametrize("out", ["{}/another plan", "file://{}/another plan"])
def test_force_permits_a_folder_of_another_plan(out, taken):
    plan = PLAN.format(repeats=2)
    swept = HERE.simulate(plan, out=out.format(taken), force=True)
    assert swept.to_json() == headstart.simulate(plan).to_json()
    assert json.loads((taken / "another plan/manifest.json").read_text())["done"] == 8


def test_an_unusable_page_is_refused_before_the_tasks(taken):
    with pytest.raises(headstart.Error, match="IsADirectory|directory") as raised:
        REFUSING.scoreboard("linux", quick=True, half="tune", report=taken / "papers")
    assert raised.value.key == "report"


@pytest.mark.parametrize("address", ["{}", "file://{}"])
def test_captures_of_an_earlier_call_are_not_mixed_with_others(address, files, tmp_path):
    """Other files may stay: the tables of captures have folders of their own."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out/notes.txt").write_text("")
    out = address.format(tmp_path / "out")
    HERE.analyze(files[:2], out=out, tables="transfers", **OPTIONS)
    folders = sorted(folder.name for folder in (tmp_path / "out").iterdir())
    assert folders == ["capture=000000-capture00.pcap", "capture=000001-capture01.pcap", "notes.txt"]
    tables = sorted(file.name for file in (tmp_path / "out" / folders[0]).iterdir())
    assert tables == ["sums.json", "transfers.parquet"]
    with pytest.raises(headstart.Error, match="holds capture=000000-capture00.pcap") as raised:
        REFUSING.analyze(files[:1], out=out, **OPTIONS)
    assert raised.value.key == "out"


@pytest.mark.parametrize("address", ["{}", "file://{}"])
def test_work_that_fails_leaves_no_captures(address, files, tmp_path):
    def progress(done, total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        HERE.analyze(files[:3], out=address.format(tmp_path / "out"), progress=progress, **OPTIONS)
    assert list(tmp_path.glob("out/*")) == []


def test_a_file_is_no_folder_for_captures(files, taken):
    with pytest.raises(headstart.Error, match="File exists") as raised:
        REFUSING.analyze(files[:1], out=taken / "file", **OPTIONS)
    assert raised.value.key == "out"


def test_results_of_a_failure_are_uploaded(tmp_path):
    """Runs that fail have a manifest."""
    slow = PLAN.format(repeats=1).replace("seed = 3", 'seed = 3\ntime_limit = "1s"')
    with pytest.raises(headstart.Error, match="4 of 4 runs failed"):
        HERE.simulate(slow, out=f"file://{tmp_path}/out")
    assert len(json.loads((tmp_path / "out/manifest.json").read_text())["failed"]) == 4


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["sums.json"]),
        ({"out": "{}"}, ["connections.parquet", "loss_epochs.parquet", "retransmissions.parquet", "sums.json", "transfers.parquet"]),
        ({"out": "{}", "tables": ["windows"]}, ["sums.json", "windows.parquet"]),
        ({"tables": ["windows"]}, ["sums.json"]),
    ],
)
def test_tasks_hand_over_what_is_wanted(options, expected, files, whole, tmp_path):
    """Without a folder only sums, from which the report is made."""
    packed = []

    class Noted(_Here):
        def map(self, task, jobs, most):
            for number, read in super().map(task, jobs, most):
                packed.append(read.packed)
                yield number, read

    options = {name: value.format(tmp_path) if name == "out" else value for name, value in options.items()}
    given = files if not options else files[:1]
    analysis = Cluster(lambda retries: Noted()).analyze(given, **options, **OPTIONS)
    assert zipfile.ZipFile(io.BytesIO(packed[0])).namelist() == expected
    assert options or analysis.to_json() == whole.to_json()


def test_a_cut_capture_has_its_rows_and_its_failure(files, tmp_path):
    """The file ends within its last packet."""
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(files[0].read_bytes()[:-1])
    with pytest.raises(headstart.Error) as expected:
        headstart.predict(cut, "linux+iw=32", **OPTIONS)
    rows, failures = HERE.predict([cut], "linux+iw=32", **OPTIONS)
    times = expected.value.result.times.to_pylist()
    assert rows == [{"capture": str(cut), **row} for row in times] and len(rows) > 1
    assert failures == {str(cut): str(expected.value)}


# Ray


@pytest.fixture(scope="module")
def ray():
    """A cluster of two nodes on this machine, each with one processor."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    second = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    ray.init(address=cluster.address, log_to_driver=False)
    yield lambda: cluster.remove_node(second, allow_graceful=False)
    ray.shutdown()
    cluster.shutdown()


def test_a_damaged_capture_leaves_the_rest_on_ray(ray, files, tmp_path):
    """24 captures, one of which ends within a packet: the report of one run over all."""
    import headstart.ray

    cut = tmp_path / "cut.pcap"
    cut.write_bytes(files[3].read_bytes()[:9000])
    given = [*files[:3], cut, *files[4:]]
    with pytest.raises(headstart.Error) as expected:
        headstart.analyze(given, **OPTIONS)
    with pytest.raises(headstart.Error, match="1 of 24 captures could not be read") as raised:
        headstart.ray.analyze(given, out=tmp_path / "out", **OPTIONS)
    result = raised.value.result
    assert result.to_json() == expected.value.result.to_json()
    assert [note for note in result.notes if "cut.pcap" in note] == expected.value.result.notes
    duckdb = pytest.importorskip("duckdb")
    tables = f"read_parquet('{tmp_path}/out/*/transfers.parquet', hive_partitioning = true)"
    rows = duckdb.sql(f"select count(distinct capture), count(*) from {tables}").fetchall()
    assert rows == [(24, len(expected.value.result.transfers))]


def test_captures_without_results_are_refused(ray, tmp_path):
    import headstart.ray

    with pytest.raises(headstart.Error, match="none.pcap: no such file"):
        headstart.ray.analyze([tmp_path / "none.pcap"], **OPTIONS)


def test_forecasts_are_those_of_each_capture(ray, files, tmp_path):
    import headstart.ray

    missing = str(tmp_path / "none.pcap")
    rows, failures = headstart.ray.predict([*files[:2], missing], "linux+iw=32", **OPTIONS)
    expected = []
    for file in files[:2]:
        times = headstart.predict(file, "linux+iw=32", **OPTIONS).times.to_pylist()
        expected += [{"capture": str(file), **row} for row in times]
    assert rows == expected
    assert list(failures) == [missing] and "no such file" in failures[missing]


def test_a_board_is_that_of_one_process(ray):
    import headstart.ray

    options = {"quick": True, "half": "tune"}
    board = headstart.ray.scoreboard(["linux", "linux+iw=32"], runs_per_task=50, **options)
    assert board.to_json() == headstart.scoreboard(["linux", "linux+iw=32"], **options).to_json()


def test_a_start_up_goes_along(ray, tmp_path):
    """The class of this process is registered where its runs are made, for a plan in a file, too."""
    import headstart.ray

    class Twice(headstart.StartUp):
        def on_ack(self, window, ack):
            window.cwnd += ack.acked

    plan = PLAN.format(repeats=2).replace('"linux"', f'"{headstart.register(Twice)}"')
    (tmp_path / "plan.toml").write_text(plan)
    expected = headstart.simulate(plan).to_json()
    assert headstart.ray.simulate(plan).to_json() == expected
    assert headstart.ray.simulate(tmp_path / "plan.toml").to_json() == expected


def test_runs_that_fail_leave_the_results_on_ray(ray):
    import headstart.ray

    slow = PLAN.format(repeats=2).replace("seed = 3", 'seed = 3\ntime_limit = "1s"')
    with pytest.raises(headstart.Error, match="8 of 8 runs failed") as raised:
        headstart.ray.simulate(slow)
    assert len(raised.value.result.to_dict()["failed"]) == 8


@pytest.mark.parametrize(
    ("options", "key"),
    [({"in_flight": 0}, "in_flight"), ({"runs_per_task": 0}, "runs_per_task"), ({"out": "nowhere://x"}, "out")],
)
def test_wrong_options_are_refused(ray, options, key):
    import headstart.ray

    with pytest.raises(headstart.Error) as raised:
        headstart.ray.simulate(PLAN.format(repeats=1), **options)
    assert raised.value.key == key


def test_a_node_may_die(ray, command, tmp_path):
    """The second node is killed when half of 400 runs are done. The rest has the bytes of the command."""
    import headstart.ray

    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(repeats=100))
    command("lab", "sim", plan, "--out", tmp_path / "one", "--format", "parquet")
    killed = []

    def progress(done, total):
        if 2 * done >= total and not killed:
            ray()
            killed.append(done)

    address = f"file://{tmp_path}/two"
    swept = headstart.ray.simulate(plan, runs_per_task=8, out=address, progress=progress)
    assert killed and killed[0] < 400
    assert swept.to_json() == headstart.simulate(plan).to_json()
    files = sorted(file.name for file in (tmp_path / "two").iterdir())
    assert files == ["cells.parquet", "flows.parquet", "manifest.json", "queues.parquet", "summary.parquet", "workloads.parquet"]
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file


# Dask and Spark


def test_dask_has_the_same_bytes(files, whole):
    distributed = pytest.importorskip("distributed")
    import headstart.dask

    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
        plan = PLAN.format(repeats=3)
        assert headstart.dask.simulate(plan, runs_per_task=2).to_json() == headstart.simulate(plan).to_json()
        assert headstart.dask.analyze(files, **OPTIONS).to_json() == whole.to_json()


def test_dask_does_not_repeat_a_task_that_raises(tmp_path):
    distributed = pytest.importorskip("distributed")
    import headstart.dask

    def raises(job):
        with (tmp_path / "calls").open("a") as calls:
            calls.write(".")
        raise ValueError("mine")

    with distributed.Client(processes=False, dashboard_address=None):
        with pytest.raises(headstart.Error, match="a task failed: mine"):
            list(headstart.dask._DaskPool(retries=3).map(raises, [None], most=1))
    assert (tmp_path / "calls").read_text() == "."


@pytest.mark.parametrize("retries", [1, 2])
def test_dask_repeats_a_task_whose_workers_die(retries, tmp_path):
    """Dask gives the task up at each death. Its first two workers die."""
    distributed = pytest.importorskip("distributed")
    import dask

    import headstart.dask

    def dies_twice(calls):
        with open(calls, "a") as file:
            file.write(".")
        if len(open(calls).read()) < 3:
            os._exit(1)
        return "done"

    job = str(tmp_path / "calls")
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        with distributed.Client(n_workers=1, threads_per_worker=1, dashboard_address=None):
            results = headstart.dask._DaskPool(retries).map(dies_twice, [job], most=1)
            if retries == 2:
                assert list(results) == [(0, "done")]
            else:
                with pytest.raises(headstart.Error, match="Dask gave a task up"):
                    list(results)
    assert len(Path(job).read_text()) == retries + 1


def test_sparks_function_makes_the_parts(tmp_path):
    """As `mapInArrow` calls it: with batches of rows, in any partition, one of them twice."""
    pa = pytest.importorskip("pyarrow")
    import headstart.spark

    plan = PLAN.format(repeats=3)
    shards = headstart.spark.shards(plan, runs_per_task=4)
    assert shards == [("1/3",), ("2/3",), ("3/3",)]
    rows = []
    for numbers in ([2, 0], [1, 2]):
        batch = pa.RecordBatch.from_arrays([pa.array([shards[n][0] for n in numbers])], ["part"])
        for made in headstart.spark.tasks(plan)([batch]):
            assert made.schema.names == ["part", "packed"]
            rows += [tuple(row.values()) for row in made.to_pylist()]
    assert headstart.spark.join(rows).to_json() == headstart.simulate(plan).to_json()
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(headstart.Error, match="holds notes.txt"):
        headstart.spark.join(iter(lambda: pytest.fail("a row was made"), None), f"file://{tmp_path}")
