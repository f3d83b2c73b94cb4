"""Loads a catalogue aside, in a niced process of its own, and takes it in by small pieces.

Parsing and checking thousands of endpoints holds Python's lock for a second, so it must not share a process with
decisions. `python -m router_service.catalog.aside PATH` writes what it loaded to its standard output as frames (a
length of four bytes, then MessagePack); the parent reads one frame at a time, and lets other work go between.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import IO, Any

import msgspec

from router_service.catalog.archive import as_basic, from_basic, pack
from router_service.catalog.content import Content
from router_service.catalog.ended import not_begun, why
from router_service.catalog.load import CatalogInvalid, load
from router_service.catalog.located import Located
from router_service.catalog.slices import let_go, unhurried
from router_service.catalog.snapshot import Snapshot
from router_service.domain.endpoint import Endpoint
from router_service.domain.policy import Policy
from router_service.domain.problems import Problem
from router_service.domain.thresholds import Thresholds
from router_service.domain.workload import Workload

_ENDPOINTS_A_FRAME = 32
_NICE = 10


class LoadFailed(RuntimeError):
    """The process that loads ended without a result, or never began; how it ended and its last words say why."""

    def __init__(self, reason: str, again_s: float = 0.0) -> None:
        """`again_s` is in how many seconds somebody else tries again, 0 where whoever asked is to."""
        super().__init__(reason)
        self.again_s = again_s


class _Some(msgspec.Struct, tag="endpoints"):
    endpoints: tuple[Endpoint, ...]


class _Rest(msgspec.Struct, tag="rest"):
    """All but the endpoints, the version that the whole has, and its form for an archive."""

    currency: str
    policies: tuple[Policy, ...]
    default_policy: str
    pool_names: tuple[str, ...]
    workloads: tuple[Workload, ...]
    thresholds: Thresholds
    version: str
    archive: bytes


class _Wrong(msgspec.Struct, tag="problems"):
    problems: tuple[tuple[str, int, str, str, str], ...]


Frame = _Some | _Rest | _Wrong


class Loaded(msgspec.Struct):
    """A snapshot with the form in which a store may keep its content."""

    snapshot: Snapshot
    archive: bytes


async def load_aside(path: Path, now: int, *, serving: str = "", hurried: bool = False) -> Loaded | None:
    """Loads a file or a folder and compiles it; None where that is the version `serving`.

    Raises CatalogInvalid or LoadFailed. `hurried` takes no pauses, for a start at which nobody is served yet.
    """
    return await take_in(_frames(path), now, serving=serving, hurried=hurried)


async def take_in(
    frames: AsyncGenerator[Frame, None], now: int, *, serving: str = "", hurried: bool = False
) -> Loaded | None:
    """The same of what such a process wrote, which somebody else may have started."""
    endpoints: list[Endpoint] = []
    rest: _Rest | None = None
    async with aclosing(frames):  # so that the process has ended, whatever ends this
        async for frame in frames:
            if isinstance(frame, _Some):
                endpoints += frame.endpoints
            elif isinstance(frame, _Rest):
                rest = frame
            else:
                raise CatalogInvalid(Located(file, line, Problem(*what)) for file, line, *what in frame.problems)
    if rest is None:
        raise LoadFailed("it ended before it had written everything")
    if rest.version == serving:
        await unhurried(let_go(endpoints))
        return None
    content = Content(
        currency=rest.currency,
        endpoints=tuple(endpoints),
        policies=rest.policies,
        default_policy=rest.default_policy,
        pool_names=rest.pool_names,
        workloads=rest.workloads,
        thresholds=rest.thresholds,
    )
    snapshot = await unhurried(Snapshot.in_slices(content, rest.version, now), pause_s=0 if hurried else None)
    return Loaded(snapshot, rest.archive)


async def frames_of(file: int) -> AsyncGenerator[Frame, None]:
    """What was written to a file, which others may read at the same time."""
    at = 0
    while size := int.from_bytes(os.pread(file, 4, at), "big"):
        yield msgspec.msgpack.decode(os.pread(file, size, at + 4), type=Frame, dec_hook=from_basic)
        at += 4 + size
        await asyncio.sleep(0)


async def _frames(path: Path) -> AsyncGenerator[Frame, None]:
    starting = asyncio.create_task(_Loader.start(path))
    try:
        loader = await asyncio.shield(starting)
    except asyncio.CancelledError:  # it is ended all the same
        await (await starting).end()
        raise
    except OSError as error:
        raise LoadFailed(not_begun(error)) from error
    try:
        while True:
            size = await loader.output.readexactly(4)
            body = await loader.output.readexactly(int.from_bytes(size, "big"))
            yield msgspec.msgpack.decode(body, type=Frame, dec_hook=from_basic)
            await asyncio.sleep(0)
    except asyncio.IncompleteReadError:
        pass
    finally:
        code, words = await loader.end()
    if code:
        raise LoadFailed(why(code, words))


def loader(path: Path) -> list[str]:
    """The command of the process that loads."""
    return [sys.executable, "-m", "router_service.catalog.aside", str(path)]


class _Loader:
    """The process that loads: what it writes, and what it says on its standard error."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process, self._pipes = process, list[asyncio.ReadTransport]()
        self.output, self._said = asyncio.StreamReader(), asyncio.StreamReader()
        self._words: asyncio.Task[bytes]

    @classmethod
    async def start(cls, path: Path) -> _Loader:
        # Not the loop's own way, which forks: a copy of the page tables of a big process takes long.
        command = loader(path)
        one = cls(await asyncio.to_thread(subprocess.Popen, command, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        await one._connect(one.output, one._process.stdout)
        await one._connect(one._said, one._process.stderr)
        one._words = asyncio.create_task(one._said.read())
        return one

    async def end(self) -> tuple[int, bytes]:
        """Waits for its end, or ends it where there is more to read; its exit code and its last words."""
        if not self.output.at_eof():
            self._process.kill()
        code, words = await asyncio.to_thread(self._process.wait), await self._words
        for pipe in self._pipes:
            pipe.close()
        await asyncio.sleep(0)  # in which they do
        return code, words

    async def _connect(self, reader: asyncio.StreamReader, pipe: IO[bytes] | None) -> None:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        self._pipes.append(transport)


def _written(path: Path) -> Iterator[Frame]:
    try:
        content = load(path)
    except CatalogInvalid as invalid:
        problems = ((one.file, one.line, one.problem) for one in invalid.problems)
        yield _Wrong(tuple((file, line, what.field, what.message, what.cure) for file, line, what in problems))
        return
    for start in range(0, len(content.endpoints), _ENDPOINTS_A_FRAME):
        yield _Some(content.endpoints[start : start + _ENDPOINTS_A_FRAME])
    yield _Rest(
        content.currency,
        content.policies,
        content.default_policy,
        content.pool_names,
        content.workloads,
        content.thresholds,
        content.version(),
        pack(content),
    )


def _main(path: str) -> None:
    os.nice(_NICE)
    encoder: Any = msgspec.msgpack.Encoder(enc_hook=as_basic)
    for frame in _written(Path(path)):
        body = encoder.encode(frame)
        sys.stdout.buffer.write(len(body).to_bytes(4, "big") + body)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    _main(sys.argv[1])
