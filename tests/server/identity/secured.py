"""A server that knows its callers, in this process and over real TLS: one address takes tokens, one certificates."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc

from router_service.server.identity.tls import TlsPaths
from router_service.server.listen import MTLS, parse_addresses
from router_service.v1.catalog_service_pb2_grpc import CatalogServiceStub
from router_service.v1.router_service_pb2_grpc import RouterServiceStub
from tests.callers.files import entry, token_of
from tests.server.identity.certificates import Authority
from tests.server.live import Live, serving

AUTHORITY = Authority()
OWN, OTHERS, NOWHERE = "policy-own", "policy-oth", "policy-non"
"""Policies of the callers of tests, of somebody else, of nobody: of as many letters, as the ids below are."""
# An endpoint and a workload that each of the two policies has for itself.
CATALOG = f"""\
currency: EUR
default_policy: {OWN}
models: [{{model: model-own}}, {{model: model-oth}}]
endpoints:
- {{endpoint_id: endpoint-own, model: model-own, provider: p-own, country: FR, sovereignty: eu-owned, latency_ms: 600,
   input_price: 10, output_price: 10, address: "http://127.0.0.1:1"}}
- {{endpoint_id: endpoint-oth, model: model-oth, provider: p-oth, country: DE, sovereignty: eu-hosted, latency_ms: 700,
   input_price: 10, output_price: 10, address: "http://127.0.0.1:2"}}
policies:
- {{policy_id: {OWN}, provider_allow: [p-own], daily_budget: 1000}}
- {{policy_id: {OTHERS}, provider_allow: [p-oth], daily_budget: 1000}}
workloads:
- {{name: workload-own, version: 1, output_tokens: 10}}
- {{name: workload-oth, version: 1, output_tokens: 20}}
"""
ROLES = ("decide", "report", "read", "admin")
EVERYBODY = "everybody"


def callers(**facts: str) -> str:
    """A caller for each role, with the policy OWN alone, and one that may everything; each with a token and a name."""
    own = {"policies": f"[{OWN}]", "workloads": "[workload-own]", **facts}
    every = {"policies": "['*']", "stateless": "true"}
    listed = [_caller(role, [role], own) for role in ROLES if role != "report"]
    listed += [_caller("report", ["report"], own | {"reports_for": f"[{EVERYBODY}]"}), _caller(EVERYBODY, ROLES, every)]
    return "".join(["callers:\n", *listed, "tokens:\n", *(entry(one) for one in (*ROLES, EVERYBODY))])


def _caller(name: str, roles: Iterable[str], facts: Mapping[str, str]) -> str:
    known = {"caller": name, "sans": f"[{name}.internal]", "roles": f"[{', '.join(roles)}]", **facts}
    return "- {" + ", ".join(f"{key}: {value}" for key, value in known.items()) + "}\n"


def bearer(caller: str) -> tuple[tuple[str, str], ...]:
    """The metadata of a caller's token."""
    return (("authorization", f"Bearer {token_of(caller)}"),)


@dataclass(slots=True)
class Secured:
    """`live` is the server; a caller is known by its token at one address, by its certificate at the other."""

    live: Live
    stack: AsyncExitStack
    channels: dict[str, grpc.aio.Channel] = field(default_factory=dict)

    async def by_certificate(self, caller: str) -> grpc.aio.Channel:
        """A channel of its own for the caller, kept open."""
        if caller not in self.channels:
            mine = AUTHORITY.issue(f"{caller}.internal")
            trusted = grpc.ssl_channel_credentials(AUTHORITY.pem, mine.key, mine.cert)
            self.channels[caller] = await self._opened(self.live.targets[1], trusted)
        return self.channels[caller]

    async def for_tokens(self) -> grpc.aio.Channel:
        """The one channel on which each call shows its own token."""
        if "" not in self.channels:
            self.channels[""] = await self._opened(self.live.targets[0], grpc.ssl_channel_credentials(AUTHORITY.pem))
        return self.channels[""]

    async def _opened(self, target: str, credentials: grpc.ChannelCredentials) -> grpc.aio.Channel:
        return await self.stack.enter_async_context(grpc.aio.secure_channel(target, credentials))


class As:
    """Stubs that call as somebody: `router` and `catalog`."""

    def __init__(self, channel: grpc.aio.Channel, metadata: Iterable[tuple[str, str]] = ()) -> None:
        self.metadata = tuple(metadata)
        self.router, self.catalog = RouterServiceStub(channel), CatalogServiceStub(channel)

    def method(self, name: str) -> Any:
        """A method of either service."""
        found = getattr(self.router, name, None) or getattr(self.catalog, name)
        return lambda *given, **more: found(*given, metadata=self.metadata, **more)


@asynccontextmanager
async def secured(folder: Path, text: str = "", **settings: Any) -> AsyncIterator[Secured]:
    """A server of CATALOG whose callers are those of `text`, by default `callers()`."""
    (folder / "callers.yaml").write_text(text or callers())
    cert, key = AUTHORITY.issue("localhost", "127.0.0.1").write(folder)
    tls = TlsPaths(cert, key, AUTHORITY.write(folder))
    addresses = parse_addresses(("tls:127.0.0.1:0", "mtls:127.0.0.1:0"), insecure=False, offers=MTLS)
    usual = {"callers": folder / "callers.yaml", "tls": tls, "addresses": addresses, "local_admin": False}
    async with serving(folder, CATALOG, **{**usual, **settings}) as live, AsyncExitStack() as stack:
        yield Secured(live, stack)
