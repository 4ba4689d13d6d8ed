"""Sweeps, scoreboards and captures on a Ray cluster (``pip install headstart[ray]``).

Each node needs this version of headstart. Without a cluster, Ray uses the processors of this
machine: call ``ray.init(address)`` before to use another one. Ray repeats a task whose worker or
node has died.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator

import ray as _ray

from headstart._cluster import Cluster
from headstart._error import Error

__all__ = ["analyze", "dashboard", "predict", "scoreboard", "simulate"]

# Some of its functions have no types.
ray: Any = _ray


def dashboard() -> str | None:
    """The address of the cluster's dashboard; ``None`` if Ray was installed without one."""
    url = ray.init(ignore_reinit_error=True).dashboard_url
    return f"http://{url}" if url else None


class _RayPool:
    """The processors of a Ray cluster."""

    def __init__(self, retries: int) -> None:
        if not ray.is_initialized():
            ray.init()
        self._retries = retries
        self.slots = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def map(
        self, task: Callable[[Any], Any], jobs: Iterable[Any], most: int
    ) -> Iterator[tuple[int, Any]]:
        remote = ray.remote(max_retries=self._retries, num_cpus=1)(task)
        left = enumerate(jobs)
        waiting: dict[Any, int] = {}
        try:
            while True:
                # Results stay in the cluster until they are read, so only few tasks are submitted.
                while len(waiting) < most and (next_job := next(left, None)) is not None:
                    number, job = next_job
                    waiting[remote.remote(job)] = number
                if not waiting:
                    return
                ready, _ = ray.wait(list(waiting), num_returns=1)
                yield waiting.pop(ready[0]), _result(ready[0])
        finally:
            for task_left in waiting:
                ray.cancel(task_left, force=True)


def _result(task: Any) -> Any:
    try:
        return ray.get(task)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, Error):
            raise error.cause from None
        raise Error(f"a task failed: {error.cause}") from error
    except ray.exceptions.RayError as error:
        raise Error(f"Ray gave a task up: {error}") from error


_cluster = Cluster(_RayPool)
simulate = _cluster.simulate
scoreboard = _cluster.scoreboard
analyze = _cluster.analyze
predict = _cluster.predict
