"""The queries of docs/sql.md, over the tables of a capture with losses. Expected values are counted from the rows."""

import os
import re
import statistics

import headstart
import pytest

duckdb = pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def captures(tmp_path_factory):
    """The servers' end of an access link with a short queue: a page on several connections."""
    folder = tmp_path_factory.mktemp("pcap")
    headstart.race("news", "5mbit,80ms,10p", "linux", exact=True, pcap=folder)
    return [folder / "linux-down-sent.pcap", folder / "linux-up.pcap"]


@pytest.fixture(scope="module")
def analysis(captures):
    return headstart.analyze(captures, sender="linux", vantage="middle")


@pytest.fixture(scope="module")
def answers(captures, tmp_path_factory, root):
    """Rows of each query, as dicts, by the number of its section."""
    folder = tmp_path_factory.mktemp("tables")
    headstart.analyze(captures, sender="linux", vantage="middle", out=folder)
    page = (root / "docs/sql.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (\d+)\. .*?```sql\n(.*?)```", page, re.S | re.M)
    assert [int(number) for number, _ in sections] == list(range(1, 11))
    before = os.getcwd()
    os.chdir(folder)
    try:
        found = {}
        for number, query in sections:
            answer = duckdb.sql(query)
            found[int(number)] = [dict(zip(answer.columns, row)) for row in answer.fetchall()]
        return found
    finally:
        os.chdir(before)


@pytest.fixture(scope="module")
def transfers(analysis):
    rows = analysis.transfers.to_pylist()
    assert len(rows) > 5 and all(row["complete"] for row in rows)
    return rows


def _only(rows):
    [row] = rows
    return row


def test_networks_wait(answers, transfers):
    row = _only(answers[1])
    times = [one["duration_ns"] / 1e6 for one in transfers]
    assert row["transfers"] == len(times)
    assert row["median_ms"] == pytest.approx(statistics.median(times))


def test_causes_add_up(answers, transfers):
    """The causes are those whose sum is the time of all transfers."""
    assert sum(row["seconds"] for row in answers[2]) == pytest.approx(
        sum(one["duration_ns"] for one in transfers) / 1e9
    )
    assert sum(row["share"] for row in answers[2]) == pytest.approx(1)
    path = next(row for row in answers[2] if row["cause"] == "path_ns")
    assert path["seconds"] == pytest.approx(sum(one["path_ns"] for one in transfers) / 1e9)


def test_sizes_are_classes(answers, transfers):
    counts = [0, 0, 0]
    for one in transfers:
        counts[0 if one["bytes"] <= 14_600 else 1 if one["bytes"] <= 100_000 else 2] += 1
    assert [row["transfers"] for row in answers[3]] == [count for count in counts if count]


def test_larger_windows_help_some(answers, transfers):
    row = _only(answers[4])
    could = [one for one in transfers if not one["fits_first_window"]]
    assert (row["could"], row["transfers"]) == (len(could), len(transfers))
    assert row["slow_start_s"] == pytest.approx(sum(one["slow_start_ns"] for one in could) / 1e9)


def test_round_trips_are_the_paths(answers):
    """The path has 80 ms without its queue."""
    row = _only(answers[5])
    assert 80 <= row["lowest_ms"] < 85 and row["usual_ms"] >= row["lowest_ms"]


def test_retransmissions_are_shares(answers, analysis):
    row = _only(answers[6])
    connections = analysis.connections.to_pylist()
    assert row["retransmitted"] == sum(one["server_retransmissions"] for one in connections) > 0
    assert row["share"] == pytest.approx(
        row["retransmitted"] / sum(one["server_data_packets"] for one in connections)
    )


def test_timeouts_are_counted(answers, analysis):
    timeouts = [
        one
        for one in analysis.retransmissions.to_pylist()
        if one["sender"] == "server" and one["kind"] == "timeout"
    ]
    assert sum(row["timeouts"] for row in answers[7]) == len(timeouts)


def test_epochs_are_grouped(answers, analysis):
    epochs = analysis.loss_epochs.to_pylist()
    assert sum(row["epochs"] for row in answers[8]) == len(epochs) > 0
    for row in answers[8]:
        hit = [one["hit"] for one in epochs if one["open"] == row["open"]]
        assert row["connections_hit"] == pytest.approx(statistics.mean(hit))
        assert 0 < row["share_hit"] <= 1


def test_servers_think(answers, transfers):
    row = _only(answers[9])
    assert row["transfers"] == len(transfers)
    assert row["think_ms"] == pytest.approx(statistics.median(one["think_ns"] for one in transfers) / 1e6)


def test_the_worst_connections_come_first(answers, transfers):
    repairs = {}
    for one in transfers:
        spent = one["timeout_ns"] + one["recovery_ns"]
        repairs[one["connection"]] = repairs.get(one["connection"], 0) + spent
    found = [row["repairs_ms"] for row in answers[10]]
    assert found == pytest.approx([ns / 1e6 for ns in sorted(repairs.values(), reverse=True)[:20]])
