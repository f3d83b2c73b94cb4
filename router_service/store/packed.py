"""Reports and traces as bytes, the same in every store.

Costs are written as text: the packed form of an integer ends at 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from router_service.store.interface import Attempt, Report, Trace

_Attempts = list[tuple[str, str, str, bytes]]
_Head = tuple[int, str, str]
_Trace = tuple[str, int, int, str, str, str, tuple[str, ...], bytes, bytes, bytes]

_encode = msgspec.msgpack.Encoder().encode
_decode_attempts = msgspec.msgpack.Decoder(_Attempts).decode
_decode_head = msgspec.msgpack.Decoder(_Head).decode
_decode_trace = msgspec.msgpack.Decoder(_Trace).decode


def pack_attempts(attempts: Iterable[Attempt]) -> bytes:
    """Attempts as one body."""
    return _encode([(one.attempt_id, one.endpoint_id, str(one.cost), one.body) for one in attempts])


def unpack_attempts(body: bytes) -> tuple[Attempt, ...]:
    """The attempts of such a body."""
    return tuple(
        Attempt(attempt_id=attempt, endpoint_id=endpoint, cost=int(cost), body=reported)
        for attempt, endpoint, cost, reported in _decode_attempts(body)
    )


def pack_head(report: Report) -> bytes:
    """A report without its attempts and its trace_id."""
    return _encode((report.at, report.policy_id, report.outcome))


def unpack_head(trace_id: str, body: bytes, attempts: tuple[Attempt, ...]) -> Report:
    """The report of a head and its attempts."""
    at, policy, outcome = _decode_head(body)
    return Report(trace_id=trace_id, policy_id=policy, at=at, outcome=outcome, attempts=attempts)


def pack_trace(trace: Trace) -> bytes:
    """A trace; the first byte alone says whether it is kept until its report: `1`, else `0`."""
    packed = _encode(
        (
            *(trace.trace_id, trace.at, trace.expires_at, trace.policy_id, trace.outcome, trace.catalog_version),
            *(trace.endpoints, trace.request, trace.answer, trace.context),
        )
    )
    return (b"1" if trace.until_report else b"0") + packed


def unpack_trace(body: bytes) -> Trace:
    """The trace of such a body."""
    trace_id, at, expires_at, policy, outcome, version, endpoints, request, answer, context = _decode_trace(body[1:])
    return Trace(
        trace_id=trace_id,
        at=at,
        expires_at=expires_at,
        policy_id=policy,
        outcome=outcome,
        catalog_version=version,
        endpoints=endpoints,
        request=request,
        answer=answer,
        context=context,
        until_report=body.startswith(b"1"),
    )
