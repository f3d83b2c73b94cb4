"""The faults: each a row of a table with its share; three hands do them at once, so that they overlap."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import time
from collections.abc import Awaitable, Callable

import grpc

from router_service.v1 import catalog_service_pb2 as catalog_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.report_pb2 import Attempt, Report
from router_service.v1.route_pb2 import Decision, RouteRequest
from tests.chaos.asking import Asker
from tests.chaos.errors import reason_of, wrong_error
from tests.chaos.files import Files
from tests.chaos.forms import result_of
from tests.chaos.judge import Judge
from tests.chaos.knowledge import Drain
from tests.chaos.processes import Call, Instance, NotStarted, World
from tests.chaos.reporting import Reporter

PATIENCE_S = 120
STORM, STORM_STREAM, STORM_IDS = 1000, 50, 100
LONG_S = 20
# Hours and more, so that days end and circuits do, and seconds, which few notice; never so far that traces expire.
STEPS_S = (-7200, -90, -5, 3, 45, 600, 3600, 26 * 3600)
Fault = Callable[[], Awaitable[None]]


class Faults:
    """Does faults until it is told to stop. `longest` is how long a store may be lost at most, in seconds."""

    def __init__(
        self,
        rng: random.Random,
        world: World,
        judge: Judge,
        files: Files,
        asker: Asker,
        reporter: Reporter,
        longest: float,
    ) -> None:
        self._rng, self._world, self._judge, self._files = rng, world, judge, files
        self._asker, self._reporter, self._longest = asker, reporter, longest
        self._record = judge.record
        self._has_emptied, self._begun = False, time.monotonic()
        step: dict[Fault, int] = {self._step_clocks: 4} if world.library else {}
        self.hands: tuple[tuple[float, dict[Fault, int]], ...] = (
            (1.5, {self._swap: 4, self._rewrite: 4, self._bad: 3, self._half: 3, self._hang_up: 2, self._reload: 4}),
            (1.0, {self._lose_store: 4, self._kill: 2, self._leave: 2, self._cut: 3, **step}),
            (0.8, {self._drain: 5, self._give_back: 4, self._refuse: 4, self._storm: 1, self._strange: 3}),
        )

    async def hand(self, pause_s: float, shares: dict[Fault, int], stop: asyncio.Event) -> None:
        """One hand, until it is told to stop: a fault, and a pause."""
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), self._rng.random() * 2 * pause_s)
                return
            await self._rng.choices(list(shares), list(shares.values()))[0]()

    async def give_all_back(self) -> None:
        """No endpoint is drained from now on."""
        while any(drain.back_at > time.monotonic() for drain in self._judge.knowledge.drains):
            await self._give_back()

    async def _swap(self) -> None:
        self._record.fault("catalogue: folder swapped")
        await self._files.swap()

    async def _rewrite(self) -> None:
        self._record.fault("catalogue: file replaced")
        await self._files.rewrite()

    async def _bad(self) -> None:
        self._record.fault("catalogue: bad file")
        await self._files.bad()

    async def _half(self) -> None:
        self._record.fault("catalogue: half-written for a while")
        await self._files.half(self._rng.choice((0.05, 0.5, 2)))

    async def _hang_up(self) -> None:
        self._record.fault("SIGHUP")
        if self._world.instances:
            self._rng.choice(self._world.instances).process.send_signal(signal.SIGHUP)

    async def _reload(self) -> None:
        """Loads by hand, in a moment in which nothing is put in place."""
        if not self._world.instances:
            return
        instance, begun = self._rng.choice(self._world.instances), time.monotonic()
        self._record.fault("Reload")
        good = self._files.good
        try:
            answer = await instance.straight.catalog.Reload(catalog_pb.ReloadRequest(), timeout=PATIENCE_S)
        except grpc.aio.AioRpcError as error:
            if reason_of(error) == "CATALOG_INVALID":
                wrong = ["a good catalogue was refused: " + (error.details() or "")] if good else []
            else:
                one = wrong_error(self._world, "Reload", Call(instance, begun, time.monotonic()), error)
                wrong = [one] if one else []
        else:
            self._judge.knowledge.loaded(instance, answer.catalog_version)
            right = good and answer.catalog_version == self._files.version
            wrong = [] if right else [f"it loaded {answer.catalog_version}, in place is {self._files.version} ({good})"]
        self._record.check("a load by hand tells what is in place", wrong)

    async def _lose_store(self) -> None:
        kinds = ["lock"] if self._world.redis is None else ["kill", "stop", "kill", "stop", "empty"]
        # After it the ledger counts nothing for a minute, so only a long run has it, once and early.
        is_early = time.monotonic() - self._begun < 2 * self._longest
        may_empty = self._longest > LONG_S and is_early and not self._has_emptied
        how = self._rng.choice([one for one in kinds if one != "empty" or may_empty])
        self._record.fault(f"store: {how}")
        self._has_emptied |= how == "empty"
        await self._world.lose_store(min(self._longest, self._rng.choice((0.3, 1.5, 4, 40))), how=how)
        if how == "empty":
            self._judge.ledger.emptied(self._world.emptied_at)

    async def _kill(self) -> None:
        if len(self._world.instances) < 2:
            return
        self._record.fault("instance: kill -9")
        instance = self._rng.choice(self._world.instances)
        self._world.leave(instance)
        await instance.end(signal.SIGKILL)
        await self._start()

    async def _leave(self) -> None:
        """A replacement first, as a rolling update has it, then SIGTERM."""
        self._record.fault("instance: SIGTERM with a replacement")
        instance = self._world.instances[0]
        await self._start()
        self._world.leave(instance)
        code = await instance.end(signal.SIGTERM)
        self._record.check(
            "a drain ends with exit code 0", [] if code == 0 else [f"{code}: {instance.log.read_text()}"]
        )

    async def _start(self) -> None:
        """One more instance; while the files are bad none starts, and each says so by its exit code."""
        while True:
            before = (self._files.good, self._files.turns)
            try:
                await self._world.start()
            except NotStarted as ended:
                self._record.fault("instance started on bad files")
                right = ended.code == 2 and before != (True, self._files.turns)
                self._record.check("only bad files end a start, with exit code 2", [] if right else [str(ended)])
                if not right:
                    raise
            else:
                return

    async def _cut(self) -> None:
        if self._world.instances:
            instance = self._rng.choice(self._world.instances)
            self._record.fault("connections cut")
            self._record.done["connections cut, ends"] += instance.cutter.cut()

    async def _step_clocks(self) -> None:
        self._record.fault("clocks stepped")
        self._world.step(self._rng.choice(STEPS_S) if self._rng.random() < 0.7 else 0)

    async def _drain(self) -> None:
        """Some endpoint is drained; some at most, so that something is left to decide."""
        drained = {one.endpoint_id for one in self._judge.knowledge.drains if one.back_at > time.monotonic()}
        free = [one for one in self._judge.knowledge.book.newest.endpoints if one not in drained]
        if len(drained) < 4 and self._world.instances and free:
            endpoint_id, status = self._rng.choice(free), self._rng.choice(("maintenance", "down"))
            self._record.fault("endpoint drained by hand")
            self._judge.knowledge.setting(endpoint_id, status)
            if answered := await self._set(endpoint_id, status):
                instance, kept = answered
                self._judge.knowledge.drains.append(Drain(endpoint_id, time.monotonic(), instance, kept))

    async def _give_back(self) -> None:
        held = [one for one in self._judge.knowledge.drains if one.back_at > time.monotonic()]
        if held:
            self._record.fault("endpoint given back")
            drain = self._rng.choice(held)
            drain.back_at = time.monotonic()
            await self._set(drain.endpoint_id, "")

    async def _set(self, endpoint_id: str, status: str) -> tuple[Instance, bool] | None:
        """Sets a status at any instance; which one has it, and whether it is kept."""
        if not self._world.instances:
            return None
        instance, begun = self._rng.choice(self._world.instances), time.monotonic()
        message = catalog_pb.SetEndpointStatusRequest(endpoint_id=endpoint_id, status=status, reason="chaos")
        try:
            answer = await instance.straight.catalog.SetEndpointStatus(message, timeout=PATIENCE_S)
        except grpc.aio.AioRpcError as error:
            # An instance may not have loaded the version yet that has the endpoint, or no longer have it.
            if reason_of(error) != "ENDPOINT_NOT_FOUND":
                now = Call(instance, begun, time.monotonic())
                wrong = wrong_error(self._world, "SetEndpointStatus", now, error)
                self._record.check("errors are documented", [wrong] if wrong else [])
            return None
        told = answer.endpoint.by_hand.status
        self._record.check("a status by hand is told", [] if told == status else [f"{told!r}, not {status!r}"])
        return instance, answer.kept

    async def _decide(self, policy_id: str = "all") -> tuple[Call, Decision] | None:
        """A plain decision at any instance."""
        if not self._world.instances:
            return None
        instance, begun = self._rng.choice(self._world.instances), time.monotonic()
        message = pb.DecideRequest(policy_id=policy_id, request=RouteRequest())
        try:
            answer = await instance.straight.router.Decide(message, timeout=PATIENCE_S)
        except grpc.aio.AioRpcError as error:
            wrong = wrong_error(self._world, "Decide", Call(instance, begun, time.monotonic()), error)
            self._record.check("errors are documented", [wrong] if wrong else [])
            return None
        result = result_of(answer)
        return (Call(instance, begun, time.monotonic()), result) if isinstance(result, Decision) else None

    async def _refuse(self) -> None:
        """An endpoint refuses the credentials: from the answer to that report on no decision lists it."""
        if decided := await self._decide():
            self._record.fault("endpoint refuses credentials")
            await self._reporter.refuse(*decided)

    async def _strange(self) -> None:
        """A report of an endpoint that was not listed, and one of a trace that never was."""
        decided = await self._decide()
        if decided is None:
            return
        call, result = decided
        strangers = (
            (result.trace_id, "nobody's", ("ENDPOINT_NOT_LISTED", "TRACE_NOT_FOUND")),
            (f"{self._rng.getrandbits(128):032x}", result.candidates[0].endpoint_id, ("TRACE_NOT_FOUND",)),
        )
        for trace_id, endpoint_id, reasons in strangers:
            self._record.fault("report of what never was")
            attempt = Attempt(attempt_id="1", endpoint_id=endpoint_id, failure_class="transient", status_code=503)
            report = Report(trace_id=trace_id, outcome="failed", attempts=[attempt])
            begun = time.monotonic()
            try:
                await call.instance.straight.router.Report(pb.ReportRequest(report=report), timeout=PATIENCE_S)
                wrong = [f"{endpoint_id} of {trace_id} was taken"]
            except grpc.aio.AioRpcError as error:
                told = reason_of(error) in reasons
                now = Call(call.instance, begun, time.monotonic())
                wrong = [] if told or not (one := wrong_error(self._world, "Report", now, error)) else [one]
            self._record.check("a report outside the list is refused", wrong)

    async def _storm(self) -> None:
        """A thousand reports in streams at once: true ones, doubled ones, late ones, and those of no trace."""
        decided = await self._decide()
        if decided is None:
            return
        call, result = decided
        self._record.fault("storm of reports")
        listed = [one.endpoint_id for one in result.candidates]
        self._judge.knowledge.failing(listed)
        streams = [self._storm_stream(call, result.trace_id, listed) for _ in range(STORM // STORM_STREAM)]
        new = sum(await asyncio.gather(*streams))
        found = [] if new <= STORM_IDS else [f"{new} attempts were new, of {STORM_IDS}"]
        self._record.check("a storm counts each attempt once", found)

    async def _storm_stream(self, call: Call, trace_id: str, listed: list[str]) -> int:
        """One stream of a storm; how many attempts were new."""
        rng = self._rng

        def one() -> pb.ReportStreamRequest:
            attempt = Attempt(
                attempt_id=f"storm-{rng.randrange(STORM_IDS)}",
                endpoint_id=rng.choice((*listed, "nobody's")),
                failure_class=rng.choice(("", "", "transient", "ambiguous")),
                time_to_first_token_ms=rng.randrange(3000),
            )
            attempt.started_at.FromMilliseconds(self._world.now - rng.choice((0, 1000, 3_600_000)))
            known = trace_id if rng.random() < 0.7 else f"{rng.getrandbits(128):032x}"
            return pb.ReportStreamRequest(report=Report(trace_id=known, outcome="failed", attempts=[attempt]))

        begun = time.monotonic()
        try:
            sent = [one() for _ in range(STORM_STREAM)]
            taken = await call.instance.straight.router.ReportStream(iter(sent), timeout=2 * PATIENCE_S)
        except grpc.aio.AioRpcError as error:
            now = Call(call.instance, begun, time.monotonic())
            wrong = wrong_error(self._world, "ReportStream", now, error, stream=True)
            self._record.check("errors are documented", [wrong] if wrong else [])
            return 0
        told = taken.accepted + taken.duplicates + len(taken.rejected) + taken.more_rejected
        self._record.done["storm of reports, reports"] += told
        found = [] if told == STORM_STREAM else [f"{told} of {STORM_STREAM} reports were told of"]
        self._record.check("a storm tells of every report", found)
        return int(taken.accepted)
