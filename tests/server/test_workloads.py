"""Workloads over the wire: inherited, narrowed, refused with every problem, kept in traces and told again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import grpc
import msgspec
import pytest

from router_service.v1 import catalog_service_pb2
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.explanation_pb2 import Explanation
from router_service.v1.policy_pb2 import Policy
from router_service.v1.route_pb2 import RouteRequest
from router_service.v1.workload_pb2 import Workload
from tests.server.conftest import CATALOG as SMALL
from tests.server.conftest import ServerProcess
from tests.server.in_process import CATALOG, EVERYTHING_CHANGED, InProcess, failure, forgetful, history

__all__ = ["forgetful", "history"]  # fixtures

INVALID, NOT_FOUND = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND
# Their tokens cost 0.003 on small@a, 0.03 on large@b and 0.01 on large@us.
WORKLOADS = """\
workloads:
- {name: long, version: 9, input_tokens: 90000}
- {name: long, version: 10, input_tokens: 9000, output_tokens: 100}
- {name: cheap, version: 2026-11-30, max_cost: 0.02, deadline_ms: 9000, regions: [EU], model_classes: [a, b]}
- {name: owned, version: 1, residency: eu-owned, output_tokens: 1000, structured_output: none}
"""
MODELS = {
    "{model: small, c": "{model: small, model_classes: [a], c",
    "{model: large, c": "{model: large, model_classes: [a, b], c",
}


@pytest.fixture
async def served(history: InProcess) -> InProcess:
    text = CATALOG + WORKLOADS
    for before, after in MODELS.items():
        text = text.replace(before, after)
    await history.serve(text)
    return history


async def listed(served: InProcess, workload: str, request: RouteRequest | None = None, **asked: str) -> list[str]:
    """The failover list of a request; a refusal has none."""
    message = pb.DecideRequest(workload=workload, request=request or RouteRequest(), **asked)
    return [one.endpoint_id for one in (await served.router.Decide(message)).decision.candidates]


def origins(told: Explanation) -> dict[str, tuple[str, str]]:
    return {one.field: (one.source, one.value) for one in told.origins}


async def test_a_request_inherits_the_newest_version_or_the_one_that_it_names(served: InProcess) -> None:
    assert await listed(served, "") == ["small@a", "large@b"]
    assert await listed(served, "Long") == ["large@b"]  # 9100 tokens do not fit small@a
    assert await listed(served, "long@9") == ["large@b"]
    assert await listed(served, "long@9", RouteRequest(output_tokens=50_000)) == []
    assert await listed(served, "long@10", RouteRequest(output_tokens=50_000)) == ["large@b"]
    # It is inherited, and cannot be widened.
    assert await listed(served, "long", RouteRequest(input_tokens=1, output_tokens=1)) == ["large@b"]


async def test_a_workload_narrows_whatever_the_policy_admits(served: InProcess) -> None:
    assert await listed(served, "owned", RouteRequest(residency="any"), policy_id="world") == ["small@a"]
    assert await listed(served, "cheap", RouteRequest(input_tokens=1000, output_tokens=1000), policy_id="world") == [
        "small@a"
    ]
    # A request that stands on the workload's deadline, limit and places has them all.
    tokens = RouteRequest(input_tokens=1000, output_tokens=1000, max_cost=5, deadline_ms=10**6, regions=["US", "EEA"])
    assert await listed(served, "cheap", tokens, policy_id="world") == ["small@a"]


async def test_decide_and_explain_agree_and_origins_tell_what_came_from_where(served: InProcess) -> None:
    request = RouteRequest(input_tokens=1000, output_tokens=1000, model_classes=["b", "c"], deadline_ms=100_000)
    request.regions.append("eu-*")
    decision = (await served.router.Decide(pb.DecideRequest(workload="cheap", request=request))).refusal
    told = (await served.router.Explain(pb.ExplainRequest(workload="cheap", request=request))).explanation
    decision.trace_id = ""
    assert told.refusal == decision
    assert told.workload == "cheap@2026-11-30"
    assert list(origins(told).items()) == [
        ("regions", ("request", "eu-*")),
        ("input_tokens", ("request", "1000")),
        ("output_tokens", ("request", "1000")),
        ("model_classes", ("both", "b")),
        ("max_cost", ("workload", "0.02")),
        ("deadline_ms", ("workload", "9000")),
    ]
    (large,) = (one for one in told.endpoints if one.endpoint_id == "large@b")
    assert [by.reason for by in large.refused_by] == ["cost_above_limit"]
    plain = (await served.router.Explain(pb.ExplainRequest(request=request))).explanation
    assert (plain.workload, list(plain.origins)) == ("", [])


async def test_an_early_refusal_tells_its_workload_too(served: InProcess) -> None:
    message = pb.ExplainRequest(workload="long", policy_id="clinic", data_class="other")
    told = (await served.router.Explain(message)).explanation
    assert told.refusal.code == "data_class_not_allowed"
    assert (told.workload, origins(told)["input_tokens"]) == ("long@10", ("workload", "9000"))


ASKED = {
    "decided": pb.DecideRequest(workload="cheap", request=RouteRequest(input_tokens=1000, output_tokens=9, task="x")),
    "nothing stated": pb.DecideRequest(workload="owned"),
    "refused": pb.DecideRequest(workload="long@9", request=RouteRequest(model="small", exclude_endpoints=["small@a"])),
    "class": pb.DecideRequest(workload="long", policy_id="clinic", data_class="other"),
    "budget": pb.DecideRequest(workload="owned", policy_id="poor", request=RouteRequest(input_tokens=9)),
    "capped": pb.DecideRequest(
        workload="owned", policy_id="capped", request=RouteRequest(input_tokens=9, max_cost=0.04)
    ),
}


@pytest.mark.parametrize("kind", ASKED)
async def test_a_trace_is_explained_with_its_origins_after_everything_changed(served: InProcess, kind: str) -> None:
    asked = ASKED[kind]
    answer = await served.router.Decide(asked)
    result = answer.decision if answer.HasField("decision") else answer.refusal
    live = (
        await served.router.Explain(
            pb.ExplainRequest(
                workload=asked.workload, policy_id=asked.policy_id, data_class=asked.data_class, request=asked.request
            )
        )
    ).explanation
    await served.serve(EVERYTHING_CHANGED + "workloads: [{name: cheap, version: 2027-01-01, max_price: 0}]\n")
    told = (await served.router.Explain(pb.ExplainRequest(trace_id=result.trace_id))).explanation
    assert (told.decision if told.HasField("decision") else told.refusal) == result
    assert told.workload == live.workload
    assert list(told.origins) == list(live.origins)
    trace = (await served.router.GetTrace(pb.GetTraceRequest(trace_id=result.trace_id))).trace
    assert trace.workload == told.workload
    (one,) = (await served.router.ListTraces(pb.ListTracesRequest())).traces
    assert one == trace


async def test_a_trace_holds_what_the_two_became(served: InProcess) -> None:
    answer = await served.router.Decide(ASKED["decided"])
    trace = (await served.router.GetTrace(pb.GetTraceRequest(trace_id=answer.decision.trace_id))).trace
    assert trace.request == RouteRequest(
        task="x",
        regions=["EU"],
        input_tokens=1000,
        output_tokens=9,
        model_classes=["a", "b"],
        max_cost=0.02,
        deadline_ms=9000,
    )


async def test_a_trace_without_a_workload_is_as_small_as_before(served: InProcess) -> None:
    for message in (pb.DecideRequest(), ASKED["nothing stated"], ASKED["decided"]):
        await served.router.Decide(message)
    await served.router.ListTraces(pb.ListTracesRequest())
    contexts = [msgspec.json.decode(one.context) for one in served.store.written.values()]
    assert [context.get("own") for context in contexts] == [
        None,
        {},
        {"task": "x", "input_tokens": 1000, "output_tokens": 9},
    ]
    assert "own" not in contexts[0]


async def test_a_budget_counts_with_the_workload_s_tokens(served: InProcess) -> None:
    message = pb.DecideRequest(workload="owned", policy_id="capped", request=RouteRequest(input_tokens=1000))
    assert (await served.router.Decide(message)).HasField("decision")
    spending = await served.store.spending("capped", "2027-01-15")
    assert spending.reserved == 3 * 10**9  # 1000 in and the workload's 1000 out, on small@a


@pytest.mark.parametrize("method", ["Decide", "Explain"])
@pytest.mark.parametrize("named", ["short", "long@11", "long@9.0", "owned@01"])
async def test_a_workload_or_version_that_is_not_there(served: InProcess, method: str, named: str) -> None:
    kind = pb.DecideRequest if method == "Decide" else pb.ExplainRequest
    code, reason, fields = await failure(getattr(served.router, method)(kind(workload=named)))
    assert (code, reason, fields) == (NOT_FOUND, "WORKLOAD_NOT_FOUND", {})


async def test_every_bad_field_is_named_beside_a_malformed_workload(served: InProcess) -> None:
    request = RouteRequest(residency="moon", output_tokens=1, expected_output_tokens=2, max_attempts=4)
    code, reason, fields = await failure(
        served.router.Decide(pb.DecideRequest(workload="long@ten", request=request, policy_id="\x07"))
    )
    assert (code, reason) == (INVALID, "INVALID_REQUEST")
    names = ("residency", "expected_output_tokens", "max_attempts")
    assert set(fields) == {"workload", "policy_id", *(f"request.{name}" for name in names)}
    code, _, fields = await failure(served.router.Decide(pb.DecideRequest(workload=" ")))
    assert (code, set(fields)) == (INVALID, {"workload"})


async def test_what_does_not_fit_together_is_named_at_once_with_its_cure(served: InProcess) -> None:
    request = RouteRequest(model_classes=["c"], regions=["US"], output_tokens=1)
    code, reason, fields = await failure(served.router.Decide(pb.DecideRequest(workload="cheap", request=request)))
    assert (code, reason) == (INVALID, "INVALID_REQUEST")
    assert fields == {
        "request.model_classes": (
            "the request lists c, workload cheap@2026-11-30 lists a, b: nothing is in both; "
            "list what lies within the workload's own, or leave out model_classes"
        ),
        "request.regions": (
            "the request lists US, workload cheap@2026-11-30 lists EU: nothing is in both; "
            "list what lies within the workload's own, or leave out regions"
        ),
        "request.max_cost": ("with workload cheap@2026-11-30, a limit of cost without input_tokens; give input_tokens"),
    }


async def test_a_request_that_is_no_whole_one_alone(served: InProcess) -> None:
    """A limit of cost stands on the workload's tokens; without a workload it is refused, whatever was asked before."""
    request = RouteRequest(max_cost=0.2)
    for _ in range(2):
        assert await listed(served, "long", request) == ["large@b"]
        fields = (await failure(served.router.Decide(pb.DecideRequest(request=request))))[2]
        assert set(fields) == {"request.max_cost"}


async def test_candidates_of_ones_own_exclude_a_workload(served: InProcess) -> None:
    inline = pb.Inline(policy=Policy(policy_id="mine", daily_budget=1))
    message = pb.DecideRequest(workload="long", policy_id="eu", inline=inline)
    code, reason, fields = await failure(served.router.Decide(message))
    assert (code, reason) == (INVALID, "INVALID_REQUEST")
    assert set(fields) == {"policy_id", "workload", "inline.policy.daily_budget"}
    assert "leave out workload or inline" in fields["workload"]


async def test_a_trace_id_excludes_a_workload(served: InProcess) -> None:
    message = pb.ExplainRequest(trace_id="0" * 32, workload="long")
    assert set((await failure(served.router.Explain(message)))[2]) == {"workload"}


async def test_an_item_of_a_stream_may_name_one_that_is_not_there(served: InProcess) -> None:
    items = [pb.DecideRequest(workload=one) for one in ("long", "gone", "owned")]
    answers = [one async for one in served.router.DecideStream([pb.DecideStreamRequest(decide=one) for one in items])]
    assert [one.WhichOneof("result") for one in answers] == ["decision", "error", "decision"]
    assert answers[1].error.code == NOT_FOUND.value[0]


async def test_a_new_version_is_the_newest_from_the_moment_it_serves(served: InProcess) -> None:
    assert await listed(served, "owned") == ["small@a"]
    await served.serve(CATALOG + WORKLOADS + "- {name: owned, version: 1.0.1, residency: eu-hosted}\n")
    assert await listed(served, "owned") == ["small@a", "large@b"]
    assert await listed(served, "owned@1") == ["small@a"]


def test_workloads_are_listed_page_by_page_by_name_and_version(
    serve: Callable[..., ServerProcess], tmp_path: Path
) -> None:
    path = tmp_path / "catalog.yaml"
    entries = [f"- {{name: {name}, version: {version}}}\n" for name in ("a", "a-b", "b") for version in (10, 9, "9.1")]
    path.write_text(SMALL + "workloads:\n" + "".join(reversed(entries)))
    stub = serve("--catalog", str(path)).catalog
    whole = stub.ListWorkloads(catalog_service_pb2.ListWorkloadsRequest())
    labels = [(one.name, one.version) for one in whole.workloads]
    assert labels == [(name, version) for name in ("a", "a-b", "b") for version in ("9", "9.1", "10")]
    assert whole.catalog_version == stub.ListPolicies(catalog_service_pb2.ListPoliciesRequest()).catalog_version
    paged, token = [], ""
    while True:
        page = stub.ListWorkloads(catalog_service_pb2.ListWorkloadsRequest(page_size=2, page_token=token))
        paged += [(one.name, one.version) for one in page.workloads]
        token = page.next_page_token
        if not token:
            break
    assert paged == labels
    with pytest.raises(grpc.RpcError) as caught:
        stub.ListWorkloads(catalog_service_pb2.ListWorkloadsRequest(page_size=1001))
    assert caught.value.code() is INVALID


def test_a_listed_workload_states_what_the_catalogue_does(server: ServerProcess) -> None:
    page = server.catalog.ListWorkloads(catalog_service_pb2.ListWorkloadsRequest(page_size=1))
    assert list(page.workloads) == [
        Workload(
            name="invoices",
            version="2026-11-30",
            schema_id="invoice-v3",
            request=RouteRequest(
                task="extraction",
                modalities=["text", "image"],
                model_classes=["document-extraction"],
                structured_output="json-schema",
                output_tokens=1500,
                expected_output_tokens=600,
                max_cost=0.03,
                deadline_ms=20000,
            ),
        )
    ]
