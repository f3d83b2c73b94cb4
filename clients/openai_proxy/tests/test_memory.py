"""What 200 streams at once take of memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

from clients.openai_proxy.tests.backend import Backend
from clients.openai_proxy.tests.behaviours import TEXT, WORDS
from clients.openai_proxy.tests.world import PATIENCE_S, ProxyProcess

STREAMS = 200
LIMIT_MB = 300


async def read_until(reader: asyncio.StreamReader, mark: bytes) -> bytes:
    """What came up to the mark."""
    read = b""
    while mark not in read:
        piece = await reader.read(65536)
        assert piece, read
        read += piece
    return read


async def test_200_streams_take_less_than_300_mb(start: Callable[..., ProxyProcess], backend: Backend) -> None:
    proxy = start()
    host, _, port = proxy.root.removeprefix("http://").partition(":")
    # Some context, as requests in earnest have.
    said = [{"role": "system", "content": "You are polite. " * 2000}, {"role": "user", "content": "Good morning?"}]
    body = json.dumps({"model": "pause", "messages": said, "stream": True}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: p\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    streams = [await asyncio.open_connection(host, int(port)) for _ in range(STREAMS)]
    try:
        async with asyncio.timeout(4 * PATIENCE_S):
            for _, writer in streams:
                writer.write(head + body)
            second = json.dumps(WORDS[1]).encode()
            begun = await asyncio.gather(*(read_until(reader, second) for reader, _ in streams))
            assert len(backend.asked("pause")) == STREAMS  # all at once, and none of them ended
            held = proxy.rss_mb()
            backend.go_on.set()
            ended = await asyncio.gather(*(read_until(reader, b"[DONE]") for reader, _ in streams))
    finally:
        for _, writer in streams:
            writer.close()
    for first, rest in zip(begun, ended, strict=True):
        events = [line[6:] for line in (first + rest).split(b"\n") if line.startswith(b"data: {")]
        choices = [choice for one in events for choice in json.loads(one)["choices"]]
        assert "".join(one["delta"].get("content", "") for one in choices) == TEXT
    assert held < LIMIT_MB
    assert proxy.rss_mb() < LIMIT_MB
