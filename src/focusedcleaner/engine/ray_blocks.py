"""Kernels on the workers of a Ray cluster: each owns some of the blocks, and a lost one costs its blocks only."""

from __future__ import annotations

import itertools
import pickle
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from focusedcleaner.engine.blocks import EdgeWeights, FeatureBlock, RowBlock
from focusedcleaner.engine.packing import LARGE, Packed, pack, unpack
from focusedcleaner.engine.parallel import Executor, checked_threads
from focusedcleaner.engine.ray_cluster import Lifelines, ray_cluster
from focusedcleaner.engine.ray_worker import BlockWorker, processor, versions
from focusedcleaner.errors import InputError, InputWarning

RETRIES = 3
"""How often a kernel is computed again after its worker was lost."""
START_SECONDS = 90.0
"""How long workers may take to start."""
_TICK = 1.0
"""Seconds between two looks at the cluster while workers compute."""

Block = RowBlock | FeatureBlock
R = TypeVar("R")


@contextmanager
def ray_executor(address: str | None = None, *, workers: int | None = None) -> Iterator[Executor]:
    """Compute blocks on a Ray cluster: ``with ray_executor() as executor, computing(executor=executor): …``

    Args:
        address: ``host:port`` of a cluster that this machine belongs to, which keeps running; None starts one on this
            machine for the time of the block.
        workers: number of workers; None uses all free cores.

    Raises:
        InputError: the extra is missing, there is no such cluster, or its workers have other versions.
    """
    if workers is not None:
        checked_threads(workers)
    with ray_cluster(address, workers or checked_threads(None)) as (ray, lifelines):
        executor = RayWorkers(ray, lifelines, _count(ray, workers))
        try:
            yield executor
        finally:
            executor.close()


def _count(ray: Any, workers: int | None) -> int:
    cores = int(ray.cluster_resources().get("CPU", 0))
    if workers is not None and workers > cores:
        raise InputError(f"the Ray cluster has {cores} cores, too few for {workers} workers")
    return workers or max(1, int(ray.available_resources().get("CPU", 0)))


@dataclass
class _Worker:
    """A slot, which owns the blocks of one range of rows, and the process that fills it now."""

    slot: int
    actor: Any
    held: set[int] = field(default_factory=set)
    """Keys of the blocks that it has."""


@dataclass
class _Job:
    """Items that one worker computes in one call."""

    numbers: list[int]
    slot: int | None
    """The worker that owns the items' blocks; None for a task, which any worker computes."""
    losses: int = 0
    """How many workers were lost over it."""


class _Call:
    """One kernel, its items, and what they share, which is put into the object store once."""

    def __init__(self, blocks: Sequence[Any], shared: Packed, references: list[Any], data: Any) -> None:
        self.blocks, self.shared, self.references, self.data = blocks, shared, references, data
        self.results: list[Any] = [None] * len(blocks)


class RayWorkers:
    """The workers of a cluster as an `Executor`.

    A block always goes to the same worker, by its position among all entries; what is not a block of a graph is a
    task, which the next free worker takes.

    Args:
        ray: the package, connected.
        lifelines: of the cluster.
        count: number of workers.
    """

    def __init__(self, ray: Any, lifelines: Lifelines, count: int) -> None:
        self._ray, self._lifelines = ray, lifelines
        self._numbers = itertools.count()
        self._keys: weakref.WeakKeyDictionary[Block, int] = weakref.WeakKeyDictionary()
        self._released: set[int] = set()
        self._weights: weakref.WeakKeyDictionary[EdgeWeights, Any] = weakref.WeakKeyDictionary()
        self._class = ray.remote(BlockWorker)
        self._workers = [_Worker(slot, actor) for slot, actor in enumerate(self._start_actors(count, cores=1))]

    def map(self, kernel: Callable[..., R], blocks: Sequence[Any], *shared: Any) -> list[R]:
        """Return kernel(block, *shared) of every block or task, in their order; one block alone is computed here."""
        if not blocks or (len(blocks) == 1 and _block_of(blocks[0]) is not None):
            return [kernel(block, *shared) for block in blocks]
        self._lifelines.check()
        packed = pack((kernel, shared))
        references = [self._reference(packed, number) for number in range(len(packed.arrays))]
        data = self._ray.put(packed.data) if len(packed.data) >= LARGE else packed.data
        call = _Call(blocks, packed, references, data)
        self._compute(call, self._jobs(blocks))
        return call.results

    def close(self) -> None:
        """End the workers."""
        for worker in self._workers:
            self._ray.kill(worker.actor)
        self._workers = []

    def _jobs(self, blocks: Sequence[Any]) -> list[_Job]:
        owned: dict[int, _Job] = {}
        tasks = []
        for number, item in enumerate(blocks):
            block = _block_of(item)
            if block is None:
                tasks.append(_Job([number], None))
                continue
            slot = min(int(block.position * len(self._workers)), len(self._workers) - 1)
            owned.setdefault(slot, _Job([], slot)).numbers.append(number)
        return [*owned.values(), *tasks]

    def _reference(self, packed: Packed, number: int) -> Any:
        """Put an array into the object store; weights are kept there as long as they exist."""
        weights = packed.weights.get(number)
        known = None if weights is None else self._weights.get(weights)
        if known is None:
            known = self._ray.put(packed.arrays[number])
            if weights is not None:
                self._weights[weights] = known
        return known

    def _compute(self, call: _Call, jobs: list[_Job]) -> None:
        waiting = deque(jobs)
        running: dict[Any, tuple[_Worker, _Job]] = {}
        while waiting or running:
            busy = {worker.slot for worker, _ in running.values()}
            for worker in self._workers:
                job = next((job for job in waiting if job.slot in (None, worker.slot)), None)
                if worker.slot not in busy and job is not None:
                    waiting.remove(job)
                    running[self._start(worker, job, call)] = worker, job
            ready, _ = self._ray.wait(list(running), timeout=_TICK)
            if not ready:
                self._lifelines.check()
            for reference in ready:
                worker, job = running.pop(reference)
                if not self._collect(reference, worker, job, call):
                    self._replace(worker, job)
                    waiting.appendleft(job)

    def _start(self, worker: _Worker, job: _Job, call: _Call) -> Any:
        """Send a job, with those of its blocks that the worker doesn't have."""
        needed: dict[int, Block] = {}

        def name(value: Any) -> int | None:
            if not isinstance(value, Block):
                return None
            needed[self._key(value)] = value
            return self._key(value)

        items = pack([call.blocks[number] for number in job.numbers], name)
        new = {key: block for key, block in needed.items() if key not in worker.held}
        places = {place for block in new.values() if (place := _folder_of(block)) is not None}
        dropped = worker.held & self._released
        worker.held = (worker.held | new.keys()) - dropped
        return worker.actor.run.remote(
            call.data,
            items.data,
            pickle.dumps(new, protocol=5),
            list(places),
            sorted(dropped),
            len(call.references),
            *call.references,
            *items.arrays,
        )

    def _key(self, block: Block) -> int:
        key = self._keys.get(block)
        if key is None:
            key = next(self._numbers)
            self._keys[block] = key
            weakref.finalize(block, self._released.add, key)
        return key

    def _collect(self, reference: Any, worker: _Worker, job: _Job, call: _Call) -> bool:
        """Take the results of a job; False if its worker was lost. An error of the kernel is raised here."""
        try:
            data, arrays = self._ray.get(reference)
        except self._ray.exceptions.RayError:
            return False
        # The object store's memory is read-only, and a caller may go on computing in place.
        results, error = unpack(data, [array.copy() for array in arrays])
        if error is not None:
            worker.held = set()  # it may not have got as far as to hold the new blocks
            raise error
        for number, result in zip(job.numbers, results, strict=True):
            call.results[number] = result
        return True

    def _replace(self, worker: _Worker, job: _Job) -> None:
        """Start a worker, wherever the cluster has room, in place of a lost one."""
        self._lifelines.check()
        job.losses += 1
        if job.losses > RETRIES:
            raise InputError(
                f"a Ray worker was lost {job.losses} times at the same blocks: it may have too little memory"
            )
        self._ray.kill(worker.actor)  # it may be unreachable, but alive
        (worker.actor,), worker.held = self._start_actors(1, cores=0), set()

    def _start_actors(self, count: int, cores: int) -> list[Any]:
        end = time.monotonic() + START_SECONDS
        actors = [self._actor(cores) for _ in range(count)]
        return [self._started(actor, cores, end) for actor in actors]

    def _actor(self, cores: int) -> Any:
        options = {"num_cpus": cores, "max_restarts": 0, "max_task_retries": 0, "scheduling_strategy": "SPREAD"}
        return self._class.options(**options).remote()

    def _started(self, actor: Any, cores: int, end: float) -> Any:
        """Wait for a worker; where Ray could not start it, as on a node whose end is not yet known, try again."""
        errors = self._ray.exceptions
        while True:
            try:
                _check_same(self._ray.get(actor.about.remote(), timeout=max(1.0, end - time.monotonic())))
            except errors.GetTimeoutError:
                raise InputError(
                    f"a Ray worker did not start within {START_SECONDS:.0f} s: the cluster may be busy; ask for fewer"
                ) from None
            except errors.RayError as error:
                self._lifelines.check()
                if "NotFoundError" in str(error) or time.monotonic() > end:
                    raise InputError(f"a Ray worker could not start: {_last_line(error)}") from None
                time.sleep(_TICK)
                actor = self._actor(cores)
            else:
                return actor


def _check_same(about: dict[str, Any]) -> None:
    """Compare a worker with this process."""
    for package, version in versions().items():
        if about["versions"][package] != version:
            raise InputError(
                f"node {about['node']} has {package} {about['versions'][package]} where this machine has {version}: "
                "install the same versions on all nodes"
            )
    if about["processor"] != processor():
        text = f"node {about['node']} computes with {about['processor']}, this machine with {processor()}"
        warnings.warn(f"{text}: the last digits may differ from those of one machine", InputWarning, stacklevel=2)


def _block_of(item: Any) -> Block | None:
    """The block that an item is, or that it is a pair with; None for a task."""
    first = item[0] if isinstance(item, tuple) and item else item
    return first if isinstance(first, Block) else None


def _folder_of(block: Block) -> tuple[str, str | None] | None:
    """The graph folder of a block, and its checksum."""
    if block.place is None:
        return None
    return block.place if isinstance(block, RowBlock) else (block.place[0].folder, block.place[0].checksum)


def _last_line(error: Exception) -> str:
    return str(error).strip().splitlines()[-1].strip()[:200]
