"""Scoreboards, forecasts, claims and closed forms from Python."""

import headstart
import pytest


@pytest.fixture(scope="module")
def captures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pcap")
    headstart.race("text", "5mbit,80ms,100p", "linux", exact=True, pcap=folder)
    return [folder / "linux-down-sent.pcap", folder / "linux-up.pcap"]


def test_a_board_is_the_command_lines(command):
    """The quick set's half, under two schemes: the same bytes."""
    options = ["--quick", "--half", "tune", "--schemes", "linux,linux+iw=32"]
    board = headstart.scoreboard(["linux", "linux+iw=32"], quick=True, half="tune")
    assert board.to_json() == command("lab", "scoreboard", *options, "--json")
    named = [row["scheme"] for row in board.scores.to_pylist()]
    assert {"linux", "linux+iw=32"} < set(named)
    assert [row["× linux"] for row in board.scores.to_pylist() if row["scheme"] == "linux"] == [1.0]


def test_a_forecast_is_the_command_lines(command, captures):
    options = ["--sender", "linux", "--vantage", "middle", "--schemes", "linux+iw=32"]
    printed = command("predict", *captures, *options, "--json")
    forecast = headstart.predict(captures, "linux+iw=32", sender="linux", vantage="middle")
    assert forecast.to_json() == printed
    assert forecast.times.to_pylist()[0]["scheme"] == "captured"
    assert forecast.times.describe()["median"][0] == "s"


def test_a_forecast_of_nothing_is_refused(tmp_path):
    (tmp_path / "empty.pcap").write_bytes(
        bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")
    )
    with pytest.raises(headstart.Error):
        headstart.predict(tmp_path / "empty.pcap")


def test_a_claim_is_the_command_lines(command):
    answers = headstart.papers("PS-1", quick=True)
    assert answers.to_json() == command("lab", "papers", "PS-1", "--quick", "--json")
    assert answers.table_names == ["PS-1"]
    assert answers.sentences[0].startswith("PS-1  ")


def test_an_unknown_claim_is_refused():
    with pytest.raises(headstart.Error, match="XX-1"):
        headstart.papers("XX-1")


def test_closed_forms_are_the_command_lines(command):
    options = ["--path", "10mbit,80ms,0.5bdp", "--sizes", "30kB,1MB", "--json"]
    time = headstart.theory.time("10mbit,80ms,0.5bdp", ["30kB", "1MB"])
    assert time.to_json() == command("lab", "theory", "time", *options)
    windows = headstart.theory.windows([30, 100], delayed_acks=True)
    options = ["--segments", "30,100", "--delayed-acks", "--json"]
    assert windows.to_json() == command("lab", "theory", "windows", *options)
    for topic in ("gaps", "losses"):
        own = getattr(headstart.theory, topic)()
        assert own.to_json() == command("lab", "theory", topic, "--json")
        assert len(own.table(own.table_names[0])) > 0
