"""The cutter: a relay between callers and an instance, all of whose connections can be cut off at once."""

from __future__ import annotations

import asyncio
import contextlib

from tests.chaos.spells import Spells


class Cutter:
    """Listens on a port of the loopback from `open` on."""

    def __init__(self) -> None:
        self.cuts = Spells()
        self.target = ""
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    async def open(self, target: str) -> None:
        """Relays to this address."""
        host, _, port = target.rpartition(":")

        async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                there, back = await asyncio.open_connection(host, int(port))
            except OSError:
                writer.transport.abort()
                return
            with contextlib.suppress(asyncio.CancelledError):  # at the end of a run, which a server would call a fault
                await asyncio.gather(self._pump(reader, back), self._pump(there, writer))

        self._server = await asyncio.start_server(relay, "127.0.0.1", 0)
        self.target = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> int:
        """Cuts all connections off; how many ends there were."""
        self.cuts.moment()
        for writer in list(self._writers):
            writer.transport.abort()
        return len(self._writers)

    async def close(self) -> None:
        """Listens no more."""
        self.cut()
        if self._server is not None:
            self._server.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            with contextlib.suppress(OSError):
                while data := await reader.read(1 << 16):
                    writer.write(data)
                    await writer.drain()
        finally:
            self._writers.discard(writer)
            writer.transport.abort()
