"""The same tests on every store: a file, a real redis-server, and one that refuses what no cluster would do."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from router_service.store.interface import Store, Timeouts
from router_service.store.open import open_store
from tests.store.lost import PATIENT
from tests.store.redis_server import RedisServer

KINDS = ("sqlite", "redis", "cluster")
_numbers = itertools.count()


@pytest.fixture(scope="session")
def redis_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], RedisServer]]:
    """One server of each kind for all tests, each test with a prefix of its own."""
    running: dict[str, RedisServer] = {}

    def get(kind: str) -> RedisServer:
        if kind not in running:
            server = RedisServer(tmp_path_factory.mktemp(kind), cluster=kind == "cluster")
            server.start()
            running[kind] = server
        return running[kind]

    yield get
    for server in running.values():
        server.stop()


class Shared:
    """A place where several stores keep the same things."""

    def __init__(self, kind: str, url: str, prefix: str) -> None:
        self.kind, self.url, self.prefix = kind, url, prefix
        self._opened: list[Store] = []

    async def open(self, timeouts: Timeouts = PATIENT) -> Store:
        store = open_store(self.url, timeouts, self.prefix)
        self._opened.append(store)
        await store.open()
        return store

    async def close(self) -> None:
        for store in self._opened:
            await store.close()


@pytest.fixture(params=KINDS)
async def shared(
    request: pytest.FixtureRequest, tmp_path: Path, redis_servers: Callable[[str], RedisServer]
) -> AsyncIterator[Shared]:
    kind: str = request.param
    url = f"sqlite://{tmp_path}/router.db"
    if kind != "sqlite":
        url = f"redis://127.0.0.1:{redis_servers(kind).port}/0"
    place = Shared(kind, url, f"test{next(_numbers)}:")
    yield place
    await place.close()


@pytest.fixture
async def store(shared: Shared) -> Store:
    return await shared.open()
