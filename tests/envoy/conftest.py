"""Fixtures: one world for all tests that break nothing, made anew in what a test changed of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.envoy.doors import CATALOG as DOORS_CATALOG
from tests.envoy.proxy import Envoy
from tests.envoy.world import CATALOG, NAMES, World, until
from tests.server.conftest import ServerProcess

ATTEMPT_S = 2


@pytest.fixture(scope="session")
def shared_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    world = World(tmp_path_factory.mktemp("world"))
    try:
        world.serve()
        envoy = world.start_envoy(world.print("--attempt-timeout", str(ATTEMPT_S), "--workload", "chat"))
        until(lambda: envoy.post().status == 200)
        yield world
    finally:
        world.close()


@pytest.fixture
def world(shared_world: World) -> World:
    """Every provider is up, answers, and has seen nothing."""
    shared_world.providers.reset()
    return shared_world


@pytest.fixture
def envoy(world: World) -> Envoy:
    assert world.envoy is not None
    return world.envoy


@pytest.fixture
def world_arguments() -> tuple[str, tuple[str, ...]]:
    """The catalogue of `own_world` and the names of its providers."""
    return CATALOG, NAMES


@pytest.fixture
def own_world(tmp_path: Path, world_arguments: tuple[str, tuple[str, ...]]) -> Iterator[World]:
    """One that a test starts, and may break, as it likes."""
    world = World(tmp_path, *world_arguments)
    yield world
    world.close()


@pytest.fixture
def other_envoy(world: World, tmp_path: Path) -> Iterator[Callable[[str], Envoy]]:
    """Starts an Envoy with a configuration of the test's own, which asks the shared service."""
    assert world.server is not None
    started: list[Envoy] = []

    def start(config: str) -> Envoy:
        started.append(Envoy(config, tmp_path))
        return started[-1]

    yield start
    for envoy in started:
        envoy.stop()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """The service alone, for the tests of a module."""
    folder = tmp_path_factory.mktemp("doors")
    (folder / "catalog.yaml").write_text(DOORS_CATALOG)
    flags = ("--store", f"sqlite:{folder}/router.db", "--envoy-authz", "--envoy-processing")
    running = ServerProcess("--listen", "127.0.0.1:0", "--catalog", str(folder / "catalog.yaml"), *flags)
    yield running
    running.stop()
