"""A local backend that costs next to nothing: answers every request with a stream at once, or with one that lasts."""

from __future__ import annotations

import asyncio
import sys
from typing import cast

import uvloop

WORD = b"chosen"
_CHUNK = b'{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s}]}'
_ENDING = (
    b'{"id":"c","object":"chat.completion.chunk","created":1,"model":"m",'
    b'"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'
)
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
PAUSE_S = 0.1
LONG_S = 15


def _part(data: bytes) -> bytes:
    event = b"data: %s\n\n" % data
    return b"%x\r\n%s\r\n" % (len(event), event)


_ROLE = _part(_CHUNK % b'{"role":"assistant","content":""}')
_SAID = _part(_CHUNK % (b'{"content":"%s"}' % WORD))
_END = _part(_ENDING) + _part(b"[DONE]") + b"0\r\n\r\n"


class _Answers(asyncio.Protocol):
    """One connection. A body that holds `"seed":1` gets a stream of ten words a second, others five words at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._read = b""

    def data_received(self, data: bytes) -> None:
        self._read += data
        head, mark, body = self._read.partition(b"\r\n\r\n")
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        if not mark or len(body) < int(length or 0):
            return
        self._read = b""
        if b'"seed":1' in body:
            self._task = asyncio.get_running_loop().create_task(self._speak())
        else:
            self._send(_HEAD + _ROLE + _SAID * 5 + _END)

    async def _speak(self) -> None:
        self._send(_HEAD + _ROLE)
        for _ in range(round(LONG_S / PAUSE_S)):
            self._send(_SAID)
            await asyncio.sleep(PAUSE_S)
        self._send(_END)

    def _send(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(data)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Answers, "127.0.0.1", 0, backlog=1024)
    sys.stderr.write(f"listening on {server.sockets[0].getsockname()[1]}\n")
    sys.stderr.flush()
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve())
