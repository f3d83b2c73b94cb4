"""The catalogue of several workers: loaded once, by one process, and handed to all of them."""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import PIPE
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from router_service.catalog.watch import Watch
from router_service.server.workers.child import Child
from router_service.server.workers.link import Catalog, Load, Taken, empty_file

_LAST_WORDS = 500


@dataclass(frozen=True, slots=True)
class Made:
    """What a load made: a file as its process wrote it, or why there is none."""

    number: int
    file: int
    failed: str = ""


class Catalogue:
    """Loads at first, whenever the files change and when a worker asks for it."""

    def __init__(self, path: Path, loader: tuple[str, ...], children: Iterable[Child]) -> None:
        """`loader` is the command of a process that writes the catalogue of a path to its standard output."""
        self._loader, self._children = loader, children
        self._watch = Watch(path)
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
        await self._load()
        async for _ in self._watch.changes():
            await self._load()

    async def _load(self) -> None:
        asked, self._asked = self._asked, []
        before, number = self._latest, 1 if self._latest is None else self._latest.number + 1
        file = empty_file()
        process = await asyncio.create_subprocess_exec(*self._loader, stdout=file, stderr=PIPE)
        _, said = await process.communicate()
        failed = ""
        if process.returncode:
            failed = f"exit code {process.returncode}: {said.decode(errors='replace').strip()[-_LAST_WORDS:]}"
        self._latest = Made(number, file, failed)
        if before is not None and before is not self._good:
            os.close(before.file)
        for child in self._children:
            self._give(child, self._latest, [one for who, one in asked if who is child])

    @staticmethod
    def _give(child: Child, made: Made, asked: list[int] | None = None) -> None:
        child.tell(Catalog(made.number, asked or [], made.failed), None if made.failed else made.file)
