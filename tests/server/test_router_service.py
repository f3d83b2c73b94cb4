"""Decide, DecideStream and Explain over the wire of a real server."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import grpc
import pytest
from google.protobuf.json_format import MessageToDict, ParseDict
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from router_service.v1 import error_reason_pb2 as reason_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.route_pb2 import RouteRequest
from tests.engine.test_vectors import OWN
from tests.server.conftest import ServerProcess
from tests.vector_form import decided


def _error(call: Callable[[], Any]) -> tuple[grpc.StatusCode, str, dict[str, str]]:
    """(code, ErrorInfo's reason, bad fields) of a call that must fail."""
    with pytest.raises(grpc.RpcError) as caught:
        call()
    reason, fields = "", {}
    for detail in rpc_status.from_call(caught.value).details:
        info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
        if detail.Unpack(info):
            assert info.domain == "router_service.v1"
            reason = info.reason
        elif detail.Unpack(bad):
            fields = {one.field: one.description for one in bad.field_violations}
    return caught.value.code(), reason, fields


def test_a_decision_over_the_wire(server: ServerProcess) -> None:
    request = RouteRequest(task="coding", input_tokens=1000, output_tokens=200, deadline_ms=8000)
    answer = server.router.Decide(pb.DecideRequest(request_id="r-1", request=request))
    decision = answer.decision
    assert answer.request_id == "r-1"
    assert len(decision.trace_id) == 32
    assert decision.policy_id == "eu-hosted"
    assert decision.considered == decision.excluded + sum(1 for _ in decision.candidates) or decision.excluded > 0
    assert decision.sentence.startswith("Automatic routing for a coding task with eu-hosted residency: ")
    first = decision.candidates[0]
    weighted = sum(round(getattr(first.terms, name.name).weighted * 1e9) for name in first.terms.DESCRIPTOR.fields)
    assert weighted == round(first.score * 1e9)
    assert [one.allowance_ms for one in decision.candidates] == sorted(
        (one.allowance_ms for one in decision.candidates), reverse=True
    )


def test_two_decisions_have_two_traces(server: ServerProcess) -> None:
    first, second = (server.router.Decide(pb.DecideRequest()) for _ in range(2))
    assert first.decision.trace_id != second.decision.trace_id
    first.decision.trace_id = second.decision.trace_id = ""
    assert first == second


def test_a_refusal_is_an_answer(server: ServerProcess) -> None:
    answer = server.router.Decide(
        pb.DecideRequest(policy_id="eu-owned-strict", request=RouteRequest(model="no-such-model"))
    )
    assert answer.WhichOneof("result") == "refusal"
    assert (answer.refusal.code, answer.refusal.http_status) == ("model_not_found", 404)
    assert not answer.refusal.transient


def test_every_bad_field_is_named_at_once(server: ServerProcess) -> None:
    request = RouteRequest(
        task="two words",
        residency="moon",
        regions=["DE", " "],
        input_tokens=2 * 10**8,
        output_tokens=5,
        expected_output_tokens=6,
        max_price=float("nan"),
        max_cost=-1,
        max_attempts=0,
    )
    code, reason, fields = _error(lambda: server.router.Decide(pb.DecideRequest(request=request)))
    assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "ERROR_REASON_INVALID_REQUEST")
    assert set(fields) == {
        f"request.{name}"
        for name in (
            "task",
            "residency",
            "regions[1]",
            "input_tokens",
            "expected_output_tokens",
            "max_price",
            "max_cost",
            "max_attempts",
        )
    }
    assert all(len(description) > 10 for description in fields.values())


def test_a_field_of_a_later_version_is_not_passed_over(server: ServerProcess) -> None:
    field_31_of_five_bytes = b"\xfa\x01\x05" + b"eager"
    message = pb.DecideRequest.FromString(field_31_of_five_bytes)
    code, _, fields = _error(lambda: server.router.Decide(message))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "field number 31" in fields["message"]


def test_an_unknown_policy_is_not_found(server: ServerProcess) -> None:
    code, reason, _ = _error(lambda: server.router.Decide(pb.DecideRequest(policy_id="nobody's")))
    assert (code, reason) == (grpc.StatusCode.NOT_FOUND, "ERROR_REASON_POLICY_NOT_FOUND")


def test_explain_agrees_with_decide(server: ServerProcess) -> None:
    request = RouteRequest(task="coding", language="de", input_tokens=900, output_tokens=90, max_cost=0.001)
    decision = server.router.Decide(pb.DecideRequest(request=request)).decision
    explanation = server.router.Explain(pb.ExplainRequest(request=request)).explanation
    decision.trace_id = ""
    assert explanation.decision == decision
    assert len(explanation.endpoints) == decision.considered
    ranked = [one for one in explanation.endpoints if one.HasField("rank")]
    assert [one.rank for one in ranked] == list(range(1, len(ranked) + 1))
    assert decision.considered == decision.excluded + len(ranked)
    firsts: dict[str, int] = {}
    for one in explanation.endpoints:
        assert one.HasField("rank") is not bool(one.refused_by)
        for by in one.refused_by[:1]:
            firsts[by.reason] = firsts.get(by.reason, 0) + 1
    assert firsts == dict(decision.reasons)
    attempts = {one.attempt: one.endpoint_id for one in explanation.endpoints if one.HasField("attempt")}
    assert [attempts[i + 1] for i in range(len(attempts))] == [one.endpoint_id for one in decision.candidates]


def test_an_item_of_a_stream_may_fail_without_ending_it(server: ServerProcess) -> None:
    items = [
        pb.DecideRequest(request_id="good", request=RouteRequest(task="general")),
        pb.DecideRequest(request_id="bad", request=RouteRequest(residency="moon", task="?")),
        pb.DecideRequest(request_id="unknown", policy_id="nobody's"),
        pb.DecideRequest(request_id="refused", request=RouteRequest(model="no-such-model")),
        pb.DecideRequest(request_id="good again"),
    ]
    answers = list(server.router.DecideStream(pb.DecideStreamRequest(decide=item) for item in items))
    assert [one.request_id for one in answers] == [item.request_id for item in items]
    assert [one.WhichOneof("result") for one in answers] == ["decision", "error", "error", "refusal", "decision"]
    assert answers[1].error.code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    assert [one.field for one in answers[1].error.violations] == ["request.task", "request.residency"]
    assert answers[2].error.reason == reason_pb.ERROR_REASON_POLICY_NOT_FOUND


def _inline(case: dict[str, Any]) -> pb.DecideRequest:
    """A vector as a request that brings its own catalogue; instants become timestamps."""

    def fields(raw: dict[str, Any]) -> dict[str, Any]:
        instants = {
            name: f"{raw[name] // 1000}.{raw[name] % 1000:03}"
            for name in raw
            if name in ("retires_at", "suppressed_until") and raw[name]
        }
        return {name: value for name, value in raw.items() if value is not None and name not in instants}

    message = pb.DecideRequest(request=ParseDict(fields(case["request"]), RouteRequest()))
    for raw in case["catalog"]:
        candidate = ParseDict(fields(raw), message.inline.candidates.add())
        for name in ("retires_at", "suppressed_until"):
            if raw.get(name) is not None:
                getattr(candidate, name).FromMilliseconds(raw[name])
    ParseDict(fields(case["policy"]), message.inline.policy)
    return message


def test_stateless_mode_gives_what_the_engine_gives(server: ServerProcess) -> None:
    """The wire loses nothing: each vector that does not depend on the clock is answered as the engine answers it."""
    compared = 0
    for line in OWN.read_text().splitlines():
        case = json.loads(line)
        if any(one.get("retires_at") or one.get("suppressed_until") for one in case["catalog"]):
            continue
        expected, answer = decided(case), server.router.Decide(_inline(case))
        (kind, result), *_ = expected.items()
        assert answer.WhichOneof("result") == kind
        got = getattr(answer, kind)
        for name in ("considered", "excluded", "pinned", "approximate", "effective_residency", "resolved_model"):
            assert getattr(got, name) == result[name]
        assert dict(got.reasons) == result["reasons"]
        for one, want in zip(getattr(got, "candidates", ()), result.get("candidates", ()), strict=True):
            assert round(one.score * 1e9) == want["score_e9"]
            assert one.endpoint_id == want["endpoint_id"]
            assert one.HasField("estimated_cost") is (want["estimated_cost_e12"] is not None)
            assert round(one.estimated_cost * 1e12) == (want["estimated_cost_e12"] or 0) or one.estimated_cost > 1000
            assert (one.allowance_ms if one.HasField("allowance_ms") else None) == want["allowance_ms"]
        assert (got.sentence if kind == "decision" else got.message) == (
            result.get("sentence") or result.get("message")
        )
        compared += 1
    assert compared >= 30


def test_inline_problems_are_named_by_candidate(server: ServerProcess) -> None:
    case = json.loads(OWN.read_text().splitlines()[0])
    message = _inline(case)
    first = message.inline.candidates[0]
    second = message.inline.candidates.add()
    second.CopyFrom(first)
    second.endpoint_id = "another"
    second.input_price = -1
    second.country = "US"
    second.sovereignty = "eu-owned"
    second.kind = ""
    message.inline.policy.residency.append("mars")
    number = len(message.inline.candidates) - 1
    code, _, fields = _error(lambda: server.router.Decide(message))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    place = f"inline.candidates[{number}]"
    assert {f"{place}.input_price", f"{place}.kind", f"{place}.sovereignty"} <= set(fields)
    assert any(field.startswith("inline.policy.residency") for field in fields)


def test_inline_ids_must_be_unique_and_no_policy_named(server: ServerProcess) -> None:
    message = _inline(json.loads(OWN.read_text().splitlines()[0]))
    message.inline.candidates.add().CopyFrom(message.inline.candidates[0])
    assert "inline.candidates[1].endpoint_id" in _error(lambda: server.router.Decide(message))[2]
    del message.inline.candidates[-1]
    message.policy_id = "eu-hosted"
    assert "policy_id" in _error(lambda: server.router.Decide(message))[2]


def test_stateless_mode_is_off_unless_asked_for(serve: Callable[..., ServerProcess]) -> None:
    message = _inline(json.loads(OWN.read_text().splitlines()[0]))
    code, reason, _ = _error(lambda: serve().router.Decide(message))
    assert (code, reason) == (grpc.StatusCode.PERMISSION_DENIED, "ERROR_REASON_STATELESS_MODE_OFF")


def test_json_form_has_the_names_of_the_proto(server: ServerProcess) -> None:
    answer = server.router.Decide(pb.DecideRequest(request=RouteRequest(model="mistral-large")))
    written = MessageToDict(answer, preserving_proto_field_name=True)
    assert written["decision"]["resolved_model"] == "mistral-large"
    assert "effective_residency" in written["decision"]
