"""Route: what the operator wrote where Envoy asks. It goes before what a client says, and sets what that may name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from router_service.domain.fields import unknown_field
from router_service.domain.problems import InvalidValue, Problem
from router_service.domain.readers import Text
from router_service.domain.request import Stated
from router_service.domain.workload import LABEL
from router_service.wire.envoy.errors import RouteMisconfigured
from router_service.wire.envoy.keys import (
    BESIDE,
    CLUSTERS,
    CONTEXT_ONLY,
    DATA_CLASS,
    FIELDS,
    POLICIES,
    POLICY,
    WORKLOAD,
    WORKLOADS,
)
from router_service.wire.envoy.texts import listed, placed, raw_of

PLACE = "context_extensions."
KNOWN = dict.fromkeys((*FIELDS, *BESIDE, *CONTEXT_ONLY))
NAME, CLASS = Text(), Text(folded=True)
_READERS = {POLICY: NAME, POLICIES: NAME, WORKLOAD: LABEL, WORKLOADS: LABEL, DATA_CLASS: CLASS}


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """What a route's context says; empty is nothing.

    `fields` are texts by name. A client may name those of `policies` and `workloads` alone, the route's own among them.
    `clusters` are those that Envoy has, None where the context does not tell.
    """

    fields: Mapping[str, str] = {}
    policy: str = ""
    workload: str = ""
    data_class: str = ""
    policies: frozenset[str] = frozenset()
    workloads: frozenset[str] = frozenset()
    clusters: frozenset[str] | None = None

    @classmethod
    def read(cls, context: Mapping[str, str], place: str = PLACE) -> Route:
        """The route of a context. Raises RouteMisconfigured with every problem, each at `place` and its key."""
        problems = [_unknown(key, place) for key in context if key not in KNOWN]
        fields = {key: text for key, text in context.items() if key in FIELDS and text.strip()}
        try:
            Stated.read(raw_of(fields))
        except InvalidValue as invalid:
            problems += [placed(problem, {}, place) for problem in invalid.problems]
        said = {key: _read(key, context[key], place, problems) for key in (*BESIDE, *CONTEXT_ONLY) if key in context}
        if problems:
            raise RouteMisconfigured(problems)
        policy, workload = said.get(POLICY, ()), said.get(WORKLOAD, ())
        return cls(
            fields=fields,
            policy="".join(policy),
            workload="".join(workload),
            data_class="".join(said.get(DATA_CLASS, ())),
            policies=frozenset((*said.get(POLICIES, ()), *policy)),
            workloads=frozenset((*said.get(WORKLOADS, ()), *workload)),
            clusters=frozenset(said[CLUSTERS]) if CLUSTERS in said else None,
        )


def _unknown(key: str, place: str) -> Problem:
    problem = unknown_field(key, KNOWN)
    return Problem(place + key, problem.message, problem.cure)


def _read(key: str, text: str, place: str, problems: list[Problem]) -> tuple[str, ...]:
    """The entries of a list, or the one entry of what is none; nothing of an empty text."""
    entries: Iterable[str] = listed(text) if key in CONTEXT_ONLY else (text,)
    if not text.strip():
        return ()
    read = []
    for number, entry in enumerate(entries):
        where = f"{place}{key}[{number}]" if key in CONTEXT_ONLY else place + key
        if not entry.strip():
            problems.append(Problem(where, "empty entry", "remove it or fill it in"))
        elif (value := _READERS.get(key, NAME).read(entry, where, problems)) is not None:
            read.append(value)
    return tuple(read)
