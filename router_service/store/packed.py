"""Reports and traces as bytes, the same in every store.

Costs are written as text: the packed form of an integer ends at 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from router_service.store.interface import Attempt, Report, Trace

_Attempts = list[tuple[str, str, str, bytes]]


class _Head(msgspec.Struct, array_like=True):
    """What came later stands at the end: an older form lacks it, and an older service passes over it."""

    at: int
    policy_id: str
    outcome: str
    operation_id: str = ""
    caller: str = ""


class _Trace(msgspec.Struct, array_like=True):
    """The same of a trace."""

    trace_id: str
    at: int
    expires_at: int
    policy_id: str
    outcome: str
    catalog_version: str
    endpoints: tuple[str, ...]
    request: bytes
    answer: bytes
    context: bytes
    figures: str = ""


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
    later = [report.operation_id, report.caller]
    while later and not later[-1]:
        later.pop()
    return _encode((report.at, report.policy_id, report.outcome, *later))


def unpack_head(trace_id: str, body: bytes, attempts: tuple[Attempt, ...]) -> Report:
    """The report of a head and its attempts."""
    head = _decode_head(body)
    return Report(
        trace_id=trace_id,
        policy_id=head.policy_id,
        at=head.at,
        outcome=head.outcome,
        attempts=attempts,
        operation_id=head.operation_id,
        caller=head.caller,
    )


def pack_trace(trace: Trace) -> bytes:
    """A trace; the first byte alone says whether it is kept until its report: `1`, else `0`."""
    packed = _encode(
        (
            *(trace.trace_id, trace.at, trace.expires_at, trace.policy_id, trace.outcome, trace.catalog_version),
            *(trace.endpoints, trace.request, trace.answer, trace.context),
            *((trace.figures,) if trace.figures else ()),
        )
    )
    return (b"1" if trace.until_report else b"0") + packed


def unpack_trace(body: bytes) -> Trace:
    """The trace of such a body."""
    one = _decode_trace(body[1:])
    return Trace(
        trace_id=one.trace_id,
        at=one.at,
        expires_at=one.expires_at,
        policy_id=one.policy_id,
        outcome=one.outcome,
        catalog_version=one.catalog_version,
        endpoints=one.endpoints,
        request=one.request,
        answer=one.answer,
        context=one.context,
        until_report=body.startswith(b"1"),
        figures=one.figures,
    )
