"""The catalogue's files as careless hands handle them: a folder whose links are switched, and files behind them."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.chaos.catalogues import Author, Book

NAME = "catalog.yaml"


class Files:
    """A folder as a ConfigMap is mounted: a link to the file through a link to the folder of its version."""

    def __init__(self, author: Author, book: Book, world_folder: Path, tell: Callable[[bool], None]) -> None:
        """`tell` hears whether what lies in place is good, from before that is so."""
        self._author, self._book, self._tell = author, book, tell
        self._scratch = world_folder / "scratch"
        self._scratch.mkdir()
        self._folder = world_folder / "catalogue"
        self._folder.mkdir()
        self._number = 0
        self.good, self.version, self.turns = True, "", 0
        self._swap(self._next())
        (self._folder / NAME).symlink_to(f"..data/{NAME}")

    async def swap(self) -> None:
        """Another folder takes the place in one step."""
        self._swap(await asyncio.to_thread(self._next))

    def _swap(self, text: str) -> None:
        self._placed()
        self._number += 1
        before, new = (self._folder / f"..{number}" for number in (self._number - 1, self._number))
        new.mkdir()
        (new / NAME).write_text(text)
        link = self._folder / "..new"
        link.symlink_to(new.name)
        link.rename(self._folder / "..data")
        shutil.rmtree(before, ignore_errors=True)
        self._settled(good=True)

    async def rewrite(self) -> None:
        """Another file takes the place in one step."""
        text = await asyncio.to_thread(self._next)
        self._placed()
        self._put(text, good=True)

    async def bad(self) -> None:
        """A file with a problem takes the place."""
        text = self._author.bad()
        if await asyncio.to_thread(self._book.know, text, self._scratch) is None:
            self._settled(good=False)
            self._put(text, good=False)

    async def half(self, seconds: float) -> None:
        """Somebody writes slowly into the file that is in place: half of it stands there for a while."""
        whole = await asyncio.to_thread(self._next)
        half = self._author.half_of(whole)
        if await asyncio.to_thread(self._book.know, half, self._scratch) is not None:
            raise AssertionError("half of a catalogue is a good one")
        self._settled(good=False)
        with (self._folder / NAME).resolve().open("r+") as file:
            file.write(half)
            file.truncate()
            file.flush()
            await asyncio.sleep(seconds)
            self._placed()
            file.write(whole[len(half) :])
        self._settled(good=True)

    def _next(self) -> str:
        text = self._author.next()
        version = self._book.know(text, self._scratch)
        if version is None:
            raise AssertionError("the author wrote a bad catalogue")
        self._coming = version.version
        return text

    def _placed(self) -> None:
        """What comes next is about to be in place, and may serve from now on."""
        self.version = self._coming
        self._book.put(self.version)

    def _put(self, text: str, *, good: bool) -> None:
        here = (self._folder / NAME).resolve()
        other = here.with_name("other")
        other.write_text(text)
        other.rename(here)
        self._settled(good=good)

    def _settled(self, *, good: bool) -> None:
        self.turns += good != self.good
        self.good = good
        self._tell(good)
