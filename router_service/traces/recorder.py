"""Recorder: traces leave the path of decisions at once, and reach the store in batches.

Recording never waits and never fails. Where more comes than the store takes, or the store is lost, what does not fit
is dropped and counted (docs/reliability.md, Traces).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator

from router_service.catalog.slices import unhurried
from router_service.engine.cache import Bounded
from router_service.store.interface import GRACE_MS, Store, StoreLost, Trace
from router_service.traces.record import Codec, Record, trace_of

# What is pending is counted by weight: a record of an ordinary request is 1, one with long lists as many times more.
PENDING_MAX = 50_000
_BATCH = 200  # encoding one takes some µs of the loop's time
_ENTRIES_A_WEIGHT = 16
_ENCODED_AT_ONCE = 4
_EVERY_S = 0.1
# Versions of figures that were kept lately. To keep one again changes nothing, but that a sweep spares it longer.
_FIGURES_KNOWN, _FIGURES_KEPT_MS = 64, GRACE_MS // 2
_PATIENCE_S = 1.0  # between tries while the store is lost


class Recorder:
    """Takes records and writes their traces. `dropped` is told how many could not be kept."""

    def __init__(
        self,
        store: Store,
        codec: Codec,
        dropped: Callable[[int], None],
        before: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`before` is done ahead of each writing: what must be in the store when a trace is."""
        self._store, self._codec, self._dropped, self._before = store, codec, dropped, before
        self._pending: dict[str, Record] = {}
        self._weight = 0
        self._under_way: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._kept: Bounded[str, int] = Bounded(_FIGURES_KNOWN)

    def __contains__(self, trace_id: str) -> bool:
        """Whether a trace is not written yet."""
        return trace_id in self._pending

    @property
    def pending(self) -> int:
        """How many traces are not written yet."""
        return len(self._pending)

    def record(self, record: Record) -> None:
        """Keeps a record until it is written."""
        weight = _weight(record)
        if self._weight + weight > PENDING_MAX:
            self._dropped(1)
            return
        self._weight += weight
        self._pending[record.trace_id] = record
        if not self._wake.is_set():
            self._wake.set()

    async def run(self) -> None:
        """Writes until it is cancelled. Whatever it raises, it may be run again, and begins with what is pending."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await asyncio.sleep(_EVERY_S)
            try:
                await self.flush()
            except StoreLost:
                await asyncio.sleep(_PATIENCE_S)
                self._wake.set()
            except Exception:
                self._wake.set()
                raise

    async def flush(self) -> None:
        """Writes all that is pending now; what comes meanwhile waits for the next. Raises StoreLost.

        Who asks while one is under way waits for that one and then for one more, which all who wait share.
        """
        if self._under_way is not None:
            await asyncio.wait((self._under_way,))  # how it ended is for those who asked for it
        if self._under_way is None or self._under_way.done():
            self._under_way = asyncio.create_task(self._write(list(self._pending.values())))
            self._under_way.add_done_callback(_seen)
        await asyncio.shield(self._under_way)

    async def _write(self, records: list[Record]) -> None:
        if self._before is not None:
            await self._before()
        try:
            while records:
                batch = _first(records)
                del records[: len(batch)]
                await self._keep_figures(batch)
                await self._store.write_traces(await unhurried(self._encoded(batch)))
                for one in batch:
                    if self._pending.pop(one.trace_id, None) is not None:
                        self._weight -= _weight(one)
        except StoreLost:
            self._kept.clear()  # it may come back without what it had
            raise

    def _encoded(self, batch: list[Record]) -> Generator[None, None, list[Trace]]:
        """The traces of a batch, bit by bit: all at once they would hold up decisions for milliseconds."""
        traces = []
        for number, record in enumerate(batch):
            trace = self._trace_of(record)
            if trace is not None:
                traces.append(trace)
            if number % _ENCODED_AT_ONCE == 0:
                yield
        return traces

    async def _keep_figures(self, records: list[Record]) -> None:
        """Keeps the figures that records refer to, ahead of their traces; most share one version."""
        latest = {one.overlay.version: one for one in records if one.overlay.version}
        for version, one in latest.items():
            kept_at = self._kept.get(version)
            if kept_at is None or abs(one.now - kept_at) >= _FIGURES_KEPT_MS:
                await self._store.keep_catalog(version, one.overlay.packed)
                self._kept[version] = one.now

    def _trace_of(self, record: Record) -> Trace | None:
        try:
            return trace_of(record, self._codec)
        except Exception:  # noqa: BLE001 - one that cannot be encoded must not keep the others from being written
            self._dropped(1)
            return None

    def give_up(self) -> int:
        """Drops what is pending, since nobody will write it any more, and counts it; how many that were."""
        if self._under_way is not None:
            self._under_way.cancel()
        lost = len(self._pending)
        if lost:
            self._dropped(lost)
        self._pending.clear()
        self._weight = 0
        return lost


def _seen(writing: asyncio.Task[None]) -> None:
    """Whoever asked may be gone when it fails; what it did not write is tried again."""
    if not writing.cancelled():
        writing.exception()


def _weight(record: Record) -> int:
    return 1 if record.request.is_short else 1 + record.request.entries // _ENTRIES_A_WEIGHT


def _first(records: list[Record]) -> list[Record]:
    """As many of the first as make a batch, at least one."""
    weight = 0
    for number, record in enumerate(records):
        weight += _weight(record)
        if weight > _BATCH and number:
            return records[:number]
    return records[:]
