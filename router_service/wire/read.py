"""Messages become values: every field is read by the domain's own tables, every problem is named at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from google.protobuf.message import DecodeError, Message
from google.protobuf.timestamp_pb2 import Timestamp
from google.protobuf.unknown_fields import UnknownFieldSet

from router_service.asks import Ask, Inline, InvalidRequest, Named
from router_service.domain.endpoint import Endpoint
from router_service.domain.policy import Policy
from router_service.domain.problems import CANDIDATES, InvalidValue, Problem
from router_service.domain.readers import Text
from router_service.domain.request import RouteRequest, Stated
from router_service.domain.workload import LABEL
from router_service.engine.cache import Bounded
from router_service.v1 import router_service_pb2 as pb

INLINE_CANDIDATES_MAX = 1000
_NAME = Text()
_CLASS = Text(folded=True)
_Value = TypeVar("_Value")
_Message = TypeVar("_Message", bound=Message)

LARGE, UNKNOWN_BYTES = 16 * 1024, 4096  # of a larger message no more than so much is looked at field by field
UNKNOWN_LOOKED_AT = 64  # unknown fields whose numbers are named; a message may have thousands
REMEMBERED = 4096
REMEMBERED_SIZE = 512


class AskReader:
    """Reads what is asked; a request that comes again, byte for byte, is read once.

    What makes sense does not depend on any catalogue, so this memory may outlive snapshots. It is bounded in the
    number and in the size of what it holds.
    """

    def __init__(self) -> None:
        self._requests: Bounded[bytes, RouteRequest] = Bounded(REMEMBERED)
        # What a request states that names a workload may make no sense alone, so the two are never mistaken.
        self._named: Bounded[tuple[str, bytes], tuple[Named, RouteRequest]] = Bounded(REMEMBERED)

    def read(self, message: pb.DecideRequest | pb.ExplainRequest) -> Ask:
        """What is asked. Raises InvalidRequest with every field that makes no sense, by its place in the message."""
        key, workload, named = message.request.SerializeToString(), message.workload, None
        request = None if workload else self._requests.get(key)
        problems = unknown_fields(message, "")
        policy_id, data_class, operation_id = message.policy_id, message.data_class, message.operation_id
        if message.request_id:
            _NAME.read(message.request_id, "request_id", problems)
        if policy_id:
            policy_id = _NAME.read(policy_id, "policy_id", problems) or ""
        if data_class:
            data_class = _CLASS.read(data_class, "data_class", problems) or ""
        if operation_id:
            operation_id = _NAME.read(operation_id, "operation_id", problems) or ""
        if workload:
            named, request = self._read_named(message, key, problems)
        elif request is None:
            request = _read(RouteRequest.read, message.request, "request", problems)
            if request is not None and not problems and len(key) <= REMEMBERED_SIZE:
                self._requests[key] = request
        inline = _read_inline(message.inline, problems) if message.HasField("inline") else None
        if problems or request is None:
            raise InvalidRequest(problems)
        return Ask(request, policy_id, inline, data_class, operation_id, named)

    def _read_named(
        self, message: pb.DecideRequest | pb.ExplainRequest, key: bytes, problems: list[Problem]
    ) -> tuple[Named | None, RouteRequest | None]:
        """What is asked under a workload: what the request states, and the request that this would be alone."""
        known = self._named.get((message.workload, key))
        if known is not None:
            return known
        name = LABEL.read(message.workload, "workload", problems)
        if name == "":
            problems.append(Problem("workload", "an empty name", LABEL.pattern_cure))
        own = _read(Stated.read, message.request, "request", problems)
        if own is None or not name:
            return None, None
        named = Named(name, own), own.alone
        if not problems and len(key) <= REMEMBERED_SIZE:
            self._named[message.workload, key] = named
        return named


def parse(kind: type[_Message], raw: bytes) -> _Message:
    """A message of its bytes. Raises InvalidRequest where they are none."""
    try:
        message = kind.FromString(raw)
    except DecodeError:
        problem = Problem("", f"these bytes are no {kind.DESCRIPTOR.full_name}", "send the message of the contract")
        raise InvalidRequest([problem]) from None
    if len(raw) > LARGE:
        _refuse_much_unknown(message)
    return message


def _refuse_much_unknown(message: Message) -> None:
    """Thousands of unknown fields are not looked at one by one, which would hold up others."""
    known = type(message)()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    unknown = message.ByteSize() - known.ByteSize()
    if unknown > UNKNOWN_BYTES:
        what = f"{unknown} bytes of fields that are not known to this server"
        raise InvalidRequest([Problem("message", what, "leave them out, or use a server of a version that has them")])


def fields_of(message: Message) -> dict[str, Any]:
    """The fields that a message really has, by name, as the domain's tables read them (instants in ms)."""
    return {field.name: _plain(value) for field, value in message.ListFields()}


def _plain(value: Any) -> Any:
    if isinstance(value, str | int | float):
        return value
    if not isinstance(value, Timestamp):
        return value  # a list of the message's, whose length is looked at before its entries
    if not 0 <= value.nanos < 10**9:
        return f"{value.seconds} s and {value.nanos} ns"  # for the reader to refuse
    return value.seconds * 1000 + value.nanos // 1_000_000


def _read(
    read: Callable[[Mapping[str, object]], _Value], message: Message, place: str, problems: list[Problem]
) -> _Value | None:
    problems += unknown_fields(message, place)
    try:
        return read(fields_of(message))
    except InvalidValue as invalid:
        problems += [problem.under(place) for problem in invalid.problems]
        return None


def _read_inline(message: pb.Inline, problems: list[Problem]) -> Inline | None:
    problems += unknown_fields(message, "inline")
    if len(message.candidates) > INLINE_CANDIDATES_MAX:
        problems.append(
            Problem(
                "inline.candidates",
                f"{len(message.candidates)} candidates are too many",
                f"bring at most {INLINE_CANDIDATES_MAX}",
                CANDIDATES,
            )
        )
        return None
    if not message.HasField("policy"):
        problems.append(Problem("inline.policy", "missing", "bring the policy to decide under"))
    policy = _read(Policy.read, message.policy, "inline.policy", problems) if message.HasField("policy") else None
    candidates = [
        _read(Endpoint.read, candidate, f"inline.candidates[{number}]", problems)
        for number, candidate in enumerate(message.candidates)
    ]
    problems += _repeated_ids(message)
    read = tuple(candidate for candidate in candidates if candidate is not None)
    return None if policy is None or len(read) < len(candidates) else Inline(read, policy)


def _repeated_ids(message: pb.Inline) -> list[Problem]:
    first: dict[str, int] = {}
    return [
        Problem(
            f"inline.candidates[{number}].endpoint_id",
            f'"{one.endpoint_id}" is that of candidates[{first[one.endpoint_id]}] too',
            "give every endpoint an id of its own",
        )
        for number, one in enumerate(message.candidates)
        if first.setdefault(one.endpoint_id, number) != number
    ]


def unknown_fields(message: Message, place: str) -> list[Problem]:
    """Fields of a later version: one of them may narrow the request, so none is ever passed over in silence."""
    unknown: Any = UnknownFieldSet(message)  # a sequence, which its stub does not say
    count, cure = len(unknown), "leave it out, or use a server of the version that has it"
    if not count:
        return []
    numbers = dict.fromkeys(unknown[at].field_number for at in range(min(count, UNKNOWN_LOOKED_AT)))
    problems = [
        Problem(place or "message", f"field number {number} is not known to this server", cure) for number in numbers
    ]
    if count > UNKNOWN_LOOKED_AT:
        more = f"{count - UNKNOWN_LOOKED_AT} more fields are not known to this server"
        problems.append(Problem(place or "message", more, "leave them out, or use a server of a version that has them"))
    return problems
