"""Answers of a real server, through the clients of both kinds."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from router_service_client import (
    AsyncRouterClient,
    Endpoint,
    Inline,
    InvalidRequest,
    PermissionDenied,
    Policy,
    PolicyNotFound,
    RouteFields,
    RouterClient,
    RouteRequest,
    WorkloadNotFound,
    candidates,
)

COMMON: dict[str, Any] = {"kind": "hosted", "status": "up", "model_type": "text"}
INLINE = Inline(
    candidates=[
        Endpoint(endpoint_id="here", model="one", country="DE", sovereignty="eu-owned", **COMMON),
        Endpoint(endpoint_id="there", model="two", country="US", sovereignty="global", **COMMON),
    ],
    policy=Policy(policy_id="mine", residency=["eu-owned"]),
)


def test_a_decision_has_a_failover_list(router: RouterClient) -> None:
    answer = router.decide(task="coding", input_tokens=1200, output_tokens=400, request_id="mine")
    assert answer.request_id == "mine"
    assert answer.WhichOneof("result") == "decision"
    assert 1 <= len(candidates(answer)) <= 3
    assert len(answer.decision.trace_id) == 32
    assert answer.decision.sentence


def test_a_refusal_is_returned(router: RouterClient) -> None:
    answer = router.decide(model="no-such-model-at-all")
    assert answer.WhichOneof("result") == "refusal"
    assert (answer.refusal.code, answer.refusal.http_status) == ("model_not_found", 404)
    assert candidates(answer) == []


def test_fields_go_before_those_of_the_request(router: RouterClient) -> None:
    answer = router.decide(RouteRequest(model="no-such-model-at-all"), model="auto", max_attempts=1)
    assert len(candidates(answer)) == 1


def test_an_explanation_tells_what_was_decided(router: RouterClient) -> None:
    explanation = router.explain(task="coding").explanation
    first = candidates(router.decide(task="coding"))[0]
    assert candidates(explanation)[0].endpoint_id == first.endpoint_id
    ranked = [one for one in explanation.endpoints if one.HasField("rank")]
    assert len(ranked) + explanation.decision.excluded == explanation.decision.considered
    assert min(ranked, key=lambda one: one.rank).endpoint_id == first.endpoint_id


def test_every_bad_field_is_named(router: RouterClient) -> None:
    with pytest.raises(InvalidRequest) as raised:
        router.decide(max_price=-1.0, residency="the-moon")
    assert {one.field for one in raised.value.violations} == {"request.max_price", "request.residency"}
    assert all(one.description for one in raised.value.violations)
    assert raised.value.code is grpc.StatusCode.INVALID_ARGUMENT
    assert raised.value.reason == "ERROR_REASON_INVALID_REQUEST"
    assert "request.residency" in str(raised.value)


def test_an_unknown_policy_is_not_found(router: RouterClient) -> None:
    with pytest.raises(PolicyNotFound) as raised:
        router.explain(policy_id="nobody-has-this")
    assert raised.value.reason == "ERROR_REASON_POLICY_NOT_FOUND"


def test_candidates_of_ones_own_need_a_server_started_for_them(router: RouterClient) -> None:
    with pytest.raises(PermissionDenied) as raised:
        router.decide(inline=INLINE)
    assert raised.value.reason == "ERROR_REASON_STATELESS_MODE_OFF"


def test_candidates_of_ones_own_over_a_unix_socket(stateless_target: str) -> None:
    with RouterClient(stateless_target) as router:
        answer = router.decide(inline=INLINE)
    assert [one.endpoint_id for one in candidates(answer)] == ["here"]


def test_an_unknown_field_is_a_type_error(router: RouterClient) -> None:
    with pytest.raises(TypeError, match="has no field models; it has model, task"):
        router.decide(models="a")  # type: ignore[call-arg]


def test_a_channel_of_ones_own_stays_open(target: str) -> None:
    with grpc.insecure_channel(target) as channel:
        with RouterClient(channel=channel) as router:
            router.decide()
        with RouterClient(channel=channel) as router:
            assert candidates(router.decide())


async def test_the_asyncio_client_answers_the_same(router: RouterClient, async_router: AsyncRouterClient) -> None:
    answer = await async_router.decide(task="coding", input_tokens=10)
    expected = router.decide(task="coding", input_tokens=10)
    assert candidates(answer) == candidates(expected)
    explained = await async_router.explain(task="coding", input_tokens=10)
    assert candidates(explained.explanation) == candidates(expected)


async def test_the_asyncio_client_raises_the_same(async_router: AsyncRouterClient) -> None:
    with pytest.raises(InvalidRequest) as raised:
        await async_router.decide(max_price=-1.0)
    assert [one.field for one in raised.value.violations] == ["request.max_price"]
    with pytest.raises(PolicyNotFound):
        await async_router.explain(policy_id="nobody-has-this")


async def test_a_workload_is_inherited_and_explained(router: RouterClient, async_router: AsyncRouterClient) -> None:
    tokens: RouteFields = {"input_tokens": 6000}
    answer = router.decide(workload="invoices", **tokens)
    assert candidates(answer)
    assert candidates(await async_router.decide(workload="invoices@2026-11-30", **tokens)) == candidates(answer)
    for told in (
        router.explain(workload="invoices", **tokens).explanation,
        (await async_router.explain(workload="invoices", **tokens)).explanation,
    ):
        assert told.workload == "invoices@2026-11-30"
        assert {one.field: one.source for one in told.origins}["input_tokens"] == "request"
        assert candidates(told) == candidates(answer)


async def test_an_unknown_workload_is_not_found(router: RouterClient, async_router: AsyncRouterClient) -> None:
    with pytest.raises(WorkloadNotFound) as raised:
        router.decide(workload="invoices@1")
    assert raised.value.reason == "ERROR_REASON_WORKLOAD_NOT_FOUND"
    with pytest.raises(WorkloadNotFound):
        await async_router.explain(workload="nobody-has-this")
