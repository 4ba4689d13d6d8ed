"""The commands of headstart as functions.

A function has the options of its command under the same names. An option that is ``None`` has the
default of the command line: ``headstart race --help`` and the pages below ``docs/`` describe them.
A list stands for several values, a dict for values like ``KEY=VALUE``.
"""

from __future__ import annotations

from os import PathLike
from typing import Mapping, Sequence, Union

from headstart import _core
from headstart._progress import Progress
from headstart._results import Race, Schemes

Text = Union[str, int, float, "PathLike[str]"]
Texts = Union[Text, Sequence[Text]]


def race(
    page: Texts | None = None,
    path: Texts | None = None,
    schemes: Texts | None = None,
    *,
    path_preset: Texts | None = None,
    har_page: Texts | None = None,
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
    ``RATE,RTT,QUEUE``. If one option has several values, the races are compared. ``progress`` is
    called with the number of loads done, and of all.

    Raises :class:`Error` for a request that the command refuses. If a load did not complete, or a
    budget was exceeded, its attribute ``result`` has the results.

    >>> import headstart
    >>> race = headstart.race("30kB", "20mbit,80ms,100p", ["linux", "linux+iw=32"], exact=True)
    >>> for row in race.schemes.to_pylist()[:2]:
    ...     print(row["scheme"], round(row["page_s"], 3))
    linux 0.253
    linux+iw=32 0.173
    """
    options = dict(locals())
    return Race(_core.race(options, options.pop("progress")))


def schemes(name: str | None = None) -> Schemes:
    """Lists the schemes, or shows the page of one: ``headstart schemes``.

    >>> import headstart
    >>> [row["name"] for row in headstart.schemes().table("schemes").to_pylist()][:2]
    ['linux', 'linux-bbr']
    >>> print(headstart.schemes("limit").sentences[0][:19])
    limit: computed fro
    """
    return Schemes(_core.schemes(name))
