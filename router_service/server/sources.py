"""Where the catalogue comes from: files that this process watches, or a supervisor that does it for several."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

from router_service.catalog.aside import Loaded, load_aside
from router_service.catalog.watch import Watch


class Source(Protocol):
    """See the module's docstring."""

    def wake(self) -> None:
        """Asks for a load whether or not anything changed."""

    def changes(self) -> AsyncIterator[None]:
        """Tells whenever there may be another catalogue, until it is cancelled."""

    async def refreshed(self) -> None:
        """Returns when `load` gives what there is now, and not what there was before."""

    async def load(self, now: int, *, serving: str = "", hurried: bool = False) -> Loaded | None:
        """The catalogue, see load_aside. Raises CatalogInvalid or LoadFailed."""


class Files:
    """A file or a folder."""

    def __init__(self, path: Path) -> None:
        self._path, self._watch = path, Watch(path)

    def wake(self) -> None:
        self._watch.wake()

    def changes(self) -> AsyncIterator[None]:
        return self._watch.changes()

    async def refreshed(self) -> None:
        """They are read anew by every load."""

    async def load(self, now: int, *, serving: str = "", hurried: bool = False) -> Loaded | None:
        return await load_aside(self._path, now, serving=serving, hurried=hurried)
