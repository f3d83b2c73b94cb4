"""What goes into the router and what comes out of it, and why a request may have no answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from router_service.domain.caller import LOCAL_ID, Caller
from router_service.domain.decision import Decision, Explanation, Refusal
from router_service.domain.endpoint import Endpoint
from router_service.domain.overlay import Figure
from router_service.domain.policy import Policy
from router_service.domain.problems import Problem
from router_service.domain.request import RouteRequest, Stated
from router_service.domain.workload import Joined
from router_service.policies.budgets import Budgets
from router_service.store.interface import Store
from router_service.traces.record import Codec
from router_service.traces.recorder import Recorder
from router_service.traces.reports import Reports


@dataclass(frozen=True, slots=True)
class Inline:
    """Candidates and a policy that a request brings instead of naming the served ones."""

    candidates: tuple[Endpoint, ...]
    policy: Policy


class Named(msgspec.Struct, frozen=True):
    """The workload that a request names, `name` or `name@version`, and what the request states itself."""

    workload: str
    own: Stated


class Ask(msgspec.Struct, frozen=True):
    """A request under a policy of the catalogue (empty: its default one), or under one that it brings.

    Where it names a workload, `request` is its own part alone, and the router joins the two.
    """

    request: RouteRequest
    policy_id: str = ""
    inline: Inline | None = None
    data_class: str = ""
    operation_id: str = ""
    named: Named | None = None


class Answer(msgspec.Struct, frozen=True):
    """What was decided, on which version of the catalogue (empty where the request brought its own)."""

    result: Decision | Refusal
    trace_id: str
    catalog_version: str
    now: int


@dataclass(frozen=True, slots=True)
class Explained:
    """A decision told in full: of a request, which takes none and has no trace, or of a trace again.

    `joined` is what it became together with the workload that it named, if it did; `figures` are by endpoint_id what
    was not the catalogue's. `hidden` endpoints of the pool are left out, since no policy of the caller's admits them.
    """

    explanation: Explanation
    catalog_version: str
    now: int
    trace_id: str = ""
    joined: Joined | None = None
    figures: Mapping[str, tuple[Figure, ...]] = field(default_factory=dict)
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """What a router keeps of its decisions, in a store."""

    store: Store
    recorder: Recorder
    reports: Reports
    budgets: Budgets
    codec: Codec

    @classmethod
    def of(cls, store: Store, codec: Codec, dropped: Callable[[int], None]) -> Memory:
        """All that stands on one store. `dropped` is told how many traces could not be kept."""
        budgets = Budgets(store)
        # A report finds the reservation of every trace that it finds.
        recorder = Recorder(store, codec, dropped, budgets.leases.flush)
        return cls(store, recorder, Reports(store, recorder), budgets, codec)


class Unanswerable(Exception):
    """A request that cannot be answered; every kind says what to do about it."""


class CatalogNotLoaded(Unanswerable):
    """No catalogue has been loaded yet."""

    def __init__(self) -> None:
        super().__init__("no catalogue has been loaded yet; ask again when the health service says SERVING")


class Draining(Unanswerable):
    """The server is on its way out."""

    def __init__(self) -> None:
        super().__init__("the server is on its way out: ask another, or again in a moment")


class LimitReached(Unanswerable):
    """A limit of the server's own is reached; `limit` is what its metric calls it (docs/limits.md)."""

    def __init__(self, limit: str, what: str) -> None:
        super().__init__(what)
        self.limit = limit


class PolicyNotFound(Unanswerable):
    """The catalogue has no such policy, or it is not the caller's."""

    def __init__(self, policy_id: str) -> None:
        super().__init__(f'no policy "{policy_id}"; ListPolicies tells which there are')


class WorkloadNotFound(Unanswerable):
    """The catalogue has no such workload, or not in this version, or it is not the caller's."""

    def __init__(self, named: str) -> None:
        super().__init__(f'no workload "{named}"; ListWorkloads tells which there are, and in which versions')


class NoDefaultPolicy(Unanswerable):
    """The request names no policy, and there is no default one that is the caller's."""

    def __init__(self) -> None:
        super().__init__("the request names no policy and there is no default one; name one in policy_id")


class StatelessModeOff(Unanswerable):
    """The request brings its own candidates and policy, and the server or the caller is not meant to."""

    def __init__(self) -> None:
        super().__init__(
            "stateless mode is off: name a policy of the served catalogue, or start the server with --stateless"
            " (where callers are told apart, it also takes stateless: true in the callers file)"
        )


class InvalidRequest(Unanswerable):
    """Fields that make no sense, all of them, each by its place in the message that asked."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(str(problem) for problem in self.problems))


class EndpointNotFound(Unanswerable):
    """The catalogue has no such endpoint, or no policy of the caller's admits it."""

    def __init__(self, endpoint_id: str) -> None:
        super().__init__(f'no endpoint "{endpoint_id}"; ListEndpoints tells which there are')


class Unauthenticated(Unanswerable):
    """The call brings no credential that the server knows. `challenge` is the scheme, as in WWW-Authenticate."""

    def __init__(self, what: str, challenge: str) -> None:
        super().__init__(
            f"{what}; send the metadata authorization: Bearer TOKEN, or connect with the certificate of a caller"
        )
        self.challenge = challenge


class RoleMissing(Unanswerable):
    """The caller lacks a role."""

    def __init__(self, roles: Iterable[str], caller: Caller) -> None:
        asked = " or ".join(roles)
        cure = (
            f"a local caller has it where the server was started with --local-{asked}"
            if caller.caller == LOCAL_ID
            else f"the callers file gives {caller.caller} other roles"
        )
        super().__init__(f"the call needs the role {asked}; {cure}")
        self.caller = caller


class AuditUnavailable(Unanswerable):
    """The action was not done, since it could not be written to the audit log."""

    def __init__(self) -> None:
        super().__init__("the action was not done: it cannot be written to the audit log; the server's log says why")


class CatalogRejected(Unanswerable):
    """What was to be loaded is no valid catalogue; the last good version goes on serving.

    The problems are told to callers of every policy alone, since they may name any.
    """

    def __init__(self, problems: Sequence[str], caller: Caller) -> None:
        told = "; ".join(problems) if caller.policies is None else f"{len(problems)} problems, which its log tells"
        super().__init__(f"the catalogue is not valid, the last good version goes on serving: {told}")


class LoadingFailed(Unanswerable):
    """The catalogue could not be loaded; the last good version goes on serving.

    Why is for the log alone: the last words of the process that loads may be anything.
    """

    def __init__(self) -> None:
        super().__init__(
            "loading failed, the last good version goes on serving; it is tried again, and the server's log tells why"
        )


class TraceNotFound(Unanswerable):
    """There is no such trace, it is no longer kept, or it is not the caller's to read, or to report on."""

    def __init__(self, trace_id: str) -> None:
        super().__init__(f'no trace "{trace_id}": it never was, or its retention is over')


class CatalogNotKept(Unanswerable):
    """The catalogue that a trace was made on is not kept, so it cannot be explained again."""

    def __init__(self, version: str) -> None:
        super().__init__(f"the catalogue of that trace, version {version}, is not kept: the store may have lost it")


class EndpointNotListed(Unanswerable):
    """A report names endpoints that the decision did not list."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(str(problem) for problem in self.problems))


class StoreUnavailable(Unanswerable):
    """The store that holds what was asked for is lost for now.

    Why is for the log alone: it names the store's address or file.
    """

    def __init__(self) -> None:
        super().__init__("the store is lost for now: ask again in a moment; the server's log tells why")


class NoStore(Unanswerable):
    """The server was started without a store."""

    def __init__(self) -> None:
        super().__init__("this server keeps no traces: start it with --store")
