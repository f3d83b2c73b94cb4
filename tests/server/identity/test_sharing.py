"""Callers that share a policy: they see its traces, and each reports on its own decisions alone."""

from __future__ import annotations

from pathlib import Path

import grpc

from router_service.v1 import router_service_pb2 as pb
from router_service.v1.report_pb2 import Attempt, Report
from router_service.v1.route_pb2 import RouteRequest
from tests.callers.files import entry
from tests.server.identity.reasons import reason_of
from tests.server.identity.secured import OTHERS, OWN, As, bearer, secured

_USUAL = "roles: [decide, report, read]"
CALLERS = f"""\
callers:
- {{caller: one, {_USUAL}, policies: [{OWN}]}}
- {{caller: two, {_USUAL}, policies: [{OWN}, {OTHERS}]}}
- {{caller: collector, roles: [report], policies: [{OWN}], reports_for: [one]}}
- {{caller: everything, roles: [report], policies: ["*"], reports_for: ["*"]}}
tokens:
"""
NAMES = ("one", "two", "collector", "everything")


async def reported(who: As, trace_id: str, attempt_id: str) -> str:
    """OK, or why not, with what is told."""
    attempt = Attempt(attempt_id=attempt_id, endpoint_id="endpoint-own")
    message = pb.ReportRequest(report=Report(trace_id=trace_id, outcome="accepted", attempts=[attempt]))
    try:
        taken = await who.method("Report")(message)
    except grpc.aio.AioRpcError as error:
        return f"{reason_of(error)} {error.details()}"
    return f"OK {taken.accepted}"


async def decided(who: As, policy_id: str) -> str:
    """The trace_id of a decision."""
    message = pb.DecideRequest(policy_id=policy_id, request=RouteRequest(input_tokens=1, output_tokens=1))
    trace_id: str = (await who.method("Decide")(message)).decision.trace_id
    return trace_id


async def test_reports_are_taken_of_the_one_that_it_was_decided_for(tmp_path: Path) -> None:
    async with secured(tmp_path, CALLERS + "".join(map(entry, NAMES))) as server:
        channel = await server.for_tokens()
        one, two, collector, everything = (As(channel, bearer(name)) for name in NAMES)
        of_one, of_two, of_others = await decided(one, OWN), await decided(two, OWN), await decided(two, OTHERS)
        nowhere = await reported(two, "0" * 32, "a")
        # What it may not report on is told in the words of what is not there.
        for who, trace_id in (
            (one, of_two),
            (two, of_one),
            (collector, of_two),
            (collector, of_others),
            (one, of_others),
        ):
            assert (await reported(who, trace_id, "a")).replace(trace_id, "0" * 32) == nowhere
        assert nowhere.startswith("TRACE_NOT_FOUND")
        for number, (who, trace_id) in enumerate(
            ((one, of_one), (collector, of_one), (everything, of_one), (two, of_two))
        ):
            assert await reported(who, trace_id, f"a{number}") == "OK 1"
        told = (await two.method("GetTrace")(pb.GetTraceRequest(trace_id=of_one))).trace
        assert (told.caller, [report.caller for report in told.reports]) == ("one", ["one", "collector", "everything"])
        listed = await one.method("ListTraces")(pb.ListTracesRequest())
        assert {(trace.caller, trace.policy_id) for trace in listed.traces} == {("one", OWN), ("two", OWN)}


async def test_what_was_decided_before_callers_were_told_apart_can_be_reported_on(tmp_path: Path) -> None:
    """So that a server to which callers are given loses no report."""
    async with secured(tmp_path, callers=None) as server:
        anybody = As(await server.for_tokens())
        trace_id = await decided(anybody, OWN)
    async with secured(tmp_path, CALLERS + "".join(map(entry, NAMES))) as server:
        one = As(await server.for_tokens(), bearer("one"))
        assert await reported(one, trace_id, "a") == "OK 1"
        assert (await one.method("GetTrace")(pb.GetTraceRequest(trace_id=trace_id))).trace.caller == "local"
