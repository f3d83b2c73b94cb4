"""The judge: holds every answer to the checker, to what was done, to the ledger, and to its own trace."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import grpc
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from router_service.v1 import catalog_service_pb2 as catalog_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.explanation_pb2 import Explanation
from router_service.v1.route_pb2 import Decision
from router_service.v1.trace_pb2 import Trace
from tests.chaos.asking import Asked
from tests.chaos.catalogues import Book
from tests.chaos.checker import Checker
from tests.chaos.errors import reason_of, wrong_error
from tests.chaos.forms import result_of
from tests.chaos.knowledge import Knowledge
from tests.chaos.ledger import Ledger, day_of
from tests.chaos.processes import Call, World
from tests.chaos.record import Record

PATIENCE_S = 120
# What was decided is written ten times a second; with this long a quiet around it, it must be kept.
WRITTEN_S = 5
KEPT_MAX = 200
# A clock that has not been stepped may still differ by this between here and there.
NEAR_MS = 2000


@dataclass(frozen=True)
class KeptTrace:
    """A trace that must be had again, and what it was explained with."""

    call: Call
    trace_id: str
    told: Explanation
    answer: bytes


class Judge:
    """Everything that answers are held to, in one place."""

    def __init__(self, world: World, book: Book, knowledge: Knowledge, ledger: Ledger, record: Record) -> None:
        self.record, self.knowledge, self.ledger = record, knowledge, ledger
        self.checker = Checker(book)
        self._world, self._book = world, book
        self.kept: list[KeptTrace] = []
        self._files: tuple[bool, float] = (True, time.monotonic())
        self.compared = 0

    def files(self, *, good: bool) -> None:
        """What lies in place is a good catalogue from now on, or a bad one."""
        if good != self._files[0]:
            self._files = (good, time.monotonic())

    def files_are_good(self, seconds: float) -> bool | None:
        """Whether they are, where that has been so for long enough."""
        good, since = self._files
        return good if time.monotonic() - since > seconds else None

    async def answer(self, asked: Asked, call: Call, answer: pb.DecideResponse | pb.DecideStreamResponse) -> None:
        """One answer, by itself and by its trace."""
        result = result_of(answer)
        about = f"{asked.policy_id} {asked.request} {asked.data_class}: {short(result)}"
        wrong = self.checker.at_once(result, asked.policy_id, asked.request, asked.data_class, self._world.now)
        self.record.check("every rule of its version holds", wrong, about)
        if wrong:
            return
        self.record.answers["decided" if isinstance(result, Decision) else f"refused {result.code}"] += 1
        listed = [one.endpoint_id for one in result.candidates] if isinstance(result, Decision) else []
        wrong = self.knowledge.wrong_list(call, listed, result.catalog_version)
        self.record.check("drains, pauses and loads by hand are obeyed", wrong, about)
        try:
            await self._by_its_trace(asked, call, answer)
        except grpc.aio.AioRpcError as error:
            now = Call(call.instance, time.monotonic() - 1, time.monotonic(), call.through_cutter)
            wrong = [one] if (one := wrong_error(self._world, "GetTrace", now, error)) else []
            if not wrong and reason_of(error) == "TRACE_NOT_FOUND" and not self._may_be_gone(call, result.retention):
                wrong = [f"{result.trace_id} of instance {call.instance.number}: {error.details()}"]
            self.record.check("its trace can be had", wrong, about)

    async def _by_its_trace(
        self, asked: Asked, call: Call, answer: pb.DecideResponse | pb.DecideStreamResponse
    ) -> None:
        result = result_of(answer)
        router = call.instance.straight.router
        trace = (await router.GetTrace(pb.GetTraceRequest(trace_id=result.trace_id), timeout=PATIENCE_S)).trace
        self.record.check("its trace can be had", [])
        same = trace.decision if isinstance(result, Decision) else trace.refusal
        self.record.check("a trace is the answer", [] if same == result else [f"{short(same)} != {short(result)}"])
        self._count(asked, call, result, trace)
        told = await router.Explain(pb.ExplainRequest(trace_id=result.trace_id), timeout=PATIENCE_S)
        explanation = told.explanation
        about = f"{asked.policy_id} {asked.request}: {short(result)}"
        self.record.check("figures have a cause", self.knowledge.wrong_figures(explanation), about)
        same = result_of(explanation)
        self.record.check("an explanation is the answer", [] if same == result else [short(same)], about)
        wrong = await asyncio.to_thread(self.checker.in_full, trace, explanation, asked.request)
        self.record.check("all of it is what the reference says", wrong[:3], about)
        self.compared += 1
        if result.retention != "0" and len(self.kept) < KEPT_MAX:
            self.kept.append(
                KeptTrace(call, result.trace_id, explanation, result.SerializeToString(deterministic=True))
            )

    def _count(self, asked: Asked, call: Call, result: object, trace: Trace) -> None:
        """A decision under a budget goes into the ledger, but where it fails open and so may be overspent."""
        if not isinstance(result, Decision) or asked.policy_id == "open":
            return
        budget = self.checker.budget_of(result)
        if budget is not None:
            policy = self._book.versions[result.catalog_version].policies[asked.policy_id]
            day = day_of(policy, trace.decided_at.ToMilliseconds())
            amount = self.checker.reserves(result, asked.request)
            wrong = self.ledger.add(result.trace_id, day, amount, budget, call)
            self.record.check("no day is overspent", wrong, short(result))

    def explanation(self, asked: Asked, told: Explanation, now: int) -> None:
        """An explanation of a request that nobody decided."""
        wrong = self.checker.told(told, asked.policy_id, asked.request, now) + self.knowledge.wrong_figures(told)
        self.record.check("an explanation is what the reference says", wrong[:3], f"{asked.policy_id} {asked.request}")

    def listing(self, page: catalog_pb.ListEndpointsResponse) -> set[tuple[str, str, str]]:
        """What ListEndpoints shows; the endpoints of another status than by hand, which decisions are to see soon."""
        version = self._book.versions.get(page.catalog_version)
        if version is None:
            self.record.check("endpoints are those of a version", [f"{page.catalog_version} was never good"])
            return set()
        ids = [one.endpoint.endpoint_id for one in page.endpoints]
        wrong = [] if ids == sorted(version.endpoints, key=str.encode) else [f"{ids} of {version.version}"]
        wrong += [
            f"{one.endpoint.endpoint_id} is left out without an end"
            for one in page.endpoints
            if one.circuit == "open" and not one.HasField("suppressed_until")
        ]
        self.record.check("endpoints are those of a version", wrong)
        told = {(one.endpoint.endpoint_id, one.status, one.by_hand.status) for one in page.endpoints}
        return {one for one in told if one[2] not in ("", one[1])}

    def _may_be_gone(self, call: Call, retention: str) -> bool:
        """Whether a trace may be gone though it was answered."""
        return (
            retention == "0" or self._world.emptied_at > call.begun or call.instance.killed_at < call.ended + WRITTEN_S
        )

    async def again(self) -> None:
        """At the end: what had to be kept is had again, from any instance, and explained word for word."""
        for number, one in enumerate(self.kept):
            alive = one.call.instance.killed_at > one.call.ended + WRITTEN_S
            well = not self._world.store_spells.touch(one.call.begun - 1, one.call.ended + WRITTEN_S)
            if not (alive and well) or self._world.emptied_at > one.call.begun:
                continue
            router = self._world.instances[number % len(self._world.instances)].straight.router
            try:
                trace = (await router.GetTrace(pb.GetTraceRequest(trace_id=one.trace_id), timeout=PATIENCE_S)).trace
                told = await router.Explain(pb.ExplainRequest(trace_id=one.trace_id), timeout=PATIENCE_S)
            except grpc.aio.AioRpcError as error:
                self.record.check("a kept trace is had again", [f"{one.trace_id}: {error.code()} {error.details()}"])
                continue
            answer = trace.decision if trace.HasField("decision") else trace.refusal
            same = answer.SerializeToString(deterministic=True) == one.answer and told.explanation == one.told
            wrong = [] if same else [f"{one.trace_id} is told otherwise: {told.explanation} != {one.told}"[:3000]]
            self.record.check("a kept trace is had again", wrong)


def short(message: Message) -> str:
    """A result as a violation tells of it."""
    told = MessageToDict(message, preserving_proto_field_name=True)
    told["candidates"] = [one.get("endpoint_id") for one in told.get("candidates", ())]
    return str(told)
