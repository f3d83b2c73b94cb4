"""A real Envoy as a gateway before providers: it asks instances of the service by their doors, as the tool has it."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import yaml

from tests.deploy.balancer import Balancer
from tests.deploy.rolling import AT_ONCE, LIMIT_S, InThread
from tests.envoy.providers import Providers
from tests.envoy.proxy import Envoy
from tests.envoy.world import PATIENCE_S, printed

SERVICE = "(router-service)"
NAMES = ("alpha", "beta")
ANSWERED = "answered"
CATALOG = """\
currency: EUR
default_policy: eu
models: [{{model: m}}]
endpoints:
- {{endpoint_id: m@alpha, model: m, provider: alpha, country: FR, sovereignty: eu-owned, input_price: 1,
   address: "http://127.0.0.1:{alpha}"}}
- {{endpoint_id: m@beta, model: m, provider: beta, country: FR, sovereignty: eu-owned, input_price: 5,
   address: "http://127.0.0.1:{beta}"}}
policies: [{{policy_id: eu}}]
"""


class Backends:
    """Providers that answer everything, and a catalogue of them."""

    def __init__(self, folder: Path) -> None:
        self.providers = Providers(lambda _: None)
        ports = {name: self.providers.start(name).port for name in NAMES}
        self.open = [flag for port in ports.values() for flag in ("--open", f"127.0.0.1_{port}")]
        self.catalog = folder / "catalog.yaml"
        self.catalog.write_text(CATALOG.format(**ports))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.providers.close()


class Gateway(Balancer):
    """Envoy with the configuration that is printed for a catalogue, before instances on these ports."""

    def __init__(self, folder: Path, backends: Backends, ports: list[int], *arguments: str) -> None:
        config = yaml.safe_load(
            printed(
                *(str(backends.catalog), "--listen", "127.0.0.1:0", "--envoy-admin", "127.0.0.1:0"),
                *("--service", f"127.0.0.1:{ports[0]}", *backends.open),
                *("--decision-timeout", str(PATIENCE_S)),  # a busy machine is slow, and loses nothing by that
                *arguments,
            )
        )
        # Several behind one name are several hosts of the cluster; here there is no such name.
        (cluster,) = (one for one in config["static_resources"]["clusters"] if one["name"] == SERVICE)
        cluster["load_assignment"]["endpoints"][0]["lb_endpoints"] = [
            {"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": port}}}}
            for port in ports
        ]
        Envoy.__init__(self, json.dumps(config), folder)

    def healthy(self) -> set[int]:
        """The ports of the instances that it asks."""
        statuses = json.loads(self.admin("/clusters?format=json"))["cluster_statuses"]
        (cluster,) = (one for one in statuses if one["name"] == SERVICE)
        return {
            host["address"]["socket_address"]["port_value"]
            for host in cluster["host_statuses"]
            if not host.get("health_status", {}).get("failed_active_health_check")
        }


class Clients(InThread):
    """Requests through a gateway, `AT_ONCE` of them at a time, counted by how they ended; none is tried again."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.ended: Counter[str] = Counter()
        self._port = port

    async def run(self) -> None:
        async with asyncio.timeout(LIMIT_S):
            await asyncio.gather(*(self._client() for _ in range(AT_ONCE)))

    def wait_for(self, enough: Callable[[Counter[str]], bool]) -> None:
        """Until so much has ended."""
        while not enough(self.ended):
            assert self.thread.is_alive(), f"{LIMIT_S} s were too short: {self.ended}"
            self.over.wait(0.05)

    async def _client(self) -> None:
        """One client, on connections that it keeps for as long as they last."""
        connection: Any = None
        while not self.over.is_set():
            try:
                connection = connection or await asyncio.open_connection("127.0.0.1", self._port)
                how = await ask(*connection)
            except (OSError, asyncio.IncompleteReadError) as error:
                how = repr(error)
                if connection is not None:
                    connection[1].close()
                connection = None
            self.ended[how] += 1
            if how != ANSWERED:
                await asyncio.sleep(0.05)
        if connection is not None:
            connection[1].close()


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
    """How one request ended: that it was answered by an endpoint of a decision, or its status and body."""
    body = b'{"model": "m"}'
    writer.write(
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\ncontent-length: %d\r\n\r\n" % len(body) + body
    )
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
    answer = await reader.readexactly(int(headers["content-length"]))
    if head.startswith("HTTP/1.1 200 ") and "x-router-trace-id" in headers:
        return ANSWERED
    return f"{head.splitlines()[0]}: {answer.decode()}"
