"""The reports of callers: true ones that settle to the cent, again where they were not answered, and wrong ones."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from typing import Any

import grpc

from router_service.v1 import router_service_pb2 as pb
from router_service.v1.report_pb2 import Attempt, Report
from router_service.v1.route_pb2 import Decision
from tests.chaos.errors import reason_of, wrong_error
from tests.chaos.forms import result_of
from tests.chaos.judge import Judge
from tests.chaos.processes import Call, World

PATIENCE_S = 120
TRIES = 40
FAILURES: tuple[dict[str, Any], ...] = (
    {"failure_class": "transient", "status_code": 503},
    {"failure_class": "transient", "status_code": 429, "retry_after_ms": 1500},
    {"failure_class": "ambiguous"},
    {"failure_class": "permanent", "status_code": 401},
    {"failure_class": "incompatible", "status_code": 404},
    {"failure_class": "invalid_response", "status_code": 200},
    {"failure_class": "permanent", "status_code": 400},
)
REFUSED = FAILURES[3]


class Reporter:
    """Tells what came of decisions."""

    def __init__(self, rng: random.Random, world: World, judge: Judge) -> None:
        self._rng, self._world, self._judge = rng, world, judge
        self._record = judge.record
        self._numbers = itertools.count()

    async def report(self, call: Call, answer: pb.DecideResponse) -> None:
        """Random attempts down the list of a decision: one report, until it is answered."""
        result = result_of(answer)
        if not isinstance(result, Decision):
            return
        attempts: list[Attempt] = []
        for candidate in result.candidates:
            attempts.append(self._attempt(candidate.endpoint_id))
            if not attempts[-1].failure_class:
                break
        await self.tell(call, result, attempts)

    async def refuse(self, call: Call, result: Decision) -> None:
        """That the first candidate refused the credentials, told to the instance that decided."""
        first = result.candidates[0].endpoint_id
        attempt = Attempt(attempt_id=str(next(self._numbers)), endpoint_id=first, **REFUSED)
        if await self.tell(call, result, [attempt], to_any=False):
            self._judge.knowledge.paused(call.instance, first)

    def _attempt(self, endpoint_id: str) -> Attempt:
        rng, told = self._rng, {"attempt_id": str(next(self._numbers)), "endpoint_id": endpoint_id}
        if rng.random() < 0.25:
            return Attempt(**told, **rng.choice(FAILURES))
        return Attempt(
            **told,
            cost=rng.randrange(2000) / 10**6,
            input_tokens=rng.randrange(2000),
            output_tokens=rng.randrange(500),
            latency_ms=rng.randrange(100, 4000),
            time_to_first_token_ms=rng.randrange(50, 3000),
        )

    async def tell(self, call: Call, result: Decision, attempts: list[Attempt], *, to_any: bool = True) -> bool:
        """Reports until it is answered, by another instance perhaps; whether the first try was."""
        self._judge.knowledge.failing(one.endpoint_id for one in attempts if one.failure_class)
        cost = sum(round(one.cost * 10**6) for one in attempts) * 10**6
        outcome = "failed" if attempts[-1].failure_class else "accepted"
        request = pb.ReportRequest(report=Report(trace_id=result.trace_id, outcome=outcome, attempts=attempts))
        self._judge.ledger.reporting(result.trace_id, cost)
        for number in range(TRIES):
            if not self._world.instances:
                await asyncio.sleep(0.2)
                continue
            instance = self._rng.choice(self._world.instances) if to_any else call.instance
            begun = time.monotonic()
            try:
                taken = await instance.straight.router.Report(request, timeout=PATIENCE_S)
            except grpc.aio.AioRpcError as error:
                if self._is_over(result, call, Call(instance, begun, time.monotonic()), error):
                    return False
                await asyncio.sleep(0.5)
                continue
            self._record.answers["Report"] += 1
            self._judge.ledger.reported(result.trace_id)
            told = (taken.accepted, taken.duplicates)
            right = told == (len(attempts), 0) or (number > 0 and told == (0, len(attempts)))
            self._record.check("attempts count once", [] if right else [f"try {number}: {told} of {len(attempts)}"])
            if self._rng.random() < 0.2 and result.retention != "0":
                await self._again(request, result)
            return number == 0
        return False

    async def _again(self, request: pb.ReportRequest, result: Decision) -> None:
        """The same report once more changes nothing, whoever takes it."""
        instance = self._rng.choice(self._world.instances or [None])
        if instance is None:
            return
        begun = time.monotonic()
        try:
            taken = await instance.straight.router.Report(request, timeout=PATIENCE_S)
        except grpc.aio.AioRpcError as error:
            wrong = wrong_error(self._world, "Report", Call(instance, begun, time.monotonic()), error)
            self._record.check("errors are documented", [wrong] if wrong else [])
            return
        told, emptied = (taken.accepted, taken.duplicates), self._world.emptied_at > begun - PATIENCE_S
        right = told == (0, len(request.report.attempts)) or emptied
        self._record.check("a report that comes again changes nothing", [] if right else [f"{told} {result.trace_id}"])

    def _is_over(self, result: Decision, call: Call, now: Call, error: grpc.aio.AioRpcError) -> bool:
        """Whether nothing more can come of a report that failed."""
        wrong = wrong_error(self._world, "Report", now, error)
        self._record.answers[f"Report: {error.code().name} {reason_of(error)}".rstrip()] += 1
        self._record.check("errors are documented", [wrong] if wrong else [])
        if reason_of(error) != "TRACE_NOT_FOUND":
            return bool(wrong) or (now.instance not in self._world.instances and now.instance is call.instance)
        gone = (
            result.retention == "0"
            or self._world.emptied_at > call.begun
            or self._world.store_spells.touch(call.begun - 1, now.ended)
            or call.instance.killed_at < now.ended
        )
        overtaken = now.begun < call.ended + PATIENCE_S / 2 and now.instance is not call.instance
        if not (gone or overtaken):
            self._record.check("a decision can be reported", [f"{result.trace_id}: {error.details()}"])
        return gone or not overtaken
