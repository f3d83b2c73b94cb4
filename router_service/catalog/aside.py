"""Loads a catalogue aside, in a niced process of its own, and takes it in by small pieces.

Parsing and checking thousands of endpoints holds Python's lock for a second, so it must not share a process with
decisions. `python -m router_service.catalog.aside PATH` writes what it loaded to its standard output as frames (a
length of four bytes, then MessagePack); the parent reads one frame at a time, and lets other work go between.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import msgspec

from router_service.catalog.archive import as_basic, from_basic, pack
from router_service.catalog.content import Content
from router_service.catalog.load import CatalogInvalid, load
from router_service.catalog.located import Located
from router_service.catalog.slices import PAUSE_S, unhurried
from router_service.catalog.snapshot import Snapshot
from router_service.domain.endpoint import Endpoint
from router_service.domain.policy import Policy
from router_service.domain.problems import Problem
from router_service.domain.thresholds import Thresholds
from router_service.domain.workload import Workload

_ENDPOINTS_A_FRAME = 32
_NICE = 10


class LoadFailed(RuntimeError):
    """The process that loads ended without a result; its exit code and last words say why."""


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


_Frame = _Some | _Rest | _Wrong


class Loaded(msgspec.Struct):
    """A snapshot with the form in which a store may keep its content."""

    snapshot: Snapshot
    archive: bytes


async def load_aside(path: Path, now: int, *, hurried: bool = False) -> Loaded:
    """Loads a file or a folder and compiles it. Raises CatalogInvalid, or LoadFailed.

    `hurried` takes no pauses, for a start at which nobody is served yet.
    """
    endpoints: list[Endpoint] = []
    rest: _Rest | None = None
    async for frame in _frames(path):
        if isinstance(frame, _Some):
            endpoints += frame.endpoints
        elif isinstance(frame, _Rest):
            rest = frame
        else:
            raise CatalogInvalid(Located(file, line, Problem(*what)) for file, line, *what in frame.problems)
    if rest is None:
        raise LoadFailed("it ended before it had written everything")
    content = Content(
        currency=rest.currency,
        endpoints=tuple(endpoints),
        policies=rest.policies,
        default_policy=rest.default_policy,
        pool_names=rest.pool_names,
        workloads=rest.workloads,
        thresholds=rest.thresholds,
    )
    snapshot = await unhurried(Snapshot.in_slices(content, rest.version, now), pause_s=0 if hurried else PAUSE_S)
    return Loaded(snapshot, rest.archive)


async def _frames(path: Path) -> AsyncIterator[_Frame]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        __name__,
        str(path),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None  # noqa: S101 - it was asked for
    try:
        while True:
            size = await process.stdout.readexactly(4)
            body = await process.stdout.readexactly(int.from_bytes(size, "big"))
            yield msgspec.msgpack.decode(body, type=_Frame, dec_hook=from_basic)
            await asyncio.sleep(0)
    except asyncio.IncompleteReadError:
        pass
    finally:
        if process.returncode is None and not process.stdout.at_eof():
            process.kill()
        _, words = await process.communicate()
    if process.returncode:
        raise LoadFailed(f"exit code {process.returncode}: {words.decode(errors='replace').strip()[-500:]}")


def _written(path: Path) -> Iterator[_Frame]:
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
