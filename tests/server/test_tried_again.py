"""A load that fails without the files' fault: it is told, and tried again until it works."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from router_service.catalog.aside import Loaded, LoadFailed
from router_service.catalog.ended import why
from router_service.catalog.served import Served
from router_service.health.shared import SharedHealth
from router_service.server.again import Again, growing_s
from router_service.server.loading import Loading
from router_service.server.log import make_logger
from router_service.server.metrics import Metrics
from router_service.server.pulse import Pulse
from router_service.server.sources import Files
from router_service.server.workers.catalogue import Catalogue
from router_service.v1 import catalog_service_pb2 as catalog_pb
from tests.server.conftest import CATALOG, ServerProcess
from tests.server.instance import CATALOG as SHARED
from tests.server.instance import Instance, until, versions
from tests.server.live import NOW
from tests.server.live import until as soon
from tests.server.processes import kill_loader

Serve = Callable[..., ServerProcess]
MORE = "- {policy_id: more}\n"
SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING


def policies(server: ServerProcess) -> set[str]:
    return {one.policy_id for one in server.catalog.ListPolicies(catalog_pb.ListPoliciesRequest()).policies}


def test_a_load_whose_process_is_killed_is_told_by_health_and_tried_again(serve: Serve, catalog_file: Path) -> None:
    server = serve("--catalog", str(catalog_file), "--log-format", "json")
    watch = health_pb2_grpc.HealthStub(server.channel()).Watch(health_pb2.HealthCheckRequest(service="catalog"))
    assert next(watch).status == SERVING
    seen = len(server.lines)
    catalog_file.write_text(CATALOG + MORE)
    kill_loader(server.process.pid)
    assert next(watch).status == NOT_SERVING
    server.wait_for(r'"killed by signal 9; out of memory\?","again_s":1\.0,"event":"loading failed', after=seen)
    assert "more" not in policies(server)
    assert next(watch).status == SERVING
    server.wait_for("catalogue loaded", after=seen)
    assert "more" in policies(server)


def test_who_asked_for_a_load_that_is_killed_learns_no_more_than_where_to_look(
    serve: Serve, catalog_file: Path
) -> None:
    server = serve("--catalog", str(catalog_file), "--local-admin")
    asked = server.catalog.Reload.future(catalog_pb.ReloadRequest())
    kill_loader(server.process.pid)
    error = asked.exception()
    assert error.code() is grpc.StatusCode.UNAVAILABLE
    assert error.details() == (
        "loading failed, the last good version goes on serving; it is tried again, and the server's log tells why"
    )
    server.wait_for("catalogue unchanged")


def test_the_supervisor_tries_again_for_all_workers(serve: Serve, tmp_path: Path) -> None:
    one = Instance(serve, tmp_path)
    [before] = versions(one.target)
    one.catalog.write_text(SHARED + MORE)
    kill_loader(one.server.process.pid)
    one.server.wait_for(r'"again_s":1\.0,.*"loading failed')
    until(lambda: before not in versions(one.target))
    assert len(versions(one.target)) == 1
    until(lambda: one.metric("router_catalog_rejected") == 0)
    assert one.metric("router_catalog_loads_total", outcome="rejected") == 2  # each worker's
    assert one.health("catalog")


async def test_a_supervisor_goes_on_where_no_process_can_be_started(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(CATALOG)
    loader = tmp_path / "loader"
    catalogue = Catalogue(tmp_path / "c.yaml", (str(loader),), ())
    running = asyncio.create_task(catalogue.run())

    async def made() -> str | None:
        return None if catalogue._latest is None else catalogue._latest.failed

    await soon(made)
    assert catalogue._latest is not None
    assert catalogue._latest.failed.startswith("the process that loads cannot be started: No such file")
    assert catalogue._latest.again_s == 1
    loader.write_text("#!/bin/sh\necho it\n")
    loader.chmod(0o755)

    async def good() -> bool:
        return await made() == ""

    await soon(good)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


class Faulty(Files):
    """A source with a fault of its own at its first load."""

    loads = 0

    async def load(self, now: int, *, serving: str = "", hurried: bool = False) -> Loaded | None:
        self.loads += 1
        if self.loads == 2:
            raise MemoryError
        return await super().load(now, serving=serving, hurried=hurried)


async def test_so_does_a_server_after_a_fault_of_its_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "catalog.yaml"
    path.write_text(CATALOG)
    log, served, told, metrics = make_logger("error", "json"), Served(), list[bool](), Metrics()
    source = Faulty(path)

    async def keep(_version: str, _archive: bytes) -> None: ...

    async def tell(good: bool) -> None:
        told.append(good)

    pulse = Pulse(SharedHealth(), served, lambda: NOW, log)
    loading = Loading(source, served, pulse, lambda: NOW, metrics, log, keep=keep, tell=tell)
    assert await loading.first(asyncio.Event())
    running = asyncio.create_task(loading.run())
    path.write_text(CATALOG + MORE)

    async def loaded() -> bool:
        return served.snapshot is not None and "more" in served.snapshot.policies

    async def failed() -> bool:
        return told[1:] == [False]

    await soon(failed)
    assert metrics.registry.get_sample_value("router_catalog_rejected") == 1
    await soon(loaded)
    await soon(lambda: _is(told == [True, False, True]))
    assert metrics.registry.get_sample_value("router_catalog_rejected") == 0
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    said = capfd.readouterr().err
    assert said.count("fault while loading the catalogue") == 1
    assert '"again_s":1.0' in said


async def _is(held: bool) -> bool:
    return held


async def test_pauses_grow_up_to_the_longest_and_begin_anew_after_a_success() -> None:
    woken = asyncio.Event()
    again = Again(woken.set)
    assert [again.failed() for _ in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]
    again.over()
    assert again.failed() == 1
    await asyncio.wait_for(woken.wait(), 10)
    assert growing_s(0, 1, 60) == 0
    assert growing_s(10**9, 0.2, 30) == 30
    assert math.isfinite(growing_s(5000, 1e-9, math.inf))
    again.over()


def test_how_it_ended_is_said_as_people_say_it() -> None:
    assert why(-9, b"") == "killed by signal 9; out of memory?"
    assert why(-15, b"bye\n") == "killed by signal 15: bye"
    assert why(1, b"x" * 9000 + b"end") == f"exit code 1: {'x' * 497}end"
    assert LoadFailed("it", 2.0).again_s == 2
