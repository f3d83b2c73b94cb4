"""A thread that does what the event loop asks of it, as much at once as has come together."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from router_service.store.interface import StoreLost

T = TypeVar("T")


class Item:
    """One call: `run` is what the thread knows to do with it, `argument` what for."""

    __slots__ = ("argument", "error", "future", "gone", "result", "run")

    def __init__(self, run: Callable[..., Any], argument: object, future: asyncio.Future[Any]) -> None:
        self.run, self.argument, self.future = run, argument, future
        self.result: Any = None
        self.error: StoreLost | None = None
        self.gone = False  # nobody waits for it any more


class Queue:
    """What is waiting for the thread. One that is given up leaves at once, so a stuck thread makes nothing pile up."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._items: dict[Item, None] = {}
        self._closing = False
        self.note = ""  # why nothing is taken just now

    def put(self, item: Item) -> None:
        """Adds one at the end."""
        with self._changed:
            if self._closing:
                raise StoreLost("closed")
            self._items[item] = None
            if len(self._items) == 1:
                self._changed.notify()

    def give_up(self, item: Item) -> None:
        """Takes one back; it is not begun if it was not yet."""
        item.gone = True
        with self._changed:
            self._items.pop(item, None)

    def wait(self) -> bool:
        """Blocks until there is something; false where there will be nothing more."""
        with self._changed:
            while not self._items and not self._closing:
                self._changed.wait()
            return bool(self._items)

    def take(self) -> list[Item]:
        """All that is there."""
        with self._changed:
            items, self._items = list(self._items), {}
        self.note = ""
        return items

    def take_one(self) -> list[Item]:
        """The first that is there, if any."""
        with self._changed:
            items = list(self._items)[:1]
            for item in items:
                del self._items[item]
        self.note = ""
        return items

    def close(self) -> None:
        """Lets the thread end when what is there is done."""
        with self._changed:
            self._closing = True
            self._changed.notify()


class Worker:
    """A thread that calls `serve` again and again while its queue has something, and hands out what is done.

    `serve` takes items from the queue and returns them with their results or errors; the loop wakes once for all. It
    may also return nothing and leave them in the queue, where it could not begin. `stop` is told, in the loop's
    thread, of each call that is given up; `end` is the last that the thread does.
    """

    def __init__(
        self,
        name: str,
        serve: Callable[[Queue], list[Item]],
        end: Callable[[], None],
        stop: Callable[[Item], None] = lambda _: None,
    ) -> None:
        self.queue = Queue()
        self._serve, self._end, self._stop = serve, end, stop
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        # A daemon: a disk that hangs must not keep the process from ending.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def call(self, run: Callable[..., T], argument: object, timeout_s: float) -> T:
        """Has the thread run it. StoreLost where it failed or took longer; then it may have been done or not."""
        item = Item(run, argument, self._loop.create_future())
        self.queue.put(item)
        # Not asyncio.timeout, which costs as much as all the rest of the way to the thread and back.
        patience = self._loop.call_later(timeout_s, self._lose, item, timeout_s)
        try:
            result: T = await item.future
        except asyncio.CancelledError:
            self._give_up(item)
            raise
        else:
            return result
        finally:
            patience.cancel()

    def _lose(self, item: Item, timeout_s: float) -> None:
        if not item.future.done():
            why = f": {self.queue.note}" if self.queue.note else ""
            item.future.set_exception(StoreLost(f"no answer within {timeout_s:g} s{why}"))
            self._give_up(item)

    def _give_up(self, item: Item) -> None:
        self.queue.give_up(item)
        self._stop(item)

    async def close(self, timeout_s: float) -> None:
        """Waits until what is queued is done and the thread has ended, but no longer than that."""
        self.queue.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._ended.wait()

    def _run(self) -> None:
        try:
            while self.queue.wait():
                done = self._serve(self.queue)
                if done:
                    self._to_loop(_hand_out, done)
        finally:
            self._end()
            self._to_loop(self._ended.set)

    def _to_loop(self, function: Callable[..., object], *arguments: object) -> None:
        # The loop may have ended without a close.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, *arguments)


def _hand_out(items: list[Item]) -> None:
    for item in items:
        if item.future.done():
            continue
        if item.error is not None:
            item.future.set_exception(item.error)
        else:
            item.future.set_result(item.result)
