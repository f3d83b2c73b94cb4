"""What is asked behind Envoy: the headers of a request, the body's model and the route's context become one Ask.

The context is the operator's and goes before a header, a header before the body. A policy or a workload counts only
where the context lets a client name it, so a header can narrow a request and never widen it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from router_service.asks import Ask, InvalidRequest, Named
from router_service.domain.fields import unknown_field
from router_service.domain.problems import InvalidValue, Problem
from router_service.domain.readers import Reader
from router_service.domain.request import RouteRequest, Stated
from router_service.domain.workload import LABEL
from router_service.engine.cache import Bounded
from router_service.wire.envoy.errors import NotAllowed
from router_service.wire.envoy.keys import (
    ANSWERS,
    BODY_MODEL,
    BODY_UNREADABLE,
    DATA_CLASS,
    FIELDS,
    HEADERS,
    POLICIES,
    POLICY,
    PREFIX,
    REQUEST_ID,
    WORKLOAD,
    WORKLOADS,
)
from router_service.wire.envoy.route import CLASS, NAME, Route
from router_service.wire.envoy.texts import placed, raw_of

BODY = "the body's "
_PLAIN_ID = re.compile("[!-~]{1,256}").fullmatch
REMEMBERED, REMEMBERED_SIZE = 4096, 1024


class _Nameable(msgspec.Struct, frozen=True):
    """What a client may name only where its route lists it: the header, how it is read, and the list of the route."""

    name: str
    reader: Reader
    list_name: str


_POLICY, _WORKLOAD = _Nameable(POLICY, NAME, POLICIES), _Nameable(WORKLOAD, LABEL, WORKLOADS)


class Said(msgspec.Struct, frozen=True):
    """What one request says: its `x-router-` headers in the order of their names, the body's model, and its id."""

    headers: tuple[tuple[str, str], ...]
    model: str = ""
    request_id: str = ""

    @classmethod
    def of(cls, headers: Iterable[tuple[str, str]], body: Mapping[str, Any]) -> Said:
        """What headers say, and what json_to_metadata found in the body. Raises InvalidRequest for a bad body."""
        said, request_id = [], ""
        for header in headers:
            name, value = header
            if name.startswith(PREFIX):
                if name not in ANSWERS:
                    said.append(header)
            elif name == REQUEST_ID:
                request_id = value
        if len(said) > 1:
            said.sort()
        return cls(tuple(said), _model(body) if body else "", request_id)


class AskReader:
    """Reads asks; what was said before, on the same route, is read once. The memory is bounded in number and size."""

    def __init__(self) -> None:
        # An entry holds its route, so that no other can have its identity meanwhile.
        self._known: Bounded[tuple[Any, ...], tuple[Route, Ask]] = Bounded(REMEMBERED)

    def read(self, route: Route, said: Said) -> Ask:
        """What is asked. Raises InvalidRequest with every problem, each by its header, or NotAllowed."""
        key = (id(route), said.headers, said.model)
        known = self._known.get(key)
        if known is None:
            known = route, _read(route, said)
            if sum(len(name) + len(value) for name, value in said.headers) + len(said.model) <= REMEMBERED_SIZE:
                self._known[key] = known
        return identified(known[1], said.request_id)


def _read(route: Route, said: Said) -> Ask:
    problems: list[Problem] = []
    texts = {HEADERS[header]: value for header, value in said.headers if header in HEADERS}
    problems += [unknown_field(header, HEADERS) for header, _ in said.headers if header not in HEADERS]
    places = {name: PREFIX + name for name in texts}
    fields = {name: text for name, text in texts.items() if name in FIELDS and text.strip()}
    if said.model and "model" not in fields:
        fields["model"], places["model"] = said.model, BODY + "model"
    fields |= route.fields
    named: Named | None = None
    request: RouteRequest | None = None
    refused: list[Problem] = []
    policy = _named(texts.get(POLICY, ""), _POLICY, route.policies, refused, problems) or route.policy
    workload = _named(texts.get(WORKLOAD, ""), _WORKLOAD, route.workloads, refused, problems) or route.workload
    if refused:
        raise NotAllowed(refused)
    data_class = route.data_class or CLASS.read(texts.get(DATA_CLASS, ""), PREFIX + DATA_CLASS, problems) or ""
    try:
        if workload:
            own = Stated.read(raw_of(fields))
            named, request = Named(workload, own), own.alone
        else:
            request = RouteRequest.read(raw_of(fields))
    except InvalidValue as invalid:
        problems += [placed(problem, places, PREFIX) for problem in invalid.problems]
    if problems or request is None:
        raise InvalidRequest(problems)
    return Ask(request, policy, data_class=data_class, named=named)


def _named(sent: str, kind: _Nameable, allowed: frozenset[str], refused: list[Problem], problems: list[Problem]) -> str:
    """The policy or the workload that a client names, where it may."""
    if not sent.strip():
        return ""
    value = kind.reader.read(sent, PREFIX + kind.name, problems)
    if value is not None and value not in allowed:
        cure = f"leave the header out, or have the operator add it to the route's {kind.list_name}"
        refused.append(Problem(PREFIX + kind.name, f'this route lets no client name "{value}"', cure))
    return value or ""


def identified(ask: Ask, request_id: str) -> Ask:
    """The ask as the operation of the request's id, where that has one. Raises InvalidRequest."""
    if not request_id:
        return ask
    if not _PLAIN_ID(request_id):
        problems: list[Problem] = []
        request_id = NAME.read(request_id, REQUEST_ID, problems) or ""
        if problems:
            raise InvalidRequest(problems)
    return Ask(ask.request, ask.policy_id, ask.inline, ask.data_class, request_id, ask.named)


def _model(body: Mapping[str, Any]) -> str:
    """The model that json_to_metadata found in the body."""
    if body.get(BODY_UNREADABLE):
        cure = "send one JSON object, whole numbers of at most 64 bits"
        raise InvalidRequest([Problem("body", "Envoy cannot read it as JSON", cure)])
    model = body.get(BODY_MODEL, "")
    if not isinstance(model, str):
        raise InvalidRequest([Problem(BODY + "model", "it is no text", "name the model as a string")])
    return model


def by_header(error: InvalidRequest) -> InvalidRequest:
    """The same problems of a router, which names the fields of a request, by their headers."""
    return InvalidRequest([placed(problem, {}, PREFIX) for problem in error.problems])
