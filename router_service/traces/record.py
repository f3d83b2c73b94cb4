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
    caller: str = ""


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


Prices = tuple[int | None, int | None, int | None]
_NO_PRICES = msgspec.Raw(b"{}")


class Context(msgspec.Struct, frozen=True, omit_defaults=True):
    """What else had a part in the answer: a budget's limit of cost, and each candidate's prices and estimate.

    `prices` is JSON of (input price, output price, estimated cost) by endpoint, in millionths and 10⁻¹², so that a
    report is settled at the prices of the decision's own catalogue whatever serves by then; `reserved` is what was
    reserved, in 10⁻¹². `message` and `retry_at` are of a refusal that was made before the engine. `own` is what a
    request stated that named a workload, so that it can be told again which of the two each field came from. `held` are
    endpoints that were kept out beside the trace's figures, until when (ms). `caller` is who asked, by its id.
    """

    budget_max_cost: int | None = None
    prices: msgspec.Raw = _NO_PRICES
    message: str = ""
    retry_at: int | None = None
    reserved: int = 0
    own: Stated | None = None
    held: dict[str, int] = {}
    caller: str = ""

    def price(self, endpoint_id: str) -> Prices:
        """(input price, output price, estimated cost) of a candidate, each None where it is not documented."""
        prices: dict[str, Prices] = msgspec.json.decode(self.prices, type=dict[str, Prices])
        return prices.get(endpoint_id, (None, None, None))


_encode = msgspec.json.Encoder().encode
_PRICES = "prices"


def trace_of(record: Record, codec: Codec) -> Trace:
    """The trace that a store keeps of a record."""
    result, kept = record.result, retention_ms(record.policy.retention)
    context: dict[str, Any] = {
        "budget_max_cost": record.budget_max_cost,
        "reserved": record.reserved,
        "caller": record.caller,
    }
    if record.held:
        context["held"] = dict(record.held)
    if record.joined is not None:
        context["own"] = record.joined.own
    endpoints: tuple[str, ...] = ()
    if isinstance(result, Decision):
        context["prices"] = msgspec.Raw(_prices_form(result))
        endpoints, outcome = tuple([one.endpoint_id for one in result.candidates]), DECIDED
    else:
        outcome = result.code
        if outcome in EARLY_REFUSALS:
            context |= {"message": result.message, "retry_at": result.retry_at}
    return Trace(
        trace_id=record.trace_id,
        at=record.now,
        # A report may come until its window is over, however short the retention.
        expires_at=record.now + max(kept, REPORT_WINDOW_MS),
        policy_id=record.policy.policy_id,
        outcome=outcome,
        catalog_version=record.catalog_version,
        endpoints=endpoints,
        request=codec.request_form(record),
        answer=codec.result_form(record),
        context=_encode(Context(**context)),
        until_report=not kept,
        figures=record.overlay.version,
    )


def _prices_form(decision: Decision) -> bytes:
    """Each candidate's prices and estimate; the same decision is made for every same request."""
    form = decision.forms.get(_PRICES)
    if form is None:
        form = decision.forms[_PRICES] = _encode(
            {
                one.endpoint_id: (one.endpoint.input_price, one.endpoint.output_price, one.estimated_cost)
                for one in decision.candidates
            }
        )
    return form


def context_of(trace: Trace) -> Context:
    """The context that a stored trace carries."""
    context: Any = msgspec.json.decode(trace.context, type=Context)
    return context if isinstance(context, Context) else Context()
