"""The bytes of an answer, joined of remembered parts, are those of the message that a plain writer would make."""

from __future__ import annotations

import random
from typing import Any

from google.protobuf.json_format import ParseDict

from router_service.asks import Answer
from router_service.domain.decision import TERMS, Decision, Refusal
from router_service.engine.decide import decide
from router_service.v1 import router_service_pb2 as pb
from router_service.wire.answer import decide_response
from tests.reference.generate import random_case
from tests.vector_form import read_case

TRACE_ID = "0123456789abcdef" * 2


def _plain(result: Decision | Refusal, now: int) -> pb.DecideResponse:
    """The same message, field by field."""
    common: dict[str, Any] = {
        name: getattr(result, name)
        for name in (
            "policy_id",
            "requested_model",
            "resolved_model",
            "approximate",
            "pinned",
            "effective_residency",
            "retention",
            "considered",
            "excluded",
            "reasons",
        )
    }
    common |= {"steps": list(result.steps), "trace_id": TRACE_ID, "catalog_version": "v1"}
    if isinstance(result, Refusal):
        common |= {
            "code": result.code,
            "message": result.message,
            "http_status": result.http_status,
            "transient": result.transient,
            "close_slugs": list(result.close_slugs),
        }
        message = ParseDict({"request_id": "r", "refusal": common}, pb.DecideResponse())
        if result.retry_at is not None:
            message.refusal.retry_after.FromMilliseconds(result.retry_at - now)
        return message
    candidates = []
    for one in result.candidates:
        terms = {
            name: {"raw": term.raw, "weighted": term.weighted / 10**9}
            for name, term in zip(TERMS, one.score.terms, strict=True)
        }
        raw = {
            name: getattr(one.endpoint, name)
            for name in (
                "endpoint_id",
                "model",
                "model_version",
                "provider",
                "region",
                "country",
                "sovereignty",
                "context_window",
                "max_output_tokens",
            )
        }
        raw |= {"score": one.score.total / 10**9, "terms": terms, "need_ms": min(one.need_ms, 2**32 - 1)}
        raw |= {"allowance_ms": one.allowance_ms}
        raw |= {"estimated_cost": None if one.estimated_cost is None else one.estimated_cost / 10**12}
        candidates.append({name: value for name, value in raw.items() if value is not None})
    common |= {"candidates": candidates, "sentence": result.sentence}
    return ParseDict({"request_id": "r", "decision": common}, pb.DecideResponse())


def test_every_kind_of_answer() -> None:
    rng, kinds = random.Random(31), set()
    for _ in range(600):
        index, policy, request, now = read_case(random_case(rng))
        result = decide(index, policy, request, now)
        kinds.add(result.code if isinstance(result, Refusal) else f"{len(result.candidates)} candidates")
        answer = Answer(result, TRACE_ID, "v1", now)
        for _ in range(2):  # made, and remembered
            assert pb.DecideResponse.FromString(decide_response(answer, "r")) == _plain(result, now)
    assert {"1 candidates", "2 candidates", "3 candidates", "no_endpoint_available", "model_not_found"} <= kinds


def test_a_long_answer_is_framed_right() -> None:
    """Lengths of more than two bytes of base 128, and texts that are not ASCII."""
    rng = random.Random(32)
    index, policy, request, now = read_case(random_case(rng))
    result = decide(index, policy, request, now)
    for size in (0, 1, 127, 128, 16_383, 16_384, 2_097_152):
        request_id = "é" * (size // 2)
        answer = pb.DecideResponse.FromString(decide_response(Answer(result, TRACE_ID, "v1", now), request_id))
        assert answer.request_id == request_id
