"""Answers of Decide as the bytes that go on the wire, joined of parts that are worked out once.

A message on the wire is its fields one after the other, in any order, so the bytes of a part may be kept and joined
with those of another: an endpoint with its score is the same for every request that leaves the same survivors, a
decision for every same request. Only the trace id is new each time. Measured, this is most of what Decide costs
beside gRPC itself (docs/performance.md).
"""

from __future__ import annotations

import struct

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from router_service.asks import Answer
from router_service.domain.decision import TERMS, Candidate, Decision, Refusal, Score, Standing, Verdict
from router_service.domain.money import COST_UNIT, nearest_double
from router_service.v1 import route_pb2
from router_service.v1 import router_service_pb2 as pb

SCORE_UNIT = 10**9
UINT32_MAX = 2**32 - 1
_FORM = "wire"


def tag_of(message: type[Message], field: str) -> bytes:
    """What stands before a text, bytes or message of this field: its number and wire type 2."""
    return _varint(message.DESCRIPTOR.fields_by_name[field].number << 3 | 2)


def _varint(number: int) -> bytes:
    """An unsigned number in base 128, the low digits first."""
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    digits.append(number)
    return bytes(digits)


_REQUEST_ID = tag_of(pb.DecideResponse, "request_id")
_DECISION = tag_of(pb.DecideResponse, "decision")
_REFUSAL = tag_of(pb.DecideResponse, "refusal")
_TRACE_ID = tag_of(route_pb2.Decision, "trace_id")
_CATALOG_VERSION = tag_of(route_pb2.Decision, "catalog_version")
_CANDIDATES = tag_of(route_pb2.Decision, "candidates")
_DOUBLE = 1  # the wire type of a double
_TERM_FIELDS = route_pb2.Term.DESCRIPTOR.fields_by_name
_RAW, _WEIGHTED = (_varint(_TERM_FIELDS[name].number << 3 | _DOUBLE) for name in ("raw", "weighted"))
_TERM_SIZE = 2 * (1 + 8)
_TERM_TAGS = tuple(tag_of(route_pb2.Terms, name) + _varint(_TERM_SIZE) + _RAW for name in TERMS)
_PACK_TERMS = struct.Struct("<" + "3sd1sd" * len(TERMS)).pack
_TERMS_BEGIN = tag_of(route_pb2.Candidate, "terms") + _varint(len(TERMS) * (2 + _TERM_SIZE))
_SMALL = tuple(_varint(number) for number in range(1 << 14))  # lengths, without a loop


def decide_response(answer: Answer, request_id: str) -> bytes:
    """The bytes of a DecideResponse, which are those of a DecideStreamResponse too: same fields, same numbers."""
    form = result_form(answer.result, answer.trace_id, answer.catalog_version, answer.now)
    field = _DECISION if isinstance(answer.result, Decision) else _REFUSAL
    answered = framed(field, form)
    return _text(_REQUEST_ID, request_id) + answered if request_id else answered


def result_form(result: Decision | Refusal, trace_id: str, catalog_version: str, now: int) -> bytes:
    """The bytes of a Decision or a Refusal; `now` (ms) is what a refusal's retry_after counts from."""
    form = result.forms.get(_FORM)
    if form is None:
        make = _decision_form if isinstance(result, Decision) else _refusal_form
        form = result.forms[_FORM] = make(result)  # type: ignore[arg-type]
    parts = [form]
    if trace_id:
        parts.append(_text(_TRACE_ID, trace_id))
    if catalog_version:
        parts.append(_text(_CATALOG_VERSION, catalog_version))
    if isinstance(result, Refusal) and result.retry_at is not None:
        left = result.retry_at - now
        retry_after = Duration(seconds=left // 1000, nanos=left % 1000 * 1_000_000)
        parts.append(route_pb2.Refusal(retry_after=retry_after).SerializeToString())
    return b"".join(parts)


def _decision_form(decision: Decision) -> bytes:
    message = route_pb2.Decision(sentence=decision.sentence)
    _write_verdict(message, decision)
    parts = [message.SerializeToString(deterministic=True)]
    for candidate in decision.candidates:
        form = _candidate_form(candidate)
        parts += (_CANDIDATES, _length(form), form)
    return b"".join(parts)


def _refusal_form(refusal: Refusal) -> bytes:
    message = route_pb2.Refusal(
        code=refusal.code,
        message=refusal.message,
        http_status=refusal.http_status,
        transient=refusal.transient,
        close_slugs=refusal.close_slugs,
    )
    _write_verdict(message, refusal)
    return message.SerializeToString(deterministic=True)


def _write_verdict(message: route_pb2.Decision | route_pb2.Refusal, verdict: Verdict) -> None:
    """What decisions and refusals share, by the same names."""
    message.policy_id = verdict.policy_id
    message.requested_model = verdict.requested_model
    message.resolved_model = verdict.resolved_model
    message.steps.extend(verdict.steps)
    message.approximate = verdict.approximate
    message.pinned = verdict.pinned
    message.effective_residency = verdict.effective_residency
    message.retention = verdict.retention
    message.considered = verdict.considered
    message.excluded = verdict.excluded
    message.reasons.update(verdict.reasons)


def _candidate_form(candidate: Candidate) -> bytes:
    standing = candidate.standing
    form = standing.forms.get(_FORM)
    if form is None:
        form = standing.forms[_FORM] = _standing_form(standing)
    own = route_pb2.Candidate(
        estimated_cost=write_cost(candidate.estimated_cost),
        need_ms=min(candidate.need_ms, UINT32_MAX),
        allowance_ms=candidate.allowance_ms,
    )
    return form + own.SerializeToString()


def _standing_form(standing: Standing) -> bytes:
    endpoint = standing.endpoint
    return route_pb2.Candidate(
        endpoint_id=endpoint.endpoint_id,
        model=endpoint.model,
        model_version=endpoint.model_version,
        provider=endpoint.provider,
        region=endpoint.region,
        country=endpoint.country,
        sovereignty=endpoint.sovereignty,
        score=nearest_double(standing.score.total, SCORE_UNIT),
        context_window=endpoint.context_window,
        max_output_tokens=endpoint.max_output_tokens,
    ).SerializeToString() + _terms_form(standing.score)


def _terms_form(score: Score) -> bytes:
    """The terms of a score as a field of a Candidate: each of one length, so that all are packed in one go."""
    parts: list[bytes | float] = []
    for tag, term in zip(_TERM_TAGS, score.terms, strict=True):
        parts += (tag, term.raw, _WEIGHTED, nearest_double(term.weighted, SCORE_UNIT))
    return _TERMS_BEGIN + _PACK_TERMS(*parts)


def write_terms(score: Score) -> route_pb2.Terms:
    """The terms of a score as a message."""
    terms = {
        name: route_pb2.Term(raw=term.raw, weighted=nearest_double(term.weighted, SCORE_UNIT))
        for name, term in zip(TERMS, score.terms, strict=True)
    }
    return route_pb2.Terms(**terms)


def write_cost(cost: int | None) -> float | None:
    """A cost in the currency; None stays absent."""
    return None if cost is None else nearest_double(cost, COST_UNIT)


def framed(tag: bytes, form: bytes) -> bytes:
    """A field of bytes, text or a message: its tag, its length, itself."""
    return b"".join((tag, _length(form), form))


def _text(tag: bytes, text: str) -> bytes:
    return framed(tag, text.encode())


def _length(body: bytes) -> bytes:
    size = len(body)
    return _SMALL[size] if size < len(_SMALL) else _varint(size)
