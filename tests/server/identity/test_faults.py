"""A fault of the service's own while it reads who may call: it is told, tried again, and keeps nothing else away."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from router_service.catalog.served import Served
from router_service.domain.caller import local_caller
from router_service.server.identity.counted import IdentityCounts
from router_service.server.identity.keeping import Identity
from router_service.server.identity.tls import TlsPaths
from router_service.server.log import make_logger
from tests.server.identity.secured import AUTHORITY, callers
from tests.server.live import NOW, until


class Faulty(IdentityCounts):
    """Counts with a fault, for a while, where the certificate's end is told."""

    faults = 0

    def expires(self, at_s: float) -> None:
        if self.faults:
            self.faults -= 1
            raise MemoryError
        super().expires(at_s)


async def test_a_fault_with_the_certificate_is_tried_again_and_keeps_no_caller_in(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "callers.yaml"
    file.write_text(callers())
    tls = TlsPaths(*AUTHORITY.issue("localhost").write(tmp_path), None)
    registry = CollectorRegistry()
    counts = Faulty(registry)
    log = make_logger("error", "json")
    identity = Identity(file, tls, local_caller(admin=False), Served(), lambda: NOW, counts, log)
    await identity.first()
    running = asyncio.create_task(identity.run())

    async def value(name: str, **labels: str) -> float:
        return registry.get_sample_value(name, labels) or 0

    async def one_left() -> bool:
        return await value("router_callers") == 1

    async def over() -> bool:
        return await value("router_identity_rejected", files="tls") == 0

    counts.faults = 1
    file.write_text("callers:\n- {caller: alone, sans: [alone.internal], roles: [read], policies: [policy-own]}\n")
    await until(one_left)
    assert not await over()
    assert await value("router_identity_rejected", files="callers") == 0
    await until(over)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    [said] = capfd.readouterr().err.splitlines()
    assert '"files":"tls","again_s":1.0,"event":"fault while reading who may call"' in said
