"""Decision, Refusal and Explanation: what the engine answers (docs/decision.md, What a decision says).

These are made for every request, so they are msgspec's structs: frozen values that are made at the speed of C.
"""

from __future__ import annotations

import msgspec

from router_service.domain.endpoint import Endpoint
from router_service.domain.reasons import REFUSALS

# The terms of the score, in the order of its formula.
TERMS = ("task_fit", "language_fit", "documentation", "sovereignty", "price", "latency", "error_rate")


class Term(msgspec.Struct, frozen=True):
    """One term of a score: `raw` as computed, `weighted` as an integer of 10⁻⁹, the weight's sign included."""

    raw: float
    weighted: int


class Score(msgspec.Struct, frozen=True):
    """A score as an integer of 10⁻⁹, the exact sum of its terms, which stand in the order of `TERMS`."""

    total: int
    terms: tuple[Term, ...]


class Remembering(msgspec.Struct, frozen=True, dict=True):
    """A value beside which a door may keep what it made of it, so that it is made once and dies with it."""

    @property
    def forms(self) -> dict[str, bytes]:
        """The forms by the door's name for them; they have no part in what the value is, nor in its equality."""
        return self.__dict__


class Standing(Remembering, frozen=True, dict=True):
    """An endpoint and its score among a set of survivors; the same for every request that leaves this set."""

    endpoint: Endpoint
    score: Score


class Candidate(msgspec.Struct, frozen=True):
    """One place of the failover list. `estimated_cost` in 10⁻¹² of the currency; None is absent, which is not zero."""

    standing: Standing
    estimated_cost: int | None
    need_ms: int
    allowance_ms: int | None

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint to call."""
        return self.standing.endpoint

    @property
    def endpoint_id(self) -> str:
        """Its id."""
        return self.standing.endpoint.endpoint_id

    @property
    def score(self) -> Score:
        """What it was ranked by."""
        return self.standing.score


class Verdict(Remembering, frozen=True, kw_only=True, dict=True):
    """What a decision and a refusal both say of the request and of the pool.

    `reasons` counts the excluded endpoints by their first reason, in the filter's order.
    """

    policy_id: str
    requested_model: str
    resolved_model: str
    steps: tuple[str, ...]
    approximate: bool
    pinned: bool
    effective_residency: str
    retention: str
    considered: int
    excluded: int
    reasons: dict[str, int]


class Decision(Verdict, frozen=True, kw_only=True):
    """The whole failover list, best first, and the sentence that tells why."""

    candidates: tuple[Candidate, ...]
    sentence: str


class Refusal(Verdict, frozen=True, kw_only=True):
    """No endpoint may serve the request: the literal `code`, what to tell the user, and when to ask again.

    `retry_at` is the instant (ms) of the soonest chance, where the refusal is transient and one is known.
    """

    code: str
    message: str
    close_slugs: tuple[str, ...] = ()
    retry_at: int | None = None

    @property
    def transient(self) -> bool:
        """Whether the same request may succeed later without anybody changing anything."""
        return REFUSALS[self.code].transient

    @property
    def http_status(self) -> int:
        """The status for a proxy to pass on."""
        return REFUSALS[self.code].http_status


class Match(msgspec.Struct, frozen=True):
    """Which entry of which list of the policy matched an endpoint, and by which of its names."""

    list_name: str
    entry: str
    name: str


class Exclusion(msgspec.Struct, frozen=True):
    """One rule that refuses an endpoint: its literal reason, and the numbers or names behind it."""

    reason: str
    detail: str


class EndpointExplanation(msgspec.Struct, frozen=True, kw_only=True):
    """Why one endpoint is in or out: every rule that refuses it in the filter's order, or its rank from 1 and score.

    `attempt` is its place in the failover list from 1, None where it has none.
    """

    endpoint: Endpoint
    refused_by: tuple[Exclusion, ...]
    matches: tuple[Match, ...]
    rank: int | None
    score: Score | None
    attempt: int | None
    estimated_cost: int | None
    need_ms: int


class Explanation(msgspec.Struct, frozen=True):
    """The result word for word as Decide gives it, and every endpoint of the pool: by rank, then the refused by id."""

    result: Decision | Refusal
    endpoints: tuple[EndpointExplanation, ...]
