"""Recorder: traces leave the path of decisions at once, and reach the store in batches.

Recording never waits and never fails. Where more comes than the store takes, or the store is lost, what does not fit
is dropped and counted (docs/reliability.md, Traces).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from router_service.store.interface import Store, StoreLost, Trace
from router_service.traces.record import Codec, Record, trace_of

PENDING_MAX = 50_000
_BATCH = 200  # encoding one takes some µs of the loop's time
_EVERY_S = 0.05
_PATIENCE_S = 1.0  # between tries while the store is lost


class Recorder:
    """Takes records and writes their traces. `dropped` is told how many could not be kept."""

    def __init__(self, store: Store, codec: Codec, dropped: Callable[[int], None]) -> None:
        self._store, self._codec, self._dropped = store, codec, dropped
        self._pending: dict[str, Record] = {}
        self._writing = asyncio.Lock()
        self._wake = asyncio.Event()

    def record(self, record: Record) -> None:
        """Keeps a record until it is written."""
        if len(self._pending) >= PENDING_MAX:
            self._dropped(1)
            return
        self._pending[record.trace_id] = record
        if not self._wake.is_set():
            self._wake.set()

    def pending(self, trace_id: str) -> Trace | None:
        """A trace that is not written yet."""
        record = self._pending.get(trace_id)
        return None if record is None else trace_of(record, self._codec)

    async def run(self) -> None:
        """Writes until it is cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await asyncio.sleep(_EVERY_S)
            try:
                await self.flush()
            except StoreLost:
                await asyncio.sleep(_PATIENCE_S)
                self._wake.set()

    async def flush(self) -> None:
        """Writes all that is pending. Raises StoreLost; what is pending stays."""
        async with self._writing:
            while self._pending:
                ids = [trace_id for trace_id, _ in zip(self._pending, range(_BATCH), strict=False)]
                await self._store.write_traces([trace_of(self._pending[one], self._codec) for one in ids])
                for one in ids:
                    del self._pending[one]

    async def close(self) -> None:
        """Writes what is pending if the store takes it; what it does not is dropped and counted."""
        with contextlib.suppress(StoreLost):
            await self.flush()
        if self._pending:
            self._dropped(len(self._pending))
            self._pending.clear()
