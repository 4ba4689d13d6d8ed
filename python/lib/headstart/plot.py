"""Figures of results, by matplotlib (``pip install headstart[plot]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headstart._results import Analysis, Race, Sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _axes(axes: Axes | None) -> Any:
    if axes is not None:
        return axes
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def race(result: Race, axes: Axes | None = None) -> Axes:
    """Draws the median time under each scheme; whiskers reach from the smallest to the largest.

    >>> import headstart, matplotlib
    >>> matplotlib.use("agg")
    >>> axes = headstart.plot.race(headstart.race("30kB", schemes="linux", exact=True))
    >>> axes.get_xlabel()
    'time of the load, s'
    """
    axes = _axes(axes)
    rows = [row for row in result.schemes.to_pylist() if row["page_s"] is not None]
    names = [" ".join(filter(None, (row["scheme"], row["variant"]))) for row in rows]
    if len({row["visit"] for row in rows}) > 1:
        names = [f"{name}, {row['visit']} visit" for name, row in zip(names, rows)]
    times = [row["page_s"] for row in rows]
    below = [row["page_s"] - row["page_s_min"] for row in rows]
    above = [row["page_s_max"] - row["page_s"] for row in rows]
    colours = ["0.7" if row["on"] is None else "C0" for row in rows]
    places = range(len(rows))
    axes.barh(places, times, xerr=(below, above), color=colours)
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlabel("time of the load, s")
    return axes


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def sweep(
    result: Sweep, measure: str, axis: str, workload: str = "all", axes: Axes | None = None
) -> Axes:
    """Draws the mean of a measure over an axis of the sweep, with a curve for each scheme.

    Bars reach one standard error to each side. A sweep with other axes needs one value of each.
    """
    axes = _axes(axes)
    rows = [
        row
        for row in result.summary.to_pylist()
        if row["metric"] == measure and row["workload"] == workload
    ]
    # Coordinates are texts. Numbers stand at their places, other values in the order of the plan.
    if all(_is_number(row[axis]) for row in rows):
        rows = sorted(({**row, axis: float(row[axis])} for row in rows), key=lambda row: row[axis])
    for scheme in dict.fromkeys(row["scheme"] for row in rows):
        own = [row for row in rows if row["scheme"] == scheme]
        errors = [row["standard_error"] or 0.0 for row in own]
        axes.errorbar([row[axis] for row in own], [row["mean"] for row in own], errors, label=scheme)
    axes.set_xlabel(axis)
    axes.set_ylabel(measure)
    axes.legend()
    return axes


def analysis(result: Analysis, axes: Axes | None = None) -> Axes:
    """Draws where the time of all transfers went, the largest cause first."""
    axes = _axes(axes)
    names = result.transfers.column_names
    causes = names[names.index("handshake_ns") : names.index("unexplained_ns") + 1]
    sums = dict.fromkeys(causes, 0)
    for row in result.transfers.to_pylist():
        for cause in causes:
            sums[cause] += row[cause] or 0
    spent = sorted(((ns, cause) for cause, ns in sums.items() if ns > 0), reverse=True)
    axes.barh([cause[: -len("_ns")].replace("_", " ") for _, cause in spent], [ns / 1e9 for ns, _ in spent])
    axes.invert_yaxis()
    axes.set_xlabel("time of all transfers, s")
    return axes
