"""The callers: each asks at random, again and again, and hands every answer to the checks."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

from router_service.v1 import catalog_service_pb2 as catalog_pb
from router_service.v1 import router_service_pb2 as pb
from tests.chaos.asking import Asked, Asker
from tests.chaos.errors import reason_of, wrong_error
from tests.chaos.judge import Judge
from tests.chaos.processes import Call, Door, Instance, World
from tests.chaos.reporting import Reporter

PATIENCE_S = 120
# How long health may take to tell of a store, or of files, on a machine that runs tests.
HEALTH_S = 20
# Decisions see what was learned within a second.
SEEN_S = 5


class Traffic:
    """All callers of one run."""

    def __init__(self, rng: random.Random, world: World, judge: Judge, asker: Asker, reporter: Reporter) -> None:
        self._rng, self._world, self._judge = rng, world, judge
        self._asker, self._reporter = asker, reporter
        self._record = judge.record
        self._shares: dict[Callable[[], Awaitable[None]], int] = {
            self._decide: 50,
            self._stream: 6,
            self._cancelled: 5,
            self._cancelled_stream: 3,
            self._explain: 8,
            self._health: 8,
            self._endpoints: 4,
        }

    async def caller(self, stop: asyncio.Event) -> None:
        """One caller, until it is told to stop."""
        kinds, shares = list(self._shares), list(self._shares.values())
        while not stop.is_set():
            if self._world.instances:
                await self._rng.choices(kinds, shares)[0]()
            await asyncio.sleep(self._rng.random() * 0.05)

    async def _decide(self) -> None:
        asked = self._asker.ask()
        async with self._calling("Decide") as (instance, door, begun, cut):
            answer = await door.router.Decide(asked.message, timeout=PATIENCE_S)
            call = Call(instance, begun, time.monotonic(), cut)
            self._record.answers["Decide"] += 1
            await self._judge.answer(asked, call, answer)
            if self._rng.random() < 0.6:
                await self._reporter.report(call, answer)

    async def _stream(self) -> None:
        items = [self._asker.ask() for _ in range(self._rng.randint(2, 10))]
        async with self._calling("DecideStream") as (instance, door, begun, cut):
            stream = door.router.DecideStream(timeout=PATIENCE_S)
            sending = asyncio.create_task(_send(stream, items))
            place = 0
            try:
                async for answer in stream:
                    call = Call(instance, begun, time.monotonic(), cut)
                    wrong = [] if answer.request_id == items[place].message.request_id else ["not in order"]
                    if answer.HasField("error"):
                        wrong.append(f"an item ended with {answer.error}")
                    self._record.check("the order of a stream", wrong)
                    if not wrong:
                        await self._judge.answer(items[place], call, answer)
                    place += 1
                self._record.check("a stream's answers, one each", [] if place == len(items) else [f"{place} answers"])
            finally:
                await _stopped(sending)
            self._record.answers["DecideStream, items"] += place

    async def _cancelled(self) -> None:
        asked = self._asker.ask()
        async with self._calling("Decide") as (instance, door, begun, cut):
            calling = door.router.Decide(asked.message, timeout=PATIENCE_S)
            await asyncio.sleep(self._rng.random() * 0.02)
            calling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                answer = await calling
                await self._judge.answer(asked, Call(instance, begun, time.monotonic(), cut), answer)
            self._record.fault("a call cancelled")

    async def _cancelled_stream(self) -> None:
        async with self._calling("DecideStream") as (_, door, _begun, _cut):
            stream = door.router.DecideStream(timeout=PATIENCE_S)
            items = [self._asker.ask() for _ in range(20)]
            sending = asyncio.create_task(_send(stream, items))
            try:
                with contextlib.suppress(asyncio.CancelledError):
                    for _ in range(self._rng.randint(0, 4)):
                        await stream.read()
                stream.cancel()
            finally:
                await _stopped(sending)
            self._record.fault("a stream cancelled")

    async def _explain(self) -> None:
        asked = self._asker.ask(plain=True)
        message = pb.ExplainRequest(policy_id=asked.message.policy_id, request=asked.message.request)
        before = self._world.now
        async with self._calling("Explain") as (_, door, begun, _cut):
            told = (await door.router.Explain(message, timeout=PATIENCE_S)).explanation
            self._record.answers["Explain"] += 1
            if not self._world.clock_spells.touch(begun - 3, time.monotonic()):
                self._judge.explanation(asked, told, before)

    async def _health(self) -> None:
        service = self._rng.choice(("", "store", "catalog"))
        async with self._calling("Health") as (instance, door, begun, _):
            answer = await door.health.Check(HealthCheckRequest(service=service), timeout=PATIENCE_S)
            serving = answer.status == HealthCheckResponse.SERVING
            self._record.answers["Health"] += 1
            if instance.leaving_at < time.monotonic() or begun < instance.born + HEALTH_S:
                return
            expected = {"": True, "store": self._store_is_well(begun), "catalog": self._judge.files_are_good(HEALTH_S)}
            right = expected[service]
            if right is not None:
                wrong = [f"{service!r} is {answer.status} of instance {instance.number}"] if serving != right else []
                self._record.check("health tells the truth", wrong)

    def _store_is_well(self, now: float) -> bool | None:
        """Whether the store is well, where that has been so for long enough to be known."""
        since = self._world.store_spells.lasts_since()
        if since is not None:
            return False if now - since > HEALTH_S else None
        return None if self._world.store_spells.touch(now - HEALTH_S, time.monotonic()) else True

    async def _endpoints(self) -> None:
        async with self._calling("ListEndpoints") as (_, door, _begun, _cut):
            message = catalog_pb.ListEndpointsRequest(page_size=1000)
            page = await door.catalog.ListEndpoints(message, timeout=PATIENCE_S)
            self._record.answers["ListEndpoints"] += 1
            if differing := self._judge.listing(page):
                # What another instance set is known a moment before decisions see it, and no longer.
                await asyncio.sleep(SEEN_S)
                page = await door.catalog.ListEndpoints(message, timeout=PATIENCE_S)
                wrong = [str(one) for one in differing & self._judge.listing(page)]
                self._record.check("decisions see what is set by hand", wrong)

    @contextlib.asynccontextmanager
    async def _calling(self, method: str) -> AsyncIterator[tuple[Instance, Door, float, bool]]:
        """Any instance through any of its doors; an error that comes of it is judged."""
        if not self._world.instances:
            return
        instance = self._rng.choice(self._world.instances)
        cut = self._rng.random() < 0.4
        begun = time.monotonic()
        try:
            yield instance, instance.cut if cut else instance.straight, begun, cut
        except grpc.aio.AioRpcError as error:
            call = Call(instance, begun, time.monotonic(), cut)
            wrong = wrong_error(self._world, method, call, error, stream=method == "DecideStream")
            self._record.answers[f"{method}: {error.code().name} {reason_of(error)}".rstrip()] += 1
            self._record.check("errors are documented", [wrong] if wrong else [])


async def _stopped(sending: asyncio.Task[None]) -> None:
    """What was not sent of an ended stream need not be."""
    sending.cancel()
    with contextlib.suppress(asyncio.CancelledError, grpc.aio.AioRpcError, asyncio.InvalidStateError):
        await sending


async def _send(stream: Any, items: list[Asked]) -> None:
    for one in items:
        await stream.write(pb.DecideStreamRequest(decide=one.message))
    await stream.done_writing()
