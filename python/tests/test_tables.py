"""Tables: taken by pyarrow, pandas, polars and DuckDB, without a copy."""

import headstart
import pytest


@pytest.fixture(scope="module")
def race():
    return headstart.race("30kB", schemes="linux,hs-cubic", repeat=3)


def test_pyarrow_takes_it(race):
    pa = pytest.importorskip("pyarrow")
    table = pa.table(race)
    assert table.to_pylist() == race.schemes.to_pylist()
    assert table.schema.field("page_s").metadata[b"unit"] == b"s"
    assert pa.schema(race) == table.schema


def test_pandas_takes_it(race):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame.from_arrow(race)
    assert frame["scheme"].tolist() == [row["scheme"] for row in race.schemes.to_pylist()]


def test_polars_takes_it(race):
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(race.samples).to_dicts() == race.samples.to_pylist()


def test_duckdb_takes_it(race):
    duckdb = pytest.importorskip("duckdb")
    samples = race.samples
    query = "select count(*) from samples where scheme = 'linux'"
    assert duckdb.sql(query).fetchall() == [(3,)], len(samples)


def test_columns_are_documented(race):
    for table in (race.schemes, race.samples):
        for name, (unit, about) in table.describe().items():
            assert about.endswith("."), name
            assert name.endswith("_s") is False or unit == "s"


def test_concat_shares_rows(race):
    """Both halves of the joined table are the memory of the one."""
    pa = pytest.importorskip("pyarrow")
    samples = race.samples
    joined = pa.table(headstart.Table.concat([samples, samples]))
    own = pa.table(samples)["page_s"].chunk(0).buffers()[1].address
    assert [chunk.buffers()[1].address for chunk in joined["page_s"].chunks] == [own, own]
    with pytest.raises(headstart.Error, match="the same columns"):
        headstart.Table.concat([samples, race.schemes])
    with pytest.raises(headstart.Error, match="at least one"):
        headstart.Table.concat([])


def test_a_table_outlives_its_result():
    pa = pytest.importorskip("pyarrow")
    table = pa.table(headstart.race("3kB", schemes="linux", exact=True))
    assert table.num_rows == 4
