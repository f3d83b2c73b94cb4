"""Thousands of random operations on each store, each answer the same as the model's."""

from __future__ import annotations

import random

import pytest

from router_service.store.interface import Attempt, Report, Reservation, State, Store, Trace, TraceQuery
from tests.store.conftest import Shared
from tests.store.model import Model
from tests.store.test_listing import ids
from tests.store.values import MINUTE, NOW

STEPS = 2000
SIZES = (0, 1, 9, 10**7, 10**14 - 1, 2**53 + 1, 2**63 - 1, 10**19 + 7, 10**25 + 3)
DAYS = ("2026-11-29", "2026-11-30", "2026-12-01")
OUTCOMES = ("decided", "no_endpoint", "budget_exceeded")
ENDPOINTS = ("e/one", "e/two", "e/three", "e/four")
VERSIONS = ("v0", "v1", "v2", "v3", "v4")
FIGURES = ("f0", "f1", "f2", "f3")


class Walk:
    """One random walk over both, with a clock that goes on by minutes and now and then steps back."""

    def __init__(self, store: Store, model: Model, seed: int) -> None:
        self.store, self.model, self.random = store, model, random.Random(seed)
        self.now, self.written = NOW, 0

    def trace_id(self) -> str:
        return f"t{self.random.randrange(60)}"

    @staticmethod
    def policy_of(trace_id: str) -> str:
        return f"p{int(trace_id[1:]) % 3}"

    async def step(self) -> None:
        self.now += self.random.choice((0, 1, 1000, MINUTE, 3 * MINUTE, -MINUTE))
        name = self.random.choices(
            ("reserve", "report", "expire", "write", "trace", "list", "keep", "sweep", "spending", "swap", "states"),
            (30, 30, 4, 20, 10, 4, 4, 2, 10, 10, 5),
        )[0]
        await getattr(self, name)()

    async def reserve(self) -> None:
        trace_id = self.trace_id()
        one = Reservation(
            trace_id=trace_id,
            policy_id=self.policy_of(trace_id),
            day=self.random.choice(DAYS),
            amount=self.random.choice(SIZES),
            budget=self.random.choice((0, 10**8, 2**63, 10**26, 10**27)),
            at=self.now,
            expires_at=self.now + 15 * MINUTE,
        )
        assert await self.store.reserve(one) == self.model.reserve(one), one

    async def report(self) -> None:
        trace_id = self.trace_id()
        attempts = tuple(
            Attempt(
                attempt_id=f"a{self.random.randrange(5)}",
                endpoint_id=self.random.choice(ENDPOINTS),
                cost=self.random.choice(SIZES),
                body=self.random.randbytes(5),
            )
            for _ in range(self.random.randrange(4))
        )
        said = Report(
            trace_id=trace_id,
            policy_id=self.policy_of(trace_id),
            at=self.now,
            outcome=self.random.choice(("accepted", "failed")),
            attempts=attempts,
            operation_id=self.random.choice(("", "op", "op/2")),
            caller=self.random.choice(("", "gateway", "audit")),
        )
        assert await self.store.report(said) == self.model.report(said), said

    async def expire(self) -> None:
        assert await self.store.expire(self.now, 1000) == self.model.expire(self.now)

    async def write(self) -> None:
        traces = []
        for _ in range(self.random.choice((1, 2, 9))):
            trace_id = self.trace_id()
            self.written += 1
            traces.append(
                Trace(
                    trace_id=trace_id,
                    at=NOW + self.written,
                    expires_at=self.now + self.random.choice((5, 30, 90)) * MINUTE + self.written,
                    policy_id=self.policy_of(trace_id),
                    outcome=self.random.choice(OUTCOMES),
                    catalog_version=self.random.choice(VERSIONS),
                    figures=self.random.choice(("", *FIGURES)),
                    endpoints=tuple(self.random.sample(ENDPOINTS, self.random.randrange(4))),
                    request=self.random.randbytes(10),
                    answer=self.random.randbytes(10),
                    until_report=int(trace_id[1:]) % 4 == 0,
                )
            )
        await self.store.write_traces(traces)
        self.model.write_traces(traces)

    async def trace(self) -> None:
        trace_id = self.trace_id()
        assert await self.store.trace(trace_id) == self.model.trace(trace_id)

    async def list(self) -> None:
        choose = self.random.choice
        query = {
            "policy_id": choose(("", "", "p1")),
            "outcome": choose(("", "", *OUTCOMES)),
            "endpoint_id": choose(("", "", *ENDPOINTS)),
            "since": choose((None, None, NOW + self.random.randrange(self.written + 1))),
            "until": choose((None, None, NOW + self.random.randrange(self.written + 1))),
            "policies": choose((None, None, (), ("p0",), ("p0", "p2"), ("p1", "none"))),
        }
        expected = [one.trace_id for one in self.model.traces(TraceQuery(**query))]
        assert await ids(self.store, choose((1, 3, 100)), **query) == expected, query

    async def keep(self) -> None:
        version = self.random.choice(VERSIONS + FIGURES)
        await self.store.keep_catalog(version, version.encode())
        self.model.keep_catalog(version, version.encode())

    async def sweep(self) -> None:
        keep, limit = self.random.choice(VERSIONS), self.random.choice((2, 1000))
        assert await self.store.sweep(self.now, keep, limit) == self.model.sweep(self.now, keep, limit)

    async def spending(self) -> None:
        policy, day = self.policy_of(self.trace_id()), self.random.choice(DAYS)
        assert await self.store.spending(policy, day) == self.model.spending(policy, day)

    async def swap(self) -> None:
        changes = []
        for _ in range(self.random.choice((1, 1, 3, 40))):
            key = self.random.choice(ENDPOINTS)
            kept = self.model.shared.get(key, State(key, 0, b"")).version
            version = self.random.choice((kept, kept, kept, 0, kept - 1))
            changes.append(State(key, version, self.random.randbytes(self.random.choice((0, 5)))))
        answers = await self.store.swap(changes)
        assert answers == self.model.swap(changes, [one.state.version for one in answers if one.made])

    async def states(self) -> None:
        since = self.random.choice((0, *(one.version for one in self.model.shared.values())))
        assert await self.store.states(since) == self.model.states(since)

    async def compare(self) -> None:
        for number in range(60):
            assert await self.store.trace(f"t{number}") == self.model.trace(f"t{number}")
        for policy in ("p0", "p1", "p2"):
            for day in DAYS:
                assert await self.store.spending(policy, day) == self.model.spending(policy, day)
        for version in VERSIONS + FIGURES:
            assert await self.store.catalog(version) == self.model.bodies.get(version)
        assert await self.store.states(0) == self.model.states(0)
        assert await ids(self.store) == [one.trace_id for one in self.model.traces(TraceQuery())]


@pytest.mark.parametrize("seed", [1, 2])
async def test_every_answer_is_the_models(shared: Shared, seed: int) -> None:
    walk = Walk(await shared.open(), Model(orphans_go=shared.kind == "sqlite"), seed)
    for number in range(STEPS):
        await walk.step()
        if number % 1000 == 999:
            await walk.compare()
