"""The catalogue of several workers: loaded once, by one process, and handed to all of them."""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import PIPE
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from router_service.catalog.ended import not_begun, why
from router_service.catalog.watch import Watch
from router_service.server.again import Again
from router_service.server.workers.child import Child
from router_service.server.workers.link import Catalog, Load, Taken, empty_file


@dataclass(frozen=True, slots=True)
class Made:
    """What a load made: a file as its process wrote it, or why there is none, and in how many seconds the next is."""

    number: int
    file: int
    failed: str = ""
    again_s: float = 0.0


class Catalogue:
    """Loads at first, whenever the files change, when a worker asks for it, and again after a load that failed."""

    def __init__(self, path: Path, loader: tuple[str, ...], children: Iterable[Child]) -> None:
        """`loader` is the command of a process that writes the catalogue of a path to its standard output."""
        self._loader, self._children = loader, children
        self._watch = Watch(path)
        self._again = Again(self._watch.wake)
        self._asked: list[tuple[Child, int]] = []
        self._latest: Made | None = None
        self._good: Made | None = None

    def wake(self) -> None:
        """Loads now."""
        self._watch.wake()

    def hears(self, child: Child, message: Load | Taken) -> None:
        """A worker asks for a load, or tells what became of one."""
        if isinstance(message, Load):
            if message.asked:
                self._asked.append((child, message.asked))
            self._watch.wake()
        elif message.good and self._latest is not None and message.number == self._latest.number:
            if self._good is not None and self._good is not self._latest:
                os.close(self._good.file)
            self._good = self._latest

    def greet(self, child: Child) -> None:
        """Gives a worker that begins what the others serve, and then what was loaded last where that is another."""
        if self._good is not None:
            self._give(child, self._good)
        if self._latest is not None and self._latest is not self._good:
            self._give(child, self._latest)

    async def run(self) -> None:
        """Goes on until it is cancelled."""
        try:
            await self._load()
            async for _ in self._watch.changes():
                await self._load()
        finally:
            self._again.over()

    async def _load(self) -> None:
        asked, self._asked = self._asked, []
        before, number = self._latest, 1 if self._latest is None else self._latest.number + 1
        try:
            file, failed = await self._written()
        except OSError as error:
            file, failed = -1, not_begun(error)
        except Exception as fault:  # noqa: BLE001 - a fault of one load must not be the end of all loading
            file, failed = -1, f"a fault of the supervisor's own: {fault!r}"
        if failed:
            self._latest = Made(number, file, failed, self._again.failed())
        else:
            self._again.over()
            self._latest = Made(number, file)
        if before is not None and before is not self._good and before.file >= 0:
            os.close(before.file)
        for child in self._children:
            self._give(child, self._latest, [one for who, one in asked if who is child])

    async def _written(self) -> tuple[int, str]:
        """A file with what the process that loads wrote, or why there is none."""
        file = empty_file()
        try:
            process = await asyncio.create_subprocess_exec(*self._loader, stdout=file, stderr=PIPE)
            _, said = await process.communicate()
        except BaseException:
            os.close(file)
            raise
        if not process.returncode:
            return file, ""
        os.close(file)
        return -1, why(process.returncode, said)

    @staticmethod
    def _give(child: Child, made: Made, asked: list[int] | None = None) -> None:
        message = Catalog(made.number, asked or [], made.failed, made.again_s)
        child.tell(message, None if made.failed else made.file)
