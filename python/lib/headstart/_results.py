"""Results of commands: tables for Arrow's consumers, JSON, and views for readers."""

from __future__ import annotations

import json
from typing import Any

from headstart import _core
from headstart._core import Table
from headstart._error import Error


class Results:
    """Results of a command.

    Each result stands for its first table: ``pandas.DataFrame.from_arrow(result)``,
    ``polars.from_dataframe`` and ``pyarrow.table(result)`` take it without a copy.
    """

    def __init__(self, core: _core.Results, notes: list[str] | None = None) -> None:
        self._core = core
        self._notes = core.notes if notes is None else notes

    @property
    def table_names(self) -> list[str]:
        """Names of the tables. The first one stands for the result."""
        return self._core.table_names

    def table(self, name: str) -> Table:
        """Returns the table of a name."""
        return self._core.table(str(name))

    @property
    def sentences(self) -> list[str]:
        """The results in words, as the command prints them."""
        return self._core.sentences

    @property
    def notes(self) -> list[str]:
        """Notes that the command prints beside its results."""
        return self._notes

    def to_json(self) -> str:
        """Returns the bytes that the command prints with ``--json``, as text."""
        return self._core.to_json()

    def to_dict(self) -> Any:
        """Returns the values of :meth:`to_json` as dicts and lists."""
        return json.loads(self.to_json())

    def __arrow_c_schema__(self) -> object:
        return self._first().__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._first().__arrow_c_stream__(requested_schema)

    def _first(self) -> Table:
        if not self.table_names:
            raise Error("the result has no table: its text and to_json() have what it says")
        return self.table(self.table_names[0])

    def __repr__(self) -> str:
        return self._core.to_text()

    def _repr_html_(self) -> str:
        return self._core.to_html()


class Race(Results):
    """A race's results, or those of several races that differ in one condition."""

    @property
    def schemes(self) -> Table:
        """A row for each scheme, limit and kind of visit: times, gains, losses."""
        return self.table("schemes")

    @property
    def samples(self) -> Table:
        """A row for each load."""
        return self.table("samples")


class Schemes(Results):
    """Schemes, and the policies and parameters that they are made of; or the page of one scheme.

    A page has no tables.
    """

    @property
    def schemes(self) -> Table:
        """A row for each scheme."""
        return self.table("schemes")

    @property
    def startups(self) -> Table:
        """A row for each start-up."""
        return self.table("startups")

    @property
    def controllers(self) -> Table:
        """A row for each congestion controller."""
        return self.table("controllers")

    @property
    def recoveries(self) -> Table:
        """A row for each loss recovery."""
        return self.table("recoveries")

    @property
    def queues(self) -> Table:
        """A row for each queueing discipline."""
        return self.table("queues")

    @property
    def parameters(self) -> Table:
        """A row for each parameter of schemes."""
        return self.table("parameters")


class Sweep(Results):
    """The results of a plan. They stand for the means over repeats."""

    @property
    def summary(self) -> Table:
        """A row for each cell, workload and measure: the mean over repeats, and its error."""
        return self.table("summary")

    @property
    def cells(self) -> Table:
        """A row for each run."""
        return self.table("cells")

    @property
    def workloads(self) -> Table:
        """A row for each workload and run."""
        return self.table("workloads")

    @property
    def flows(self) -> Table:
        """A row for each transfer."""
        return self.table("flows")

    @property
    def queues(self) -> Table:
        """A row for each link and run."""
        return self.table("queues")


class Analysis(Results):
    """The results of an analysis. They stand for the transfers."""

    @property
    def transfers(self) -> Table:
        """A row for each transfer, with where its time went."""
        return self.table("transfers")

    @property
    def connections(self) -> Table:
        """A row for each connection."""
        return self.table("connections")

    @property
    def retransmissions(self) -> Table:
        """A row for each retransmission."""
        return self.table("retransmissions")

    @property
    def loss_epochs(self) -> Table:
        """A row for each loss epoch of a client host."""
        return self.table("loss_epochs")

    @property
    def windows(self) -> Table:
        """A row for each ACK that reached a sender; only if ``tables`` names it."""
        return self.table("windows")


class Forecast(Results):
    """A forecast. It stands for the times of transfers under each scheme."""

    @property
    def times(self) -> Table:
        """A row for the capture, and for each scheme."""
        return self.table("times")

    @property
    def gains(self) -> Table:
        """A row for each group of transfers, a column for each scheme."""
        return self.table("gains")


class Scoreboard(Results):
    """Schemes over fixed cells. It stands for the scores."""

    @property
    def scores(self) -> Table:
        """A row for each scheme, the best first, below the limits."""
        return self.table("scores")

    @property
    def states(self) -> Table:
        """A row for each scheme: times over ``linux``'s by load and by what the sender remembers."""
        return self.table("states")

    @property
    def causes(self) -> Table:
        """A row for each scheme: timeouts, probes, retransmissions, and other causes of lost time."""
        return self.table("causes")


class Papers(Results):
    """Answers to the papers' claims: a table of figures for each claim, under the claim's name."""


class Theory(Results):
    """Closed forms of the papers, a table for each."""
