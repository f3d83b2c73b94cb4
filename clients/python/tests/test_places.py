"""Many calls at once, over one connection that is not there yet."""

from __future__ import annotations

import asyncio
import socket
import time

import pytest

from router_service_client import AsyncRouterClient, RouterTimeout
from router_service_client.places import AT_ONCE, Places


async def test_a_burst_over_a_new_connection_is_answered_in_full(target: str) -> None:
    async with AsyncRouterClient(target, timeout=30) as client:
        answers = await asyncio.gather(*(client.decide(request_id=str(number)) for number in range(5 * AT_ONCE)))
    assert [one.request_id for one in answers] == [str(number) for number in range(5 * AT_ONCE)]


async def test_waiting_for_a_place_is_part_of_the_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port: int = silent.getsockname()[1]
        async with AsyncRouterClient(f"127.0.0.1:{port}", timeout=1) as client:
            begun = time.monotonic()
            calls = (client.decide() for _ in range(4 * AT_ONCE))
            ended = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(one) for one in ended} <= {RouterTimeout}
    assert time.monotonic() - begun < 3  # and not four times the time-out


async def test_a_place_is_given_back_by_whoever_gives_up() -> None:
    places = Places(1)
    assert await places.take(5) == 5
    with pytest.raises(RouterTimeout, match=r"the calls before it took more than 0\.01 s"):
        await places.take(0.01)
    waiting = asyncio.create_task(places.take(5))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    places.leave()
    assert await places.take(5) == 5
