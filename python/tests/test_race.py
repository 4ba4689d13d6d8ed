"""Races from Python: the command line's results, bytes and refusals."""

import json

import headstart
import pytest

PATH = "20mbit,80ms,100p"


def test_the_result_is_the_command_lines(command):
    """The same options and seed give the same bytes: one implementation, one set of defaults."""
    options = ["--schemes", "linux,hs-cubic", "--repeat", "3", "--seed", "7"]
    printed = command("race", "30kB", "--path", PATH, *options, "--json")
    race = headstart.race("30kB", PATH, ["linux", "hs-cubic"], repeat=3, seed=7)
    assert race.to_json() == printed


def test_defaults_are_the_command_lines(command):
    assert headstart.race("10kB").to_json() == command("race", "10kB", "--json")


def test_variants_are_compared_as_on_the_command_line(command):
    printed = command("race", "text", "--exact", "--http", "1.1,2", "--json")
    race = headstart.race("text", exact=True, http=["1.1", "2"])
    assert race.to_json() == printed
    assert {row["variant"] for row in race.schemes.to_pylist()} == {"1.1", "2"}


def test_an_option_whose_values_have_commas_is_repeated(command):
    paths = ["5mbit,80ms,20p", "20mbit,20ms,100p"]
    printed = command("race", "30kB", "--exact", "--path", paths[0], "--path", paths[1], "--json")
    assert headstart.race("30kB", paths, exact=True).to_json() == printed


def test_a_dict_gives_each_value_its_key(command):
    """Two hosts of the page have distances of their own, each by a word of the command line."""
    hosts = [host["name"] for host in headstart.race("news", exact=True).to_dict()["hosts"]][:2]
    distances = dict(zip(hosts, ("90ms", "150ms")))
    words = [word for host, rtt in distances.items() for word in ("--rtt-of", f"{host}={rtt}")]
    printed = command("race", "news", "--exact", *words, "--json")
    assert len(words) == 4
    assert headstart.race("news", exact=True, rtt_of=distances).to_json() == printed


def test_an_interval_needs_six_repeats():
    """Of six repeats the extremes are the 95 % interval of the median; five are too few."""
    five = headstart.race("30kB", PATH, "linux", repeat=5).schemes.to_pylist()[0]
    six = headstart.race("30kB", PATH, "linux", repeat=6).schemes.to_pylist()[0]
    assert five["page_s_lower"] is None
    assert (six["page_s_lower"], six["page_s_upper"]) == (six["page_s_min"], six["page_s_max"])


def test_samples_are_the_loads():
    """Three repeats of two schemes, and of perfect start, are nine loads."""
    race = headstart.race("30kB", PATH, "linux,linux+iw=32", repeat=3)
    samples = race.samples.to_pylist()
    assert len(samples) == 9
    times = sorted(row["page_s"] for row in samples if row["scheme"] == "linux")
    assert race.schemes.to_pylist()[0]["page_s"] == times[1]


@pytest.mark.parametrize(
    ("options", "key", "why"),
    [
        ({"http": "4"}, "http", "use 1.0, 1.1, 2 or 3"),
        ({"schemes": "cubicc"}, "schemes", "cubicc"),
        ({"repeat": 0}, "repeat", "1..=10000"),
        ({"path": "20mbit"}, "path", "20mbit"),
        ({"on": "kernel"}, None, "headstart race --json"),
        ({"reconnect": True}, None, "--visits"),
    ],
)
def test_refusals_name_the_argument_and_the_way_out(options, key, why):
    with pytest.raises(headstart.Error) as raised:
        headstart.race("10kB", **options)
    assert raised.value.key == key
    assert why in str(raised.value)
    assert "--help" not in str(raised.value)


def test_a_budget_that_is_exceeded_leaves_the_results():
    with pytest.raises(headstart.Error, match="over budget: last byte takes") as raised:
        headstart.race("30kB", PATH, "linux", exact=True, budget={"last_byte": "1ms"})
    assert raised.value.result.to_dict()["page"] == "30 KB"


def test_files_are_written_as_by_the_command(command, tmp_path):
    headstart.race("30kB", PATH, "linux", exact=True, report=tmp_path / "one.html")
    command("race", "30kB", "--path", PATH, "--schemes", "linux", "--exact", "--report", tmp_path / "two.html")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_notes_are_the_commands_remarks(remarks):
    """A fast path fills the client's first window, and nothing is left to chance: facts and notes, in their order."""
    options = ["--exact", "--schemes", "linux", "--repeat", "2", "--server-model", "nginx"]
    printed = remarks("race", "2MB", "--path", "1gbit,200ms,10000p", *options)
    race = headstart.race("2MB", "1gbit,200ms,10000p", "linux", exact=True, repeat=2, server_model="nginx")
    assert [note.removeprefix("note: ") for note in printed] == race.notes
    assert any("simulated servers write as nginx" in note for note in race.notes)
    assert any("the client's receive window bounded" in note for note in race.notes)
    both = ["20mbit,80ms,100p", "1gbit,200ms,10000p"]
    printed = remarks("race", "2MB", "--path", both[0], "--path", both[1], *options)
    race = headstart.race("2MB", both, "linux", exact=True, repeat=2, server_model="nginx")
    assert [note.removeprefix("note: ") for note in printed] == race.notes


def test_views_have_the_table_of_the_command(command):
    race = headstart.race("30kB", PATH, "linux", exact=True)
    assert "perfect start" in repr(race)
    html = race._repr_html_()
    assert html.startswith("<p>This page needs ") and html.count("<table>") == 1
    assert headstart.schemes().to_json() == command("schemes", "--json")
    assert json.loads(headstart.schemes("suss").to_json())["name"] == "suss"
