"""Decision, Refusal and Explanation: what the engine answers (docs/decision.md, What a decision says)."""

from __future__ import annotations

from dataclasses import dataclass

from router_service.domain.reasons import REFUSALS

# The terms of the score, in the order of its formula.
TERMS = ("task_fit", "language_fit", "documentation", "sovereignty", "price", "latency", "error_rate")


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a score: `raw` as computed, `weighted` as an integer of 10⁻⁹, the weight's sign included."""

    raw: float
    weighted: int


@dataclass(frozen=True, slots=True)
class Score:
    """A score as an integer of 10⁻⁹, the exact sum of its terms, which stand in the order of `TERMS`."""

    total: int
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One place of the failover list. `estimated_cost` in 10⁻¹² of the currency; None is absent, which is not zero."""

    endpoint_id: str
    model: str
    model_version: str
    provider: str
    region: str
    country: str
    sovereignty: str
    score: Score
    estimated_cost: int | None
    need_ms: int
    allowance_ms: int | None
    context_window: int | None
    max_output_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Verdict):
    """The whole failover list, best first, and the sentence that tells why."""

    candidates: tuple[Candidate, ...]
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal(Verdict):
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


@dataclass(frozen=True, slots=True)
class Match:
    """Which entry of which list of the policy matched an endpoint, and by which of its names."""

    list_name: str
    entry: str
    name: str


@dataclass(frozen=True, slots=True)
class Exclusion:
    """One rule that refuses an endpoint: its literal reason, and the numbers or names behind it."""

    reason: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointExplanation:
    """Why one endpoint is in or out: every rule that refuses it in the filter's order, or its rank from 1 and score.

    `attempt` is its place in the failover list from 1, None where it has none.
    """

    endpoint_id: str
    model: str
    provider: str
    region: str
    country: str
    sovereignty: str
    refused_by: tuple[Exclusion, ...]
    matches: tuple[Match, ...]
    rank: int | None
    score: Score | None
    attempt: int | None
    estimated_cost: int | None
    need_ms: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """The result word for word as Decide gives it, and every endpoint of the pool: by rank, then the refused by id."""

    result: Decision | Refusal
    endpoints: tuple[EndpointExplanation, ...]
