"""How the service is reached: nothing beneath the loop tries again, and what makes no sense is refused at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

from clients.python.tests.scripted import ScriptedService, scripted_service
from router_service_client import AsyncRouterClient, RouterClient, RouterError, RouterTimeout, RouterUnavailable
from router_service_client.channels import OPTIONS
from router_service_client.places import AT_ONCE, ThreadPlaces
from router_service_client.v1.router_service_pb2 import DecideRequest
from router_service_client.v1.router_service_pb2_grpc import RouterServiceStub

POLICY = {
    "maxAttempts": 4,
    "initialBackoff": "0.01s",
    "maxBackoff": "0.01s",
    "backoffMultiplier": 1,
    "retryableStatusCodes": ["UNAVAILABLE"],
}
# What a service config may say: try all that fails four times.
RETRYING = ("grpc.service_config", json.dumps({"methodConfig": [{"name": [{}], "retryPolicy": POLICY}]}))
Service = tuple[ScriptedService, str]


@pytest.fixture
def failing() -> Iterator[Service]:
    with scripted_service() as both:
        both[0].case = {"error": "UNAVAILABLE"}
        yield both


def test_grpc_left_to_itself_would_try_again(failing: Service) -> None:
    with grpc.insecure_channel(failing[1], [RETRYING]) as channel, pytest.raises(grpc.RpcError):
        RouterServiceStub(channel).Decide(DecideRequest())
    assert len(failing[0].asked) == 4


def test_nothing_beneath_tries_again(failing: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("router_service_client.channels.OPTIONS", [*OPTIONS, RETRYING])
    with RouterClient(failing[1]) as client, pytest.raises(RouterUnavailable):
        client.decide()
    assert len(failing[0].asked) == 1


async def test_nothing_beneath_tries_again_for_asyncio(failing: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("router_service_client.channels.OPTIONS", [*OPTIONS, RETRYING])
    async with AsyncRouterClient(failing[1]) as client:
        with pytest.raises(RouterUnavailable):
            await client.decide()
    assert len(failing[0].asked) == 1


@pytest.mark.parametrize("target", ["", "http://127.0.0.1:50051", "HTTPS://router.example"])
@pytest.mark.parametrize("kind", [RouterClient, AsyncRouterClient])
def test_what_is_no_target_is_refused(kind: type[RouterClient | AsyncRouterClient], target: str) -> None:
    with pytest.raises(ValueError, match=r"target: .* is no address; say host:port or unix:/path"):
        kind(target)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_what_is_no_time_is_refused(timeout: float) -> None:
    with pytest.raises(ValueError, match=r"timeout: .* is no time; give seconds, more than 0"):
        RouterClient(timeout=timeout)
    with RouterClient() as client, pytest.raises(ValueError, match="is no time"):
        client.decide(timeout=timeout)


async def test_a_closed_client_says_so(failing: Service) -> None:
    client = RouterClient(failing[1])
    client.close()
    for call in (client.decide, lambda: client.run(None, lambda attempt: 1), lambda: client.report_stream([])):
        with pytest.raises(RouterError, match="the client is closed; make a new one"):
            call()
    other = AsyncRouterClient(failing[1])
    await other.close()
    with pytest.raises(RouterError, match="the client is closed; make a new one"):
        await other.decide()
    assert not failing[0].asked


def test_a_burst_of_threads_over_a_new_connection_is_answered_in_full(target: str) -> None:
    ids = [str(number) for number in range(4 * AT_ONCE)]
    with RouterClient(target, timeout=30) as client, ThreadPoolExecutor(len(ids)) as threads:
        answers = list(threads.map(lambda one: client.decide(request_id=one), ids))
    assert [one.request_id for one in answers] == ids


def test_waiting_for_a_place_is_part_of_the_time() -> None:
    places = ThreadPlaces(1)
    with places.taken(5) as left:
        assert 4 < left <= 5
        with pytest.raises(RouterTimeout, match=r"the calls before it took more than 0\.01 s"), places.taken(0.01):
            pytest.fail("there was a place")
    with places.taken(5):  # given back
        pass
