"""The commands that a cluster runs, whatever kind it is."""

from __future__ import annotations

from typing import Any, Callable

from headstart import _spread
from headstart._commands import AnySchemes, Plan, Text, Texts
from headstart._progress import Progress
from headstart._results import Analysis, Scoreboard, Sweep
from headstart._spread import Captures, Pool
from headstart._startup import named


class Cluster:
    """Commands whose tasks a cluster runs; ``pool`` makes its processes, for a number of retries."""

    def __init__(self, pool: Callable[[int], Pool]) -> None:
        self._pool = pool

    def simulate(
        self,
        plan: Plan,
        *,
        out: Text | None = None,
        force: bool = False,
        runs_per_task: int = 32,
        in_flight: int | None = None,
        retries: int = 5,
        progress: Progress | None = None,
    ) -> Sweep:
        """Runs the experiment of a plan: :func:`headstart.simulate`, with the same bytes.

        A task makes ``runs_per_task`` runs. At most ``in_flight`` tasks are submitted at a time, by
        default two for each processor. ``out`` is a folder, or an address of fsspec like
        ``s3://bucket/results``; it gets the tables as Parquet. ``force`` permits a folder of another plan, and
        an address with objects. A plan that is a path is read on each node.
        A task is repeated up to ``retries`` times if its worker dies.
        ``progress`` is called with the number of runs done, and of all.
        """
        return _spread.simulate(
            self._pool(retries),
            plan,
            out=out,
            force=force,
            runs_per_task=runs_per_task,
            in_flight=in_flight,
            progress=progress,
        )

    def scoreboard(
        self,
        schemes: AnySchemes | None = None,
        *,
        quick: bool = False,
        all: bool = False,
        real: bool = False,
        half: str | None = None,
        seed: int | None = None,
        seeds: int | None = None,
        exact: bool = False,
        report: Text | None = None,
        runs_per_task: int = 64,
        in_flight: int | None = None,
        retries: int = 5,
        progress: Progress | None = None,
    ) -> Scoreboard:
        """Scores schemes over fixed cells: :func:`headstart.scoreboard`, with the same bytes.

        A task makes ``runs_per_task`` transfers.
        """
        options = {
            "schemes": named(schemes),
            "quick": quick,
            "all": all,
            "real": real,
            "half": half,
            "seed": seed,
            "seeds": seeds,
            "exact": exact,
            "report": report,
        }
        return _spread.scoreboard(
            self._pool(retries),
            options,
            runs_per_task=runs_per_task,
            in_flight=in_flight,
            progress=progress,
        )

    def analyze(
        self,
        captures: Captures,
        *,
        server: Texts | None = None,
        client: Texts | None = None,
        from_: Text | None = None,
        to: Text | None = None,
        sender: str | None = None,
        vantage: str | None = None,
        acks_only: bool = False,
        anonymize: Text | None = None,
        tables: Texts | None = None,
        out: Text | None = None,
        in_flight: int | None = None,
        retries: int = 5,
        progress: Progress | None = None,
    ) -> Analysis:
        """Says why the transfers in captures are slow: :func:`headstart.analyze`, with the same report.

        A task analyses one capture. Files that belong together, like those of two directions, stand in a
        list of their own. Each capture is followed alone: no connection may be in two of them. Findings
        on hosts that come again are exact if no client network is in two captures. Name ``sender``,
        because a survey sees one capture alone.

        ``out`` gets a folder with tables for each capture, ``capture=NAME``, which DuckDB and Spark read
        as one data set. ``tables`` names the tables, by default all but ``windows``. ``out`` must not have
        such folders of an earlier call. If a capture is damaged, the attribute ``result`` of the raised :class:`Error`
        has the results of the rest.
        """
        options = {
            "server": server,
            "client": client,
            "from": from_,
            "to": to,
            "sender": sender,
            "vantage": vantage,
            "acks_only": acks_only,
            "anonymize": anonymize,
            "tables": tables,
        }
        return _spread.analyze(
            self._pool(retries),
            captures,
            options,
            out=out,
            in_flight=in_flight,
            progress=progress,
        )

    def predict(
        self,
        captures: Captures,
        schemes: AnySchemes | None = None,
        *,
        server: Texts | None = None,
        client: Texts | None = None,
        from_: Text | None = None,
        to: Text | None = None,
        sender: str | None = None,
        vantage: str | None = None,
        acks_only: bool = False,
        queue: str | None = None,
        most_transfers: int | None = None,
        seed: int | None = None,
        in_flight: int | None = None,
        retries: int = 5,
        progress: Progress | None = None,
    ) -> tuple[list[dict[str, Any]], dict[str, str]]:
        """Forecasts each capture by itself: :func:`headstart.predict`.

        Returns the rows of all forecasts' tables ``times``, with a column ``capture``, and the reasons why
        captures have no forecast, or one of their beginnings only.
        """
        options = {
            "schemes": named(schemes),
            "server": server,
            "client": client,
            "from": from_,
            "to": to,
            "sender": sender,
            "vantage": vantage,
            "acks_only": acks_only,
            "queue": queue,
            "most_transfers": most_transfers,
            "seed": seed,
        }
        return _spread.predict(
            self._pool(retries), captures, options, in_flight=in_flight, progress=progress
        )
