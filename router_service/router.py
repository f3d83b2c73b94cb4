"""The application: one path that every door uses, from a request to its answer.

A door (gRPC, Envoy, the command line) turns what it gets into an `Ask` and what it is given into its own form; no
rule and no policy lives anywhere but behind this file.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec

from router_service.catalog.served import Served
from router_service.catalog.snapshot import Snapshot
from router_service.domain.decision import Decision, Explanation, Refusal
from router_service.domain.endpoint import Endpoint
from router_service.domain.policy import Policy
from router_service.domain.problems import InvalidValue, Problem
from router_service.domain.request import RouteRequest
from router_service.engine.decide import decide
from router_service.engine.explain import explain
from router_service.engine.index import Index


@dataclass(frozen=True, slots=True)
class Inline:
    """Candidates and a policy that a request brings instead of naming the served ones."""

    candidates: tuple[Endpoint, ...]
    policy: Policy


class Ask(msgspec.Struct, frozen=True):
    """A request under a policy of the catalogue (empty: its default one), or under one that it brings."""

    request: RouteRequest
    policy_id: str = ""
    inline: Inline | None = None


class Answer(msgspec.Struct, frozen=True):
    """What was decided, on which version of the catalogue (empty where the request brought its own)."""

    result: Decision | Refusal
    trace_id: str
    catalog_version: str
    now: int


@dataclass(frozen=True, slots=True)
class Explained:
    """A decision told in full. It was not taken, so it has no trace."""

    explanation: Explanation
    catalog_version: str
    now: int


class Unanswerable(Exception):
    """A request that cannot be answered; every kind says what to do about it."""


class CatalogNotLoaded(Unanswerable):
    """No catalogue has been loaded yet."""

    def __init__(self) -> None:
        super().__init__("no catalogue has been loaded yet; ask again when the health service says SERVING")


class PolicyNotFound(Unanswerable):
    """The catalogue has no such policy."""

    def __init__(self, policy_id: str) -> None:
        super().__init__(f'no policy "{policy_id}"; ListPolicies tells which there are')


class NoDefaultPolicy(Unanswerable):
    """The request names no policy, and the catalogue has no default one."""

    def __init__(self) -> None:
        super().__init__("the request names no policy and the catalogue has no default_policy; name one in policy_id")


class StatelessModeOff(Unanswerable):
    """The request brings its own candidates and policy to a server that was not started for it."""

    def __init__(self) -> None:
        super().__init__(
            "stateless mode is off: name a policy of the served catalogue, or start the server with --stateless"
        )


class InvalidRequest(Unanswerable):
    """Fields that make no sense, all of them, each by its place in the message that asked."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(str(problem) for problem in self.problems))


def random_trace_id() -> str:
    """32 random hex digits."""
    return secrets.token_hex(16)


class Router:
    """Answers asks on the served snapshot. `clock` gives the instant in ms, `new_trace_id` an id for each decision."""

    def __init__(
        self,
        served: Served,
        clock: Callable[[], int],
        *,
        new_trace_id: Callable[[], str] = random_trace_id,
        stateless: bool = False,
    ) -> None:
        self._served = served
        self._clock = clock
        self._new_trace_id = new_trace_id
        self._stateless = stateless

    def decide(self, ask: Ask) -> Answer:
        """Where the request may go. Raises Unanswerable."""
        index, policy, version = self._ground(ask)
        now = self._clock()
        return Answer(decide(index, policy, ask.request, now), self._new_trace_id(), version, now)

    def explain(self, ask: Ask) -> Explained:
        """The decision that `decide` would take, told in full; changes nothing. Raises Unanswerable."""
        index, policy, version = self._ground(ask)
        now = self._clock()
        return Explained(explain(index, policy, ask.request, now), version, now)

    def catalog(self) -> Snapshot:
        """The snapshot served now. Raises CatalogNotLoaded."""
        snapshot = self._served.snapshot
        if snapshot is None:
            raise CatalogNotLoaded
        return snapshot

    def _ground(self, ask: Ask) -> tuple[Index, Policy, str]:
        """What the decision stands on: one index, one policy, one version."""
        if ask.inline is not None:
            return self._inline_ground(ask.inline, ask.policy_id)
        snapshot = self.catalog()
        policy_id = ask.policy_id or snapshot.content.default_policy
        if not policy_id:
            raise NoDefaultPolicy
        policy = snapshot.policies.get(policy_id)
        if policy is None:
            raise PolicyNotFound(policy_id)
        return snapshot.index, policy, snapshot.version

    def _inline_ground(self, inline: Inline, policy_id: str) -> tuple[Index, Policy, str]:
        if not self._stateless:
            raise StatelessModeOff
        if policy_id:
            raise InvalidRequest(
                [Problem("policy_id", "an inline policy excludes a served one", "leave out policy_id or inline")]
            )
        try:
            return Index(inline.candidates), inline.policy, ""
        except InvalidValue as invalid:
            raise InvalidRequest(problem.under("inline.candidates") for problem in invalid.problems) from None
