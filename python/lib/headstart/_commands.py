"""The commands of headstart as functions.

A function has the options of its command under the same names. An option that is ``None`` has the
default of the command line: ``headstart race --help`` and the pages below ``docs/`` describe them.
A list stands for several values, a dict for values like ``KEY=VALUE``.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Callable, Iterable, Mapping, TypeVar, Union

from headstart import _core
from headstart._error import Error
from headstart._plan import plain
from headstart._progress import Progress
from headstart._results import (
    Analysis,
    Forecast,
    Papers,
    Race,
    Results,
    Schemes,
    Scoreboard,
    Sweep,
)
from headstart._startup import StartUp, named

Text = Union[str, int, float, "PathLike[str]"]
Texts = Union[Text, Iterable[Text]]
AnyScheme = Union[Text, "type[StartUp]"]
AnySchemes = Union[AnyScheme, Iterable[AnyScheme]]
"""Schemes by their names, or start-ups of Python by their classes."""
Plan = Union[str, "PathLike[str]", Mapping[str, Any]]
"""A plan: the path of its file, its text in TOML, which has several lines, or a dict of its keys."""

Answer = TypeVar("Answer", bound=Results)


def _answered(kind: type[Answer], ask: Callable[..., _core.Results], *request: Any) -> Answer:
    """Asks, and wraps the results, also those of a failure."""
    try:
        return kind(ask(*request))
    except Error as error:
        if error.result is not None:
            error.result = kind(error.result)
        raise


def race(
    page: Texts | None = None,
    path: Texts | None = None,
    schemes: AnySchemes | None = None,
    *,
    path_preset: Texts | None = None,
    har_page: Texts | None = None,
    linux: Texts | None = None,
    upload: Texts | None = None,
    http: Texts | None = None,
    connections: Texts | None = None,
    tls: Texts | None = None,
    tls_flight: Texts | None = None,
    rtt_of: Texts | Mapping[str, str] | None = None,
    dns: Texts | None = None,
    background: Texts | None = None,
    visits: int | None = None,
    reconnect: bool = False,
    idle: Texts | None = None,
    site: int | None = None,
    on: Texts | None = None,
    server_model: Texts | None = None,
    client_model: Texts | None = None,
    client_window: Texts | None = None,
    repeat: int | None = None,
    exact: bool = False,
    seed: int | None = None,
    until: str | None = None,
    budget: str | Mapping[str, str] | None = None,
    report: Text | None = None,
    pcap: Text | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Race:
    """Loads a page over a path under each scheme, in simulation: ``headstart race``.

    ``page`` is a page by name, one object of a size like ``30kB``, or a HAR file. ``path`` is
    ``RATE,RTT,QUEUE``, or a name that ``headstart paths`` lists. ``schemes`` are names, or classes
    of :class:`StartUp`. If one option has several values, the races are compared. ``progress`` is
    called with the number of loads done, and of all.

    Raises :class:`Error` for a request that the command refuses. If a load did not complete, or a
    budget was exceeded, its attribute ``result`` has the results.

    >>> import headstart
    >>> race = headstart.race("30kB", "20mbit,80ms,100p", ["linux", "linux+iw=32"], exact=True)
    >>> for row in race.schemes.to_pylist()[:2]:
    ...     print(row["scheme"], round(row["page_s"], 3))
    linux 0.247
    linux+iw=32 0.173
    """
    options = dict(locals())
    del options["progress"]
    options["schemes"] = named(schemes)
    return _answered(Race, _core.race, options, progress)


def schemes(name: AnyScheme | None = None) -> Schemes:
    """Lists the schemes, or shows the page of one: ``headstart schemes``.

    >>> import headstart
    >>> names = [row["name"] for row in headstart.schemes().table("schemes").to_pylist()]
    >>> "linux" in names, "hs-cubic" in names
    (True, True)
    >>> print(headstart.schemes("limit").sentences[0][:29])
    limit: computed from page and
    """
    return _answered(Schemes, _core.schemes, None if name is None else str(named(name)))


def simulate(
    plan: Plan,
    *,
    out: Text | None = None,
    force: bool = False,
    jobs: int | None = None,
    shard: str | None = None,
    report: Text | None = None,
    plot: Texts | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Runs the experiment of a plan: ``headstart lab sim``.

    ``plan`` is a path, a text in TOML, or a dict; :class:`Error` names the path of a wrong key of a
    dict, like ``topology.bottleneck.rate``. With ``out``, the results stay in a folder, and a
    later call makes only the missing runs. Without it, nothing is left on disk. ``progress`` is
    called with the number of runs done, and of all.

    >>> import headstart
    >>> plan = {
    ...     "schemes": ["newreno", "newreno+iw=1"],
    ...     "topology": {
    ...         "kind": "dumbbell",
    ...         "bottleneck": {"rate": "1.5mbit", "delay": "50ms", "queue": "50p"},
    ...         "side": {"rate": "10mbit", "delay": "1ms"},
    ...     },
    ...     "workload": {
    ...         "short": {
    ...             "from": "sources",
    ...             "to": "sinks",
    ...             "count": 1,
    ...             "traffic": {"kind": "bulk", "size": "30kB"},
    ...         }
    ...     },
    ... }
    >>> [row["scheme"] for row in headstart.simulate(plan).cells.to_pylist()]
    ['newreno', 'newreno+iw=1']
    """
    options = dict(locals())
    del options["plan"], options["progress"]
    plan = plain(plan)
    if out is not None:
        return _answered(Sweep, _core.simulate, plan, options, progress)
    with TemporaryDirectory(prefix="headstart-") as folder:
        options["out"] = str(Path(folder, "results"))
        return _answered(Sweep, _core.simulate, plan, options, progress)


def analyze(
    captures: Texts | None = None,
    *,
    server: Texts | None = None,
    client: Texts | None = None,
    from_: Text | None = None,
    to: Text | None = None,
    sender: str | None = None,
    vantage: str | None = None,
    acks_only: bool = False,
    tables: Texts | None = None,
    out: Text | None = None,
    mergeable: bool = False,
    merge: Texts | None = None,
    report: Text | None = None,
    jobs: int | None = None,
    anonymize: Text | bool | None = None,
    progress: Progress | None = None,
) -> Analysis:
    """Says why the transfers in packet captures are slow: ``headstart analyze``.

    ``captures`` is one file, or several in any order. Tables are kept in memory; ``tables`` names
    the wanted ones, by default all but ``windows``, which is as long as the capture. With ``out``,
    they are written to Parquet files in a folder instead. With ``mergeable``, the folder has sums, too,
    and ``merge`` is a list of such folders instead of captures: the results are those of one run.
    ``from_`` is the option ``--from``.
    ``progress`` is called with the number of bytes read, and of all.

    :meth:`Results.to_json` returns what ``--json=findings`` prints. If a capture is damaged, the
    attribute ``result`` of the raised :class:`Error` has the results of the rest.

    >>> import headstart, pathlib, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> _ = headstart.race("30kB", schemes="linux", exact=True, pcap=folder)
    >>> captures = [pathlib.Path(folder, f"linux-{part}.pcap") for part in ("down-sent", "up")]
    >>> analysis = headstart.analyze(captures, sender="linux", vantage="middle")
    >>> [(row["bytes"], row["outcome"]) for row in analysis.transfers.to_pylist()]
    [(30200, 'complete')]
    """
    options = dict(locals())
    del options["progress"]
    options["files"] = options.pop("captures")
    options["from"] = options.pop("from_")
    return _answered(Analysis, _core.analyze, options, progress)


def predict(
    captures: Texts,
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
    jobs: int | None = None,
    report: Text | None = None,
    progress: Progress | None = None,
) -> Forecast:
    """Predicts what the transfers in captures would take under other schemes: ``headstart predict``.

    ``progress`` is called with the number of replays done, and of all. If the replay does not
    explain the capture, :class:`Error` is raised, and its attribute ``result`` says why.
    """
    options = dict(locals())
    del options["progress"]
    options["files"] = options.pop("captures")
    options["from"] = options.pop("from_")
    options["schemes"] = named(schemes)
    return _answered(Forecast, _core.predict, options, progress)


def scoreboard(
    schemes: AnySchemes | None = None,
    *,
    quick: bool = False,
    all: bool = False,
    real: bool = False,
    half: str | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    exact: bool = False,
    jobs: int | None = None,
    report: Text | None = None,
    progress: Progress | None = None,
) -> Scoreboard:
    """Scores schemes over fixed cells: ``headstart lab scoreboard``.

    ``progress`` is called with the number of transfers done, and of all.
    """
    options = dict(locals())
    del options["progress"]
    options["schemes"] = named(schemes)
    return _answered(Scoreboard, _core.scoreboard, options, progress)


def papers(
    *claims: str,
    quick: bool = False,
    jobs: int | None = None,
    report: Text | None = None,
    progress: Progress | None = None,
) -> Papers:
    """Checks claims of five papers on TCP start-up by simulation: ``headstart lab papers``.

    ``claims`` are names like ``FS-1``, or families like ``SES``; without them, all are checked.
    """
    options = dict(locals())
    del options["progress"]
    return _answered(Papers, _core.papers, options, progress)
