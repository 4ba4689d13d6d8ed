"""Inputs of all kinds: what the functions take beside lists and dicts, and what they refuse by `headstart.Error`."""

import collections
import datetime
import types

import headstart
import pytest
from headstart._plan import plain

PATH = "20mbit,80ms,100p"


def test_mappings_and_iterables_are_taken():
    """A set, a generator, a tuple, an array and a mapping are as good as a list and a dict."""
    numpy = pytest.importorskip("numpy")
    expected = headstart.race("30kB", PATH, ["linux", "linux+iw=32"], repeat=2, exact=True).to_json()
    schemes = ("linux", "linux+iw=32")
    for given in (
        schemes,
        (scheme for scheme in schemes),
        dict.fromkeys(schemes).keys(),
        collections.deque(schemes),
        numpy.array(schemes),
    ):
        assert headstart.race("30kB", PATH, given, repeat=numpy.int64(2), exact=True).to_json() == expected
    budget = types.MappingProxyType({"last_byte": "9s"})
    assert headstart.race("30kB", PATH, schemes, repeat=2, exact=True, budget=budget).sentences


def test_a_mapping_is_a_plan():
    plan = types.MappingProxyType(
        {
            "topology": collections.OrderedDict(kind="dumbbell", bottleneck={"rate": "5mbit", "delay": "9ms", "queue": "50p"}),
            "workload": {"one": {"from": "sources", "to": "sinks", "traffic": {"kind": "bulk", "size": "3kB"}}},
            "schemes": ("linux",),
        }
    )
    assert len(headstart.simulate(plan).cells) == 1


def test_arrays_are_lists_of_a_plan():
    """A range of NumPy, an array of one number, and a series of pandas."""
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    given = {"range": numpy.arange(2), "one": numpy.array([1]), "texts": numpy.array(["a"]), "series": pandas.Series([0.5, 2])}
    assert plain(given) == {"range": [0, 1], "one": [1], "texts": ["a"], "series": [0.5, 2.0]}
    single = {"number": numpy.float64(0.5), "text": numpy.str_("ab"), "zero_dimensional": numpy.array("ab"), "truth": numpy.bool_(True)}
    assert plain(single) == {"number": 0.5, "text": "ab", "zero_dimensional": "ab", "truth": True}
    plan = {"topology": DUMBBELL, "workload": WORKLOAD, "schemes": ["linux"]}
    swept = {**plan, "sweep": [{"key": "workload.one.count", "values": numpy.array([1])}]}
    assert len(headstart.simulate(swept).cells) == 1


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("5gg", 'no path "5gg" (did you mean "5g"?); `headstart paths` lists them'),
        ("", 'no path ""'),
        ("20mbit,80ms", "queue: is missing"),
    ],
)
def test_a_path_without_a_comma_is_a_name(path, why):
    with pytest.raises(headstart.Error) as raised:
        headstart.race("10kB", path)
    assert why in str(raised.value) and raised.value.key == "path"


class _Itself:
    """A number without a Python type, as `numpy.longdouble`: its `tolist` returns the number."""

    def tolist(self):
        return self


DUMBBELL = {"kind": "dumbbell", "bottleneck": {"rate": "5mbit", "delay": "9ms", "queue": "50p"}}
WORKLOAD = {"one": {"from": "sources", "to": "sinks", "traffic": {"kind": "bulk", "size": "3kB"}}}


@pytest.mark.parametrize(
    ("change", "key", "why"),
    [
        ({"repeats": 0}, "repeats", "repeats: 0 repeats: use 1 to 100000"),
        (
            {"topology": {**DUMBBELL, "bottleneck": {"rate": "5mbt", "delay": "9ms", "queue": "50p"}}},
            "topology.bottleneck.rate",
            'cannot read "5mbt" as a rate',
        ),
        (
            {"sweep": [{"key": "topology.bottleneck.loss", "values": [0.0]}, {"key": "topology.x", "values": [1]}]},
            "sweep[1].key",
            'unknown key "x"',
        ),
        ({"sweep": [{"key": "seed", "values": [1, None]}]}, "sweep[0].values[1]", "None is no value of a plan"),
        ({"seed": 2**70}, "seed", "has more than 64 bits"),
        ({"seed": float("nan")}, "seed", "no finite number"),
        ({"title": datetime.date(2026, 11, 29)}, "title", "is no value of a plan"),
        ({"title": b"bytes"}, "title", "is no value of a plan"),
        ({"title": _Itself()}, "title", "is no value of a plan"),
        ({3: 4}, None, "3 is no key"),
        ({"wrokload": {}}, "wrokload", "did you mean"),
    ],
)
def test_errors_of_a_dict_name_the_path_of_the_key(change, key, why):
    plan = {"topology": DUMBBELL, "workload": WORKLOAD, **change}
    with pytest.raises(headstart.Error) as raised:
        headstart.simulate(plan)
    error = raised.value
    assert (error.key, error.line, error.file) == (key, None, None), str(error)
    assert why in str(error)
    assert str(error).startswith(f"{key or 'plan'}: ")


WRONG = [None, 0, -1, 2**70, 1.5, float("nan"), "", "nonsense", "-x", "a,b", b"30kB", [], [None], {}, {"a": None}, object(), "\0"]


def _calls(value):
    yield lambda: headstart.race(value if value is not None else "nonsense", PATH, exact=True)
    yield lambda: headstart.race("3kB", value if value is not None else "nonsense")
    for option in ("schemes", "http", "tls", "rtt_of", "budget", "repeat", "visits", "threads"):
        wrong = value if value not in (None, 0, [], {}) else "nonsense"
        yield lambda option=option, wrong=wrong: headstart.race("3kB", PATH, **{option: wrong})
    yield lambda: headstart.simulate(value)
    yield lambda: headstart.analyze(value if value not in (0,) else "nonsense")
    yield lambda: headstart.predict(value if value not in (0,) else "nonsense")
    if value not in ([], {}, None):
        yield lambda: headstart.papers(value)
    yield lambda: headstart.theory.time(value if value is not None else "nonsense")


@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_wrong_inputs_are_refused_or_taken(value):
    """Nothing but `headstart.Error` comes of a value that is wrong. Some are right for one option: 1.5 of `repeat` is not."""
    refused = 0
    for call in _calls(value):
        try:
            call()
        except headstart.Error as error:
            assert str(error)
            refused += 1
    assert refused >= 8


def test_a_progress_that_cannot_be_called_is_refused():
    with pytest.raises(headstart.Error, match="progress"):
        headstart.race("3kB", exact=True, progress=3)


def test_a_result_without_tables_says_so():
    page = headstart.schemes("linux")
    assert page.table_names == []
    with pytest.raises(headstart.Error, match="the result has no table"):
        page.__arrow_c_stream__()
