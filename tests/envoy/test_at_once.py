"""More requests at the same time than Envoy's own limits let through reach an endpoint, and fail over, all of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

from tests.deploy.gateway import Backends, Gateway, ask
from tests.envoy import providers as does
from tests.server.conftest import ServerProcess

REQUESTS = 1_100  # Envoy's own limit is 1,024
WAIT_S = 120


class Gate:
    """An endpoint that fails no request before all of them are there."""

    def __init__(self) -> None:
        self.arrived, self.all_there = 0, asyncio.Event()  # set is that Envoy held none of them back

    async def answer(self, exchange: does.Exchange) -> None:
        self.arrived += 1
        if self.arrived == REQUESTS:
            self.all_there.set()
        await asyncio.wait_for(self.all_there.wait(), WAIT_S)
        await exchange.send(503)


async def all_at_once(port: int) -> Counter[str]:
    async def one(number: int) -> str:
        await asyncio.sleep(number * 0.005)  # attempts are to wait here, and not questions at the service
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            return await ask(reader, writer)
        finally:
            writer.close()

    return Counter(await asyncio.gather(*map(one, range(REQUESTS))))


def test_more_than_a_thousand_requests_wait_at_one_endpoint_and_fail_over(tmp_path: Path) -> None:
    with Backends(tmp_path) as backends:
        flags = ("--catalog", str(backends.catalog), "--envoy-authz", "--listen", "127.0.0.1:0")
        server = ServerProcess(*flags)
        try:
            gate = Gate()
            backends.providers["alpha"].answer = gate.answer
            port = int(server.target.rpartition(":")[2])
            with Gateway(tmp_path, backends, [port], "--attempt-timeout", str(WAIT_S)) as gateway:
                gateway.wait_for({port})
                assert asyncio.run(all_at_once(gateway.port)) == {"answered": REQUESTS}
                overflows = gateway.stats("m@alpha.*overflow")
            assert overflows["cluster.m@alpha.upstream_cx_overflow"] == 0
            assert set(overflows.values()) == {0}
            assert gate.all_there.is_set()
            assert {name: len(backends.providers[name].seen) for name in ("alpha", "beta")} == {
                "alpha": REQUESTS,
                "beta": REQUESTS,
            }
        finally:
            server.stop()
