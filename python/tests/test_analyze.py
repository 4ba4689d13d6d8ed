"""Analyses from Python."""

import headstart
import pytest


@pytest.fixture(scope="module")
def captures(tmp_path_factory):
    """What the servers' end of a simulated access link has: a page over a link with a short queue."""
    folder = tmp_path_factory.mktemp("pcap")
    headstart.race("text", "5mbit,80ms,10p", "linux", exact=True, pcap=folder)
    return [folder / "linux-down-sent.pcap", folder / "linux-up.pcap"]


@pytest.fixture(scope="module")
def analysis(captures):
    return headstart.analyze(captures, sender="linux", vantage="middle")


def test_the_result_is_the_command_lines(command, captures, analysis):
    options = ["--sender", "linux", "--vantage", "middle"]
    assert analysis.to_json() == command("analyze", *captures, *options, "--json=findings")
    surveyed = headstart.analyze(captures)
    assert surveyed.to_json() == command("analyze", *captures, "--json=findings")


def test_tables_are_the_commands(command, captures, tmp_path):
    """The rows in memory are those of the Parquet files, and so are types and order."""
    parquet = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    command("analyze", *captures, "--out", tmp_path)
    names = ["connections", "transfers", "retransmissions", "loss_epochs", "windows"]
    analysis = headstart.analyze(captures, tables=names)
    assert sorted(analysis.table_names) == sorted(names)
    for name in names:
        written = parquet.read_table(tmp_path / f"{name}.parquet")
        kept = pa.table(analysis.table(name))
        assert kept.schema.equals(written.schema), name
        assert kept.equals(written), name
    assert len(analysis.windows) > 0


def test_windows_are_kept_on_demand(analysis):
    assert analysis.table_names[0] == "transfers"
    assert "windows" not in analysis.table_names
    with pytest.raises(headstart.Error, match='no table "windows"'):
        analysis.windows


def test_a_folder_takes_the_tables(captures, tmp_path):
    analysis = headstart.analyze(captures, out=tmp_path / "tables")
    assert analysis.table_names == []
    assert (tmp_path / "tables/transfers.parquet").is_file()


def test_addresses_are_replaced(captures, analysis):
    """`True` stands for the option without a value: a random key. Connections stay apart."""
    replaced = headstart.analyze(captures, sender="linux", vantage="middle", anonymize=True)
    own, others = (
        [row["client_ip"] for row in result.connections.to_pylist()] for result in (analysis, replaced)
    )
    assert len(own) == len(others) > 0 and set(own).isdisjoint(others)


def test_parts_of_the_time_add_up(analysis):
    for row in analysis.transfers.to_pylist():
        names = list(row)
        causes = names[names.index("handshake_ns") : names.index("unexplained_ns") + 1]
        assert sum(row[cause] for cause in causes) == row["duration_ns"]


def test_times_are_in_utc(analysis):
    row = analysis.transfers.to_pylist()[0]
    assert row["began"].tzname() == "UTC" and row["began"] < row["ended"]


def test_a_damaged_capture_leaves_the_rest(captures, tmp_path):
    """The file ends within a packet. All before it is analysed."""
    whole = captures[0].read_bytes()
    (tmp_path / "cut.pcap").write_bytes(whole[: len(whole) // 2 + 7])
    with pytest.raises(headstart.Error, match="the results are of ") as raised:
        headstart.analyze([tmp_path / "cut.pcap", captures[1]], vantage="middle")
    assert len(raised.value.result.connections) > 0
    assert any("cut.pcap" in note for note in raised.value.result.notes)


def test_a_missing_capture_is_refused(tmp_path):
    """The error has both lines that the command prints: the reason, then the outcome."""
    expected = f"{tmp_path}/none.pcap: no such file.*\nno packet could be read"
    for ask in (headstart.analyze, headstart.predict):
        with pytest.raises(headstart.Error, match=expected):
            ask(tmp_path / "none.pcap")


def test_progress_is_in_bytes(captures):
    seen = []
    headstart.analyze(captures, progress=lambda read, total: seen.append((read, total)))
    size = sum(path.stat().st_size for path in captures)
    assert seen[-1] == (size, size)
