"""Record: all of a decision that a trace keeps, and the codec by which a door gives it a lasting form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from router_service.domain.decision import Decision, Refusal
from router_service.domain.overlay import NOTHING_DIFFERS, Overlay
from router_service.domain.policy import Policy
from router_service.domain.request import RouteRequest, Stated
from router_service.domain.workload import Joined
from router_service.policies.refuse import EARLY_REFUSALS
from router_service.policies.retention import REPORT_WINDOW_MS, retention_ms
from router_service.store.interface import Trace

DECIDED = "decided"


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A decision or refusal with what it answered and stood on. `budget_max_cost` in millionths.

    Where the request named a workload, `request` is what the two became, as `joined` tells. `overlay` is where
    endpoints differed from the catalogue; `held` are those that were kept out beside it, until when (ms) by their ids.
    """

    trace_id: str
    now: int
    policy: Policy
    catalog_version: str
    request: RouteRequest
    result: Decision | Refusal
    data_class: str = ""
    operation_id: str = ""
    budget_max_cost: int | None = None
    reserved: int = 0
    joined: Joined | None = None
    overlay: Overlay = NOTHING_DIFFERS
    held: Mapping[str, int] = {}


class Asked(msgspec.Struct, frozen=True):
    """What a trace says was asked."""

    policy_id: str
    request: RouteRequest
    data_class: str = ""
    operation_id: str = ""
    workload: str = ""


class Codec(Protocol):
    """Gives what was asked and answered a form that lasts, and reads it again."""

    def request_form(self, record: Record) -> bytes:
        """What was asked."""

    def result_form(self, record: Record) -> bytes:
        """What was answered."""

    def read_request(self, form: bytes) -> Asked:
        """What was asked, of its form."""

    def read_needs(self, form: bytes) -> dict[str, int]:
        """What each candidate needs, in ms by its endpoint_id, of the form of a decision."""


class Context(msgspec.Struct, frozen=True, omit_defaults=True):
    """What else had a part in the answer: a budget's limit of cost, and each candidate's prices and estimate.

    `prices` holds (input price, output price, estimated cost) by endpoint, in millionths and 10⁻¹², so that a report
    is settled at the prices of the decision's own catalogue whatever serves by then; `reserved` is what was reserved,
    in 10⁻¹². `message` and `retry_at` are of a refusal that was made before the engine. `own` is what a request stated
    that named a workload, so that it can be told again which of the two each field came from. `held` are endpoints that
    were kept out beside the trace's figures, until when (ms).
    """

    budget_max_cost: int | None = None
    prices: dict[str, tuple[int | None, int | None, int | None]] = {}
    message: str = ""
    retry_at: int | None = None
    reserved: int = 0
    own: Stated | None = None
    held: dict[str, int] = {}


def trace_of(record: Record, codec: Codec) -> Trace:
    """The trace that a store keeps of a record."""
    result, kept = record.result, retention_ms(record.policy.retention)
    own, held = None if record.joined is None else record.joined.own, dict(record.held)
    if isinstance(result, Decision):
        prices = {
            one.endpoint_id: (one.endpoint.input_price, one.endpoint.output_price, one.estimated_cost)
            for one in result.candidates
        }
        context = Context(record.budget_max_cost, prices, reserved=record.reserved, own=own, held=held)
        outcome = DECIDED
    else:
        early = result.code in EARLY_REFUSALS
        context = Context(
            record.budget_max_cost,
            {},
            result.message if early else "",
            result.retry_at if early else None,
            own=own,
            held=held,
        )
        outcome = result.code
    return Trace(
        trace_id=record.trace_id,
        at=record.now,
        # A report may come until its window is over, however short the retention.
        expires_at=record.now + max(kept, REPORT_WINDOW_MS),
        policy_id=record.policy.policy_id,
        outcome=outcome,
        catalog_version=record.catalog_version,
        endpoints=tuple(context.prices),
        request=codec.request_form(record),
        answer=codec.result_form(record),
        context=msgspec.json.encode(context),
        until_report=not kept,
        figures=record.overlay.version,
    )


def context_of(trace: Trace) -> Context:
    """The context that a stored trace carries."""
    context: Any = msgspec.json.decode(trace.context, type=Context)
    return context if isinstance(context, Context) else Context()
