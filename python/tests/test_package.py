"""The package itself: examples, stubs, figures."""

import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys

import headstart
import pytest
from headstart import _core
from headstart._cluster import Cluster

MODULES = [headstart.__name__] + [
    module.name
    for module in pkgutil.iter_modules(headstart.__path__, "headstart.")
    if not module.name.endswith("_core")
]
# Packages that a module needs beside headstart's own.
EXTRAS = {"headstart.ray": "ray", "headstart.dask": "distributed"}


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    pytest.importorskip("matplotlib")
    pytest.importorskip("tqdm")
    if name in EXTRAS:
        pytest.importorskip(EXTRAS[name])
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_the_pages_examples_run(root):
    """The code of docs/python.md, one block after another, as a reader types it."""
    for name in ("duckdb", "matplotlib", "pandas", "polars", "pyarrow", "tqdm"):
        pytest.importorskip(name)
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("agg")
    page = (root / "docs/python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.S)
    assert len(blocks) == 4
    exec("\n".join(blocks), {})


def test_what_is_public_is_documented():
    for name in headstart.__all__:
        public = getattr(headstart, name)
        if inspect.isclass(public) or inspect.isroutine(public) or inspect.ismodule(public):
            assert public.__doc__, name


def test_types_fit():
    """The package, its stubs and a user's script pass the type checker."""
    pytest.importorskip("mypy")
    script = "import headstart; headstart.race('30kB', repeat=3).schemes.to_pylist()"
    for words in (["-p", "headstart"], ["-c", script]):
        checked = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", *words],
            capture_output=True,
            text=True,
        )
        assert checked.returncode == 0, checked.stdout


def test_the_stub_has_what_the_module_has():
    pytest.importorskip("mypy")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "headstart._core"], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout


def test_figures_draw_the_results():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    race = headstart.race("30kB", schemes="linux", repeat=3)
    axes = headstart.plot.race(race)
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == [row["page_s"] for row in race.schemes.to_pylist()]


def test_a_sweeps_numbers_stand_at_their_places():
    """The plan lists 0.02 before 0 and 0.001: the curve runs from the least to the greatest."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    plan = {
        "repeats": 2,
        "topology": {"kind": "dumbbell", "bottleneck": {"rate": "5mbit", "delay": "9ms", "queue": "50p"}},
        "workload": {"one": {"from": "sources", "to": "sinks", "traffic": {"kind": "bulk", "size": "3kB"}}},
        "schemes": ["linux", "newreno"],
        "sweep": [{"key": "topology.bottleneck.loss", "values": [0.02, 0.0, 0.001]}],
    }
    axes = headstart.plot.sweep(headstart.simulate(plan), "completion_mean", "topology.bottleneck.loss")
    curves = [container.lines[0] for container in axes.containers]
    assert [list(curve.get_xdata()) for curve in curves] == 2 * [[0.0, 0.001, 0.02]]
    schemes = headstart.plot.sweep(headstart.simulate(plan), "goodput", "scheme")
    assert [label.get_text() for label in schemes.get_xticklabels()] == ["linux", "newreno"]


@pytest.mark.parametrize(
    ("name", "absent", "absent_on_clusters"),
    [
        # Options that print instead of racing; and the programs of real worlds, which `on` refuses.
        ("race", {"json", "json_schema", "server", "client"}, None),
        # Options that show something instead of running a plan, and files that Python writes itself.
        ("simulate", {"json", "schema", "example", "dry_run", "format"}, {"jobs", "shard", "report", "plot"}),
        ("predict", {"json", "json_schema"}, {"jobs", "report"}),
        # Outputs of a terminal, and the comparison with a board of before.
        ("scoreboard", {"json", "json_schema", "cells", "causes", "against"}, {"jobs"}),
        # Readings take hours and a file; captures and logs stop at signals of the program.
        ("papers", {"json", "list", "readings", "budget", "seed", "table", "resume", "capture", "access_log"}, None),
        # Outputs of a terminal; logs have a command line of their own.
        ("analyze", {"json", "follow", "error", "access_log", "log_format"}, {"jobs", "report", "mergeable", "merge"}),
    ],
)
def test_functions_have_the_options_of_their_commands(name, absent, absent_on_clusters):
    """The methods of clusters have them, too, but those of one process and of its files."""
    given = set(inspect.signature(getattr(headstart, name)).parameters) - {"progress"}
    renamed = {"files": "captures", "from": "from_"}
    known = {renamed.get(option, option) for option in _core.options(name)} - absent
    assert given == known
    assert (absent_on_clusters is not None) == hasattr(Cluster, name)
    if absent_on_clusters is not None:
        own = {"self", "runs_per_task", "in_flight", "retries", "progress"}
        given = set(inspect.signature(getattr(Cluster, name)).parameters) - own
        assert given == known - absent_on_clusters


def test_every_table_is_a_property():
    """``board.states`` is ``board.table("states")``, for every table that a result names."""
    plan = {
        "topology": {"kind": "dumbbell", "bottleneck": {"rate": "5mbit"}},
        "workload": {"one": {"from": "sources", "to": "sinks", "traffic": {"kind": "bulk", "size": "3kB"}}},
    }
    for result in (
        headstart.schemes(),
        headstart.race("30kB", schemes="linux", exact=True),
        headstart.simulate(plan),
        headstart.scoreboard("linux", quick=True, half="tune"),
    ):
        for name in result.table_names:
            assert isinstance(getattr(type(result), name, None), property), name
            assert getattr(result, name).to_pylist() == result.table(name).to_pylist(), name
