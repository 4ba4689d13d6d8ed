"""Sweeps, scoreboards and captures on a Dask cluster (``pip install headstart[dask]``).

Each worker needs this version of headstart. Dask's current client is used; without one, Dask starts
workers on the processors of this machine.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator

import distributed as _distributed

from headstart._cluster import Cluster
from headstart._error import Error

__all__ = ["analyze", "dashboard", "predict", "scoreboard", "simulate"]

# Its functions have no types.
distributed: Any = _distributed


def dashboard() -> str | None:
    """The address of the cluster's dashboard."""
    link: str | None = _client().dashboard_link
    return link


def _client() -> Any:
    try:
        return distributed.default_client()
    except ValueError:
        return distributed.Client()


class _DaskPool:
    """The threads of a Dask cluster."""

    def __init__(self, retries: int) -> None:
        self._client = _client()
        self._retries = retries
        self.slots = max(1, sum(self._client.nthreads().values()))

    def map(
        self, task: Callable[[Any], Any], jobs: Iterable[Any], most: int
    ) -> Iterator[tuple[int, Any]]:
        left = enumerate(jobs)
        waiting: dict[Any, int] = {}
        completed = distributed.as_completed()

        def submit() -> None:
            if (next_job := next(left, None)) is not None:
                number, job = next_job
                future = self._client.submit(task, job, pure=False, retries=self._retries)
                waiting[future] = number
                completed.add(future)

        try:
            for _ in range(most):
                submit()
            for future in completed:
                try:
                    result = future.result()
                except Error:
                    raise
                except Exception as error:
                    raise Error(f"a task failed: {error}") from error
                yield waiting.pop(future), result
                submit()
        finally:
            for future in waiting:
                future.cancel()


_cluster = Cluster(_DaskPool)
simulate = _cluster.simulate
scoreboard = _cluster.scoreboard
analyze = _cluster.analyze
predict = _cluster.predict
