"""All that one proxy stands on: the router, the backends, what policies reach, who may call."""

from __future__ import annotations

import grpc
from aiohttp import web
from grpc_health.v1 import health_pb2, health_pb2_grpc

from router_openai_proxy.backends import Backends
from router_openai_proxy.calling import Calls
from router_openai_proxy.catalogue import Catalogue
from router_openai_proxy.config.values import Access, Config, Service
from router_openai_proxy.keys import Keys
from router_openai_proxy.reach import Reach
from router_openai_proxy.secret import reader_of
from router_openai_proxy.traffic import Traffic
from router_service_client import AsyncRouterClient
from router_service_client.channels import open_aio_channel
from router_service_client.token import shown

ROUTER_SERVICE = "router_service.v1.RouterService"


class Proxy:
    """Made within a running event loop; `close` ends what it began and delivers what is still to be reported."""

    def __init__(self, config: Config) -> None:
        """Raises BadSecret or BadKeys, where what the configuration refers to is gone since it was checked."""
        self.config = config
        self.keys = None if config.keys is None else Keys(config.keys)
        self.backends = Backends(config.backends)
        self.calls = Calls(self.backends, config.limits)
        self._channel = open_aio_channel(config.service.target, _credentials(config.service))
        self._timeout = config.service.timeout_ms / 1000
        token = None if config.service.token is None else reader_of(config.service.token)
        self.router = AsyncRouterClient(channel=self._channel, timeout=self._timeout, token=token)
        self._health = health_pb2_grpc.HealthStub(self._channel)
        catalogue = Catalogue(self._channel, shown(token), self._timeout, self.backends)
        self.reach = Reach(self.router, catalogue.follow, lambda one: self.backends.route(one) is not None)
        self.traffic = Traffic(config.limits.requests)

    def access(self, caller: str) -> Access:
        """What a caller may name, and is decided under."""
        return self.config.callers.get(caller, self.config.access)

    async def service_is_ready(self) -> bool:
        """Whether the router-service says that it decides."""
        asked = health_pb2.HealthCheckRequest(service=ROUTER_SERVICE)
        try:
            answer = await self._health.Check(asked, timeout=self._timeout)
        except grpc.RpcError:
            return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    async def close(self) -> None:
        """Raises ReportsLost, which holds what could not be delivered."""
        try:
            await self.reach.close()
            await self.backends.close()
            await self.router.close()
        finally:
            await self._channel.close()


PROXY = web.AppKey("proxy", Proxy)


def _credentials(service: Service) -> grpc.ChannelCredentials | None:
    if service.ca is None:
        return None
    own = [None if path is None else path.read_bytes() for path in (service.key, service.certificate)]
    return grpc.ssl_channel_credentials(service.ca.read_bytes(), *own)
