"""Nobody learns of somebody's things: what there is of them and what there is not are told in the same bytes."""

from __future__ import annotations

import base64
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product, starmap
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from router_service.v1 import catalog_service_pb2 as catalog_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.policy_pb2 import Policy
from router_service.v1.report_pb2 import Attempt, Report
from router_service.v1.route_pb2 import RouteRequest
from tests.callers.files import token_of
from tests.server.identity.conftest import Known, Stubs
from tests.server.identity.secured import EVERYBODY, OTHERS, OWN

SOMEBODYS, NOBODYS = "oth", "non"
Make = Callable[[str], Message]


@dataclass(frozen=True, slots=True)
class Setting:
    """The stubs of each role's caller, and traces by whose they are."""

    callers: dict[str, Stubs]
    everybody: Stubs
    traces: dict[str, str]


@pytest.fixture(scope="module")
def setting(known: Known) -> Setting:
    everybody = known.known(EVERYBODY)
    traces = {"non": "0" * 32}
    for whose, policy in (("own", OWN), ("oth", OTHERS)):
        asked = pb.DecideRequest(policy_id=policy, request=RouteRequest(input_tokens=10, output_tokens=10))
        traces[whose] = everybody.Decide(asked).decision.trace_id
        told = Report(
            trace_id=traces[whose],
            outcome="accepted",
            attempts=[Attempt(attempt_id="1", endpoint_id=f"endpoint-{whose}")],
        )
        everybody.Report(pb.ReportRequest(report=told))
    return Setting({role: known.known(role) for role in ("decide", "report", "read", "admin")}, everybody, traces)


def told(call: Callable[[Any], Any], message: Message) -> bytes:
    """All that a call tells: its answers, or its status with all of its trailing metadata."""
    try:
        answer = call(message)
        answers = [answer] if isinstance(answer, Message) else list(answer)
    except grpc.RpcError as error:
        trailing = sorted((one.key, one.value) for one in error.trailing_metadata() or ())
        return repr((error.code(), error.details(), trailing)).encode()
    return b"\n".join(without_ids(one).SerializeToString(deterministic=True) for one in answers)


def without_ids(answer: Message) -> Message:
    """An answer without the id and the time that each decision has of its own."""
    for field, value in answer.ListFields():
        if field.name in ("decision", "refusal"):
            value.trace_id = ""
            value.ClearField("decided_at") if "decided_at" in value.DESCRIPTOR.fields_by_name else None
    return answer


def same(setting: Setting, call: Callable[[Any], Any], make: Make) -> None:
    """What is told of somebody's is what is told of nobody's, in the same bytes but for the name."""
    of_somebody, of_nobody = told(call, make(SOMEBODYS)), told(call, make(NOBODYS))
    assert unnamed(setting, of_somebody) == unnamed(setting, of_nobody)


def unnamed(setting: Setting, text: bytes) -> bytes:
    """Without the names of somebody's things, which may also stand in what the caller itself has asked before."""
    for kind in ("policy", "endpoint", "workload"):
        text = text.replace(f"{kind}-{SOMEBODYS}".encode(), f"{kind}-{NOBODYS}".encode())
    return text.replace(setting.traces[SOMEBODYS].encode(), setting.traces[NOBODYS].encode())


_REQUESTS = st.fixed_dictionaries(
    {},
    optional={
        "task": st.sampled_from(["coding", "general", "nonsense"]),
        "residency": st.sampled_from(["eu-owned", "eu-hosted", "any", "the-moon"]),
        "input_tokens": st.integers(0, 5000),
        "output_tokens": st.integers(0, 5000),
        "requires_tools": st.booleans(),
        "max_price": st.floats(0, 100),
        "deadline_ms": st.integers(0, 10_000),
        "model": st.sampled_from(["auto", "model-own", "model-xxx"]),
        "max_attempts": st.integers(0, 5),
    },
)


@st.composite
def asked(draw: st.DrawFn) -> tuple[str, Make]:
    """A method that decides or explains, and its message about whosever things: a policy, a workload, an endpoint."""
    method = draw(st.sampled_from(["Decide", "Explain"]))
    kind = {"Decide": pb.DecideRequest, "Explain": pb.ExplainRequest}[method]
    fields, about = draw(_REQUESTS), draw(st.sets(st.sampled_from(["policy", "workload", "exclude"]), min_size=1))
    version, request_id = draw(st.sampled_from(["", "@1", "@2"])), draw(st.sampled_from(["", "mine"]))

    def make(whose: str) -> Message:
        request = RouteRequest(**fields, exclude_endpoints=[f"endpoint-{whose}"] if "exclude" in about else [])
        return kind(
            request_id=request_id,
            policy_id=f"policy-{whose}" if "policy" in about else OWN,
            workload=f"workload-{whose}{version}" if "workload" in about else "",
            request=request,
        )

    return method, make


_MANY = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@_MANY
@given(asked())
def test_of_policies_workloads_and_endpoints(setting: Setting, case: tuple[str, Make]) -> None:
    method, make = case
    same(setting, getattr(setting.callers["decide"], method), make)


def reported(outcome: str, attempts: int, endpoint: str) -> Callable[[str], Report]:
    """A report of whosever trace, with attempts that make sense or do not."""
    made = [Attempt(attempt_id=str(number), endpoint_id=endpoint) for number in range(attempts)]
    return lambda trace_id: Report(trace_id=trace_id, outcome=outcome, attempts=made)


def test_of_reports(setting: Setting) -> None:
    """All at once: the server waits a moment for a trace that it does not know."""
    report = setting.callers["report"]

    def stream(message: pb.ReportStreamRequest) -> pb.ReportStreamResponse:
        answer: pb.ReportStreamResponse = report.ReportStream(iter([message]))
        return answer

    methods: list[tuple[Callable[[Any], Any], Any]] = [
        (report.Report, pb.ReportRequest),
        (stream, pb.ReportStreamRequest),
    ]
    cases = [
        (call, lambda whose, kind=kind, make=make: kind(report=make(setting.traces[whose])))
        for call, kind in methods
        for make in starmap(reported, product(("accepted", "lucky"), (0, 2), ("endpoint-oth", "endpoint-own")))
    ]
    with ThreadPoolExecutor(len(cases)) as pool:
        for done in [pool.submit(same, setting, *case) for case in cases]:
            done.result()


@_MANY
@given(
    st.integers(0, 3), st.sampled_from(["", "decided", "model_not_found"]), st.booleans(), st.booleans(), st.booleans()
)
def test_of_traces(setting: Setting, size: int, outcome: str, policy: bool, endpoint: bool, token: bool) -> None:
    read, own = setting.callers["read"], setting.traces["own"]
    same(setting, read.GetTrace, lambda whose: pb.GetTraceRequest(trace_id=setting.traces[whose]))
    same(setting, read.Explain, lambda whose: pb.ExplainRequest(trace_id=setting.traces[whose]))

    def make(whose: str) -> Message:
        return pb.ListTracesRequest(
            page_size=size,
            outcome=outcome,
            policy_id=f"policy-{whose}" if policy else "",
            endpoint_id=f"endpoint-{whose}" if endpoint else "",
            page_token=crafted(at, setting.traces[whose]) if token else "",
        )

    at = read.GetTrace(pb.GetTraceRequest(trace_id=own)).trace.decided_at.ToMilliseconds()
    same(setting, read.ListTraces, make)


def crafted(at: int, trace_id: str) -> str:
    """A page token that names a trace, at the instant of one of the caller's own."""
    cursor = f"s{at}.{base64.urlsafe_b64encode(trace_id.encode()).decode()}"
    return base64.urlsafe_b64encode(cursor.encode()).decode()


@pytest.mark.parametrize("status", ["up", "down", "", "asleep"])
def test_of_statuses_by_hand(setting: Setting, status: str) -> None:
    def make(whose: str) -> Message:
        return catalog_pb.SetEndpointStatusRequest(endpoint_id=f"endpoint-{whose}", status=status)

    same(setting, setting.callers["admin"].SetEndpointStatus, make)


@pytest.mark.parametrize("method", ["ListEndpoints", "ListPolicies", "ListWorkloads"])
@pytest.mark.parametrize("size", [0, 1])
def test_of_pages(setting: Setting, method: str, size: int) -> None:
    """Where the page before ended may be said of what there is not; it is told just as of what there is."""
    kind = {"ListEndpoints": "endpoint", "ListPolicies": "policy", "ListWorkloads": "workload"}[method]
    read, request = setting.callers["read"], getattr(catalog_pb, f"{method}Request")

    def make(whose: str) -> Message:
        token = base64.urlsafe_b64encode(f"{kind}-{whose}".encode()).decode()
        return request(page_size=size, page_token=token)

    same(setting, getattr(read, method), make)
    whole = getattr(read, method)(request())
    assert SOMEBODYS.encode() not in whole.SerializeToString()
    assert b"own" in whole.SerializeToString()


def test_what_is_shown_has_no_trace_of_others(setting: Setting) -> None:
    read, decide = setting.callers["read"], setting.callers["decide"]
    [version] = [next(read.WatchCatalog(catalog_pb.WatchCatalogRequest()))]
    assert (version.endpoints, version.policies, version.default_policy) == (1, 1, OWN)
    explained = decide.Explain(pb.ExplainRequest(request=RouteRequest(input_tokens=10))).explanation
    assert [one.endpoint_id for one in explained.endpoints] == ["endpoint-own"]
    assert (explained.decision.considered, explained.hidden_endpoints) == (2, 1)
    again = read.Explain(pb.ExplainRequest(trace_id=setting.traces["own"])).explanation
    assert [one.endpoint_id for one in again.endpoints] == ["endpoint-own"]
    assert again.hidden_endpoints == 1
    shown = read.ListTraces(pb.ListTracesRequest(page_size=1000))
    assert {one.policy_id for one in shown.traces} == {OWN}
    everything = setting.everybody.Explain(pb.ExplainRequest(request=RouteRequest(input_tokens=10))).explanation
    assert (len(everything.endpoints), everything.hidden_endpoints) == (2, 0)


def test_what_others_do_changes_nothing_that_is_shown(setting: Setting) -> None:
    """Page tokens too: one that counted rows would tell how much others decide."""
    read = setting.callers["read"]
    for _ in range(3):
        setting.everybody.Decide(pb.DecideRequest(policy_id=OWN))

    def shown() -> list[bytes]:
        pages = [read.ListTraces(pb.ListTracesRequest(page_size=1))]
        pages.append(read.ListTraces(pb.ListTracesRequest(page_size=1, page_token=pages[0].next_page_token)))
        calls = (
            read.ListEndpoints(catalog_pb.ListEndpointsRequest()),
            read.ListPolicies(catalog_pb.ListPoliciesRequest()),
        )
        return [one.SerializeToString(deterministic=True) for one in (*pages, *calls)]

    before = shown()
    for number in range(20):
        answer = setting.everybody.Decide(pb.DecideRequest(policy_id=OTHERS, request=RouteRequest(input_tokens=number)))
        attempt = Attempt(attempt_id="1", endpoint_id="endpoint-oth", failure_class="transient", status_code=503)
        told = Report(
            trace_id=answer.decision.trace_id or answer.refusal.trace_id,
            outcome="failed",
            attempts=[attempt] if answer.HasField("decision") else [],
        )
        setting.everybody.Report(pb.ReportRequest(report=told))
    assert shown() == before


def test_no_token_is_in_what_the_server_says(known: Known, setting: Setting) -> None:
    stranger = known.known("nobody_knows_this_one")
    with pytest.raises(grpc.RpcError) as caught:
        stranger.Decide(pb.DecideRequest())
    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
    said = "\n".join(known.process.lines)
    tokens = [token_of(one) for one in ("nobody_knows_this_one", EVERYBODY, *setting.callers)]
    assert [one for one in tokens if one in said] == []


def test_only_who_is_meant_to_brings_a_policy(known: Known, setting: Setting) -> None:
    """Although the server was started for it; in the words of one that was not."""
    inline = pb.DecideRequest(inline=pb.Inline(policy=Policy(policy_id="mine")))
    assert setting.everybody.Decide(inline).refusal.policy_id == "mine"
    with pytest.raises(grpc.RpcError) as caught:
        setting.callers["decide"].Decide(inline)
    assert caught.value.code() is grpc.StatusCode.PERMISSION_DENIED
    assert str(caught.value.details()).startswith("stateless mode is off")
    items = list(setting.callers["decide"].DecideStream(iter([pb.DecideStreamRequest(decide=inline)])))
    assert [one.error.message for one in items] == [caught.value.details()]
    assert known.process.process.poll() is None
