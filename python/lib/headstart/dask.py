"""Sweeps, scoreboards and captures on a Dask cluster (``pip install headstart[dask]``).

Each worker needs this version of headstart. Dask's current client is used; without one, Dask starts
workers on the processors of this machine. Dask repeats the tasks of a worker that has died, by its option
``distributed.scheduler.allowed-failures``. Tasks that it gives up are submitted again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
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


@dataclass(frozen=True)
class _Submitted:
    """A job that Dask has."""

    number: int
    job: Any
    retries: int
    """Times that it is submitted again if its workers die."""


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
        waiting: dict[Any, _Submitted] = {}
        completed = distributed.as_completed()

        def submit(submitted: _Submitted) -> None:
            # Dask's own `retries` repeat tasks that raise, too.
            future = self._client.submit(task, submitted.job, pure=False)
            waiting[future] = submitted
            completed.add(future)

        try:
            for number, job in islice(left, most):
                submit(_Submitted(number, job, self._retries))
            for future in completed:
                done = waiting.pop(future)
                try:
                    result = future.result()
                except Error:
                    raise
                except distributed.KilledWorker as error:
                    if done.retries == 0:
                        raise Error(f"Dask gave a task up: {error}") from error
                    submit(replace(done, retries=done.retries - 1))
                    continue
                except Exception as error:
                    raise Error(f"a task failed: {error}") from error
                yield done.number, result
                for number, job in islice(left, 1):
                    submit(_Submitted(number, job, self._retries))
        finally:
            for future in waiting:
                future.cancel()


_cluster = Cluster(_DaskPool)
simulate = _cluster.simulate
scoreboard = _cluster.scoreboard
analyze = _cluster.analyze
predict = _cluster.predict
