"""Sweeps on Spark, by ``mapInArrow``: docs/sweeps.md has the recipe."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Callable, Iterable, Iterator

from headstart import _spread
from headstart._commands import Plan, Text
from headstart._results import Sweep

SCHEMA = "part string, packed binary"
"""The schema of the rows that :func:`tasks` makes."""


def shards(plan: Plan, runs_per_task: int = 32) -> list[tuple[str]]:
    """Rows with the parts of a plan, one for each task, like ``2/8``."""
    return [(part.shard,) for part in _spread.plan_parts(plan, runs_per_task)]


def tasks(plan: Plan) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """A function for ``mapInArrow``: from rows of :func:`shards` to rows with the parts' results."""
    [whole] = _spread.plan_parts(plan, 2**62)

    def make(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for shard in batch.column(0).to_pylist():
                part = _spread.Part(whole.subject, whole.options, shard, whole.start_ups)
                packed = _spread.simulate_part(part)
                columns = [pa.array([shard]), pa.array([packed], pa.binary())]
                yield pa.RecordBatch.from_arrays(columns, ["part", "packed"])

    return make


def join(rows: Iterable[Any], out: Text | None = None, force: bool = False) -> Sweep:
    """Joins the rows that :func:`tasks` has made, in any order: :func:`headstart.simulate`'s result.

    ``rows`` may be ``frame.toLocalIterator()``. ``out`` is a folder, or an address of fsspec.
    With ``force``, it may hold other results.
    """
    _spread._folder_of(out).claim(None, force)
    with TemporaryDirectory(prefix="headstart-") as folder:
        # Spark may make a part twice; its results are the same.
        places: dict[str, Path] = {}
        for part, packed in rows:
            place = Path(folder, part.replace("/", "-of-"))
            if part not in places:
                places[part] = _spread._unpacked(bytes(packed), place)
        return _spread.join_sweep(places.values(), out, force)
