"""Load that goes on while instances are replaced, and what stands between it and them."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import grpc

from router_service.v1 import router_service_pb2 as pb
from router_service.v1.route_pb2 import RouteRequest
from router_service.v1.router_service_pb2_grpc import RouterServiceStub
from tests.server.conftest import ServerProcess
from tests.store.redis_server import free_port

CHANNELS, AT_ONCE = 4, 24
LIMIT_S = 400
DECIDED = "decided"


class InThread:
    """A coroutine in a thread and an event loop of its own, from the beginning of a `with` to its end."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.run()))

    async def run(self) -> None:
        """Runs until `over` is set."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()


class Load(InThread):
    """Decisions, `AT_ONCE` of them at a time, counted by how they ended."""

    def __init__(self, target: str, options: Sequence[tuple[str, Any]]) -> None:
        super().__init__()
        self.ended: Counter[str] = Counter()
        # Channels of one target share their connection, unless they are told not to.
        self._target, self._options = target, [("grpc.use_local_subchannel_pool", 1), *options]

    async def run(self) -> None:
        async with asyncio.timeout(LIMIT_S):
            await asyncio.gather(*(self._channel() for _ in range(CHANNELS)))

    async def _channel(self) -> None:
        async with grpc.aio.insecure_channel(self._target, options=self._options) as channel:
            router = RouterServiceStub(channel)
            await asyncio.gather(*(self._decide(router) for _ in range(AT_ONCE // CHANNELS)))

    async def _decide(self, router: RouterServiceStub) -> None:
        request = pb.DecideRequest(request=RouteRequest(task="coding", input_tokens=1200, output_tokens=400))
        while not self.over.is_set():
            try:
                answer = await router.Decide(request, timeout=30)
                self.ended[DECIDED if answer.decision.candidates else "empty"] += 1
            except grpc.aio.AioRpcError as error:
                self.ended[f"{error.code().name}: {error.details()}"] += 1
                await asyncio.sleep(0.01)

    def wait_for(self, enough: Callable[[Counter[str]], bool]) -> None:
        """Until so much has ended."""
        waiting = threading.Event()
        while not enough(self.ended):
            assert self.thread.is_alive(), f"{LIMIT_S} s were too short: {self.ended}"
            waiting.wait(0.05)


class Service(InThread):
    """One address that forwards connections in turn, as a Service does: those that there are stay where they are."""

    def __init__(self, ready: set[int]) -> None:
        super().__init__()
        self.ready, self._turn = ready, 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.target = f"127.0.0.1:{self._listener.getsockname()[1]}"

    async def run(self) -> None:
        server = await asyncio.start_server(self._forward, sock=self._listener)
        while not self.over.is_set():  # noqa: ASYNC110 - it is another thread's
            await asyncio.sleep(0.05)
        server.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._turn += 1
        ports = sorted(self.ready)
        behind_reader, behind_writer = await asyncio.open_connection("127.0.0.1", ports[self._turn % len(ports)])
        await asyncio.gather(_copy(reader, behind_writer), _copy(behind_reader, writer), return_exceptions=True)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


class Instances:
    """Two of them, which share a store; each keeps its port when it is replaced."""

    def __init__(self, folder: Path, *ending: str) -> None:
        self._arguments = ("--store", f"sqlite:{folder}/router.db", *ending)
        self.running = {port: self._start(port) for port in (free_port(), free_port())}
        self.ports = [*self.running]

    def _start(self, port: int) -> ServerProcess:
        return ServerProcess("--listen", f"127.0.0.1:{port}", *self._arguments)

    def replace(self, port: int) -> None:
        """SIGTERM, as a node sends it, and the next one once it has ended; waits until that one serves."""
        assert self.running[port].stop(signal.SIGTERM) == 0
        self.running[port] = self._start(port)
        assert self.running[port].target

    def kill(self) -> None:
        """Ends all without more ado."""
        for one in self.running.values():
            one.stop(signal.SIGKILL)
