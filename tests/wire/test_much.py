"""Messages that are wrong in thousands of places: enough of them are named, and how many there are."""

from __future__ import annotations

import pytest

from router_service.asks import InvalidRequest
from router_service.domain.problems import Problem
from router_service.domain.readers import LIST_MAX, NAMED_MAX, TEXT_MAX
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.report_pb2 import Attempt, Report
from router_service.v1.route_pb2 import RouteRequest
from router_service.wire.read import LARGE, UNKNOWN_BYTES, UNKNOWN_LOOKED_AT, AskReader, parse
from router_service.wire.report import read_report

UNKNOWN = bytes.fromhex("f83f01")  # field 1023


def problems_of(raw: bytes) -> tuple[Problem, ...]:
    with pytest.raises(InvalidRequest) as caught:
        AskReader().read(parse(pb.DecideRequest, raw))
    return caught.value.problems


def asking(**fields: object) -> bytes:
    return pb.DecideRequest(request=RouteRequest(**fields)).SerializeToString()


def test_of_a_list_of_wrong_entries_the_first_are_named_and_the_others_counted() -> None:
    problems = problems_of(asking(regions=["a\x01"] * LIST_MAX))
    assert [one.field for one in problems[:2]] == ["request.regions[0]", "request.regions[1]"]
    assert len(problems) == NAMED_MAX + 1
    assert problems[-1].field == "request.regions"
    assert f"{LIST_MAX - NAMED_MAX} more entries" in problems[-1].message
    # A few are all named, and what is wrong in another field too.
    few = problems_of(asking(regions=["a\x01"] * NAMED_MAX, model="m\x01"))
    assert len(few) == NAMED_MAX + 1
    assert {one.field for one in few} >= {"request.model", f"request.regions[{NAMED_MAX - 1}]"}


def test_a_list_that_is_too_long_is_not_looked_into() -> None:
    [problem] = problems_of(asking(regions=["\x01"] * 20_000))
    assert (problem.field, problem.limit) == ("request.regions", "list_length")
    assert "20000 entries" in problem.message


def test_a_text_that_is_too_long_is_named_by_its_length_whatever_is_in_it() -> None:
    [problem] = problems_of(asking(model="\u202e" * 20_000))
    assert (problem.field, problem.limit) == ("request.model", "text_length")
    [padded] = problems_of(asking(model=" " * 1000 + "m" * (TEXT_MAX + 1)))
    assert f"{TEXT_MAX + 1} characters" in padded.message
    fits = AskReader().read(parse(pb.DecideRequest, asking(model=" " * 1000 + "m" * TEXT_MAX)))
    assert fits.request.model == "m" * TEXT_MAX


def test_unknown_fields_are_told_by_number_once_each_and_the_others_counted() -> None:
    [problem] = problems_of(UNKNOWN * 5)
    assert problem.message == "field number 1023 is not known to this server"
    first, rest = problems_of(UNKNOWN * (UNKNOWN_LOOKED_AT + 100))
    assert first == problem
    assert "100 more fields" in rest.message
    different = b"".join(bytes((0x80 | (number << 3 & 0x78), number >> 4, 1)) for number in range(100, 140))
    assert len(problems_of(different)) == 40


def test_kilobytes_of_unknown_fields_are_not_looked_at_one_by_one() -> None:
    [problem] = problems_of(UNKNOWN * LARGE)
    assert f"{3 * LARGE} bytes of fields" in problem.message
    # The same inside of the request, and none of it where the message is large for another reason.
    inner = RouteRequest.FromString(UNKNOWN * LARGE)
    [inside] = problems_of(pb.DecideRequest(request=inner).SerializeToString())
    assert "bytes of fields" in inside.message
    large = asking(exclude_endpoints=[f"{number:0100}" for number in range(LARGE // 50)])
    assert len(AskReader().read(parse(pb.DecideRequest, large)).request.exclude_endpoints) == LARGE // 50
    few = problems_of(large + UNKNOWN)
    assert [one.message for one in few] == ["field number 1023 is not known to this server"]
    assert UNKNOWN_BYTES < LARGE


def test_a_report_of_thousands_of_attempts_is_refused_for_their_number() -> None:
    message = pb.ReportRequest(report=Report(trace_id="0" * 32, outcome="accepted", attempts=[Attempt()] * 8_000))
    with pytest.raises(InvalidRequest) as caught:
        read_report(parse(pb.ReportRequest, message.SerializeToString()))
    assert any("8000 attempts are too many" in str(one) for one in caught.value.problems)
    assert len(caught.value.problems) < 100
