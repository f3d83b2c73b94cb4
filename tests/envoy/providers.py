"""Providers of LLMs as Envoy meets them: TLS servers on loopback that do as a test says, and note what they saw."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Answer = Callable[["Exchange"], Awaitable[None]]


@dataclass(frozen=True)
class Seen:
    """One request as a provider saw it."""

    provider: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    sni: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Exchange:
    """One request that is to be answered, and the connection to answer on."""

    seen: Seen
    writer: asyncio.StreamWriter

    async def send(self, status: int, body: bytes = b"{}", headers: Mapping[str, str] | None = None) -> None:
        lines = {"content-type": "application/json", "content-length": str(len(body)), **(headers or {})}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self.writer.write(f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + body)
        await self.writer.drain()

    async def begin_stream(self, first: bytes = b"data: 1\n\n") -> None:
        head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        self.writer.write(head.encode())
        await self.chunk(first)

    async def chunk(self, part: bytes) -> None:
        self.writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        await self.writer.drain()

    def reset(self) -> None:
        """Ends the connection by a RST."""
        raw = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


def answers(status: int = 200, body: bytes | None = None, **headers: str) -> Answer:
    """Answers with a status; underscores of header names stand for hyphens."""

    async def answer(exchange: Exchange) -> None:
        text = json.dumps({"from": exchange.seen.provider}).encode() if body is None else body
        await exchange.send(status, text, {name.replace("_", "-"): value for name, value in headers.items()})

    return answer


async def resets(exchange: Exchange) -> None:
    """Takes the request and resets the connection."""
    exchange.reset()


async def hangs(_exchange: Exchange) -> None:
    """Takes the request and says nothing."""
    await asyncio.sleep(60)


async def breaks_off(exchange: Exchange) -> None:
    """Begins an answer and resets the connection."""
    await exchange.begin_stream()
    await asyncio.sleep(0.1)
    exchange.reset()


async def streams(exchange: Exchange) -> None:
    """Answers bit by bit."""
    await exchange.begin_stream()
    await asyncio.sleep(0.1)
    await exchange.chunk(b"data: [DONE]\n\n")
    exchange.writer.write(b"0\r\n\r\n")
    await exchange.writer.drain()


async def never_ends(exchange: Exchange) -> None:
    """Begins an answer and goes on with nothing."""
    await exchange.begin_stream()
    await asyncio.sleep(60)


@dataclass
class Provider:
    """One provider; `answer` is what it does with each request, `seen` what it saw."""

    name: str
    port: int
    answer: Answer = field(default_factory=answers)
    seen: list[Seen] = field(default_factory=list)

    @property
    def host(self) -> str:
        return f"{self.name}.localhost"


class Providers:
    """All providers of a test, on one event loop in a thread. A provider that is down has a port that refuses."""

    def __init__(self, context_of: Callable[[str], ssl.SSLContext | None]) -> None:
        """`context_of` gives the TLS of a provider by its name; None is plain HTTP."""
        self._context_of = context_of
        self._loop = asyncio.new_event_loop()
        self._servers: dict[str, asyncio.Server] = {}
        self._snis: dict[str, str] = {}
        self.by_name: dict[str, Provider] = {}
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def __getitem__(self, name: str) -> Provider:
        return self.by_name[name]

    def start(self, name: str, port: int = 0) -> Provider:
        """Starts a provider; on the port that it had before, where it had one."""
        known = self.by_name.get(name)
        bound = self._run(self._start(name, port or (known.port if known else 0)))
        return self.by_name.setdefault(name, Provider(name, bound))

    def stop(self, name: str) -> None:
        """Its port refuses from now on."""
        self._run(self._stop(name))

    def is_up(self, name: str) -> bool:
        return name in self._servers

    def reset(self) -> None:
        """All are up, answer, and have seen nothing."""
        for name, provider in self.by_name.items():
            provider.answer, provider.seen[:] = answers(), []
            if name not in self._servers:
                self.start(name)

    def saw(self) -> list[Seen]:
        """All that was seen, by provider."""
        return [seen for provider in self.by_name.values() for seen in provider.seen]

    def close(self) -> None:
        for name in list(self._servers):
            self.stop(name)
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def _run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(20)

    async def _start(self, name: str, port: int) -> int:
        context = self._context_of(name)
        if context is not None:
            context.sni_callback = lambda _, sni, __: self._snis.__setitem__(name, sni or "")
        server = await asyncio.start_server(
            lambda reader, writer: self._serve(name, reader, writer), "127.0.0.1", port, ssl=context
        )
        self._servers[name] = server
        return int(server.sockets[0].getsockname()[1])

    async def _stop(self, name: str) -> None:
        server = self._servers.pop(name)
        server.close()
        for task in asyncio.all_tasks():
            if task.get_name() == name:
                task.cancel()
        await asyncio.sleep(0)

    async def _end(self) -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.set_name(name)
        try:
            while (seen := await _read(name, self._snis.get(name, ""), reader)) is not None:
                provider = self.by_name[name]
                provider.seen.append(seen)
                await provider.answer(Exchange(seen, writer))
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()


async def _read(name: str, sni: str, reader: asyncio.StreamReader) -> Seen | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in lines if line}
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(await reader.readline(), 16):
            body += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
    else:
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Seen(name, first.split(" ")[1], headers, body, sni)
