"""What a caller gets where there is no answer: an exception, never an endpoint."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from router_service_client import AsyncRouterClient, RouterClient, RouterTimeout, RouterUnavailable


@pytest.fixture
def silent() -> Iterator[str]:
    """An address that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def test_nobody_listens(tmp_path: Path) -> None:
    with RouterClient(f"unix:{tmp_path}/nothing.sock") as router, pytest.raises(RouterUnavailable) as raised:
        router.decide(model="auto")
    assert (raised.value.code, raised.value.reason) == (grpc.StatusCode.UNAVAILABLE, "")
    assert str(raised.value)


async def test_nobody_listens_to_asyncio(tmp_path: Path) -> None:
    async with AsyncRouterClient(f"unix:{tmp_path}/nothing.sock") as router:
        with pytest.raises(RouterUnavailable):
            await router.explain(model="auto")


def test_a_deadline_of_the_call_holds(silent: str) -> None:
    with RouterClient(silent) as router, pytest.raises(RouterTimeout):
        router.decide(timeout=0.1)


async def test_a_deadline_of_the_client_holds(silent: str) -> None:
    async with AsyncRouterClient(silent, timeout=0.1) as router:
        with pytest.raises(RouterTimeout):
            await router.decide()
