"""Entries of an access log are joined whatever their order, and what waits for too long or is too much is let go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations

import pytest

from router_service.domain.problems import InvalidValue
from router_service.domain.readers import TEXT_MAX
from router_service.domain.report import ATTEMPTS_MAX
from router_service.envoy.v1 import access_log_pb2 as pb
from router_service.wire.envoy import log
from router_service.wire.envoy.log import Joiner, Whole, report_of
from tests.envoy.entries import NOW, attempt, ended, message_of


def take(joiner: Joiner, *entries: pb.HttpLogEntry, now: int = NOW) -> list[Whole]:
    return list(joiner.take(message_of(*entries), now))


def told(wholes: Sequence[Whole]) -> list[tuple[str, list[str]]]:
    """(operation_id, endpoints of the attempts in order) of each report."""
    reports = [report_of(*whole) for whole in wholes]
    return [(one.operation_id, [attempt.endpoint_id for attempt in one.attempts]) for one in reports]


def test_entries_are_joined_in_whatever_order_they_come() -> None:
    entries = (attempt("r", "a", 503), attempt("r", "b", 200, at=5), ended("r", 2))
    for some in permutations(entries):
        joiner = Joiner()
        assert told([whole for entry in some for whole in take(joiner, entry)]) == [("r", ["a", "b"])]
        assert not joiner.waiting


def test_requests_are_kept_apart() -> None:
    joiner = Joiner()
    assert not take(joiner, attempt("one", "a", 503), attempt("two", "a", 200))
    assert told(take(joiner, ended("two", 1), ended("one", 2))) == [("two", ["a"])]
    assert told(take(joiner, attempt("one", "b", 200, at=5))) == [("one", ["a", "b"])]


def test_a_request_without_a_decision_is_forgotten() -> None:
    joiner = Joiner()
    assert not take(joiner, attempt("r", "a", 200), ended("r", 1, trace_id=""))
    assert not joiner.waiting


def test_a_request_whose_attempts_do_not_come_is_reported_by_what_is_known() -> None:
    joiner = Joiner()
    assert not take(joiner, attempt("r", "a", 503), ended("r", 2))
    assert not take(joiner, now=NOW + log.PATIENCE_MS - 1)
    assert told(take(joiner, now=NOW + 2 * log.PATIENCE_MS)) == [("r", ["a"])]
    assert not joiner.waiting


@pytest.mark.parametrize(
    ("came", "status", "tells", "outcome"),
    [
        ([], 200, ["b 200"], "accepted"),
        ([("a", 503)], 200, ["a 503", "b 200"], "accepted"),
        ([("b", 503)], 200, ["b 503", "b 200"], "accepted"),  # the same endpoint, tried twice
        ([("b", 200)], 200, ["b 200"], "accepted"),
        ([], 503, ["b 503"], "failed"),
    ],
)
def test_of_an_attempt_whose_entry_is_lost_the_request_itself_tells(
    came: list[tuple[str, int]], status: int, tells: list[str], outcome: str
) -> None:
    joiner = Joiner()
    assert not take(joiner, *(attempt("r", *one) for one in came), ended("r", 2, last="b", status=status))
    (whole,) = joiner.rest()
    report = report_of(*whole)
    assert [f"{one.endpoint_id} {one.status_code}" for one in report.attempts] == tells
    assert report.outcome == outcome
    # How long the whole took is not how long its last attempt did.
    assert not any(one.latency_ms for one in report.attempts[len(came) :])


def test_what_is_due_is_looked_for_without_another_message() -> None:
    joiner = Joiner()
    assert not take(joiner, ended("r", 1, last="a", status=200))
    assert not list(joiner.overdue(NOW + log.PATIENCE_MS - 1))
    assert told(list(joiner.overdue(NOW + 2 * log.PATIENCE_MS))) == [("r", ["a"])]


def test_a_request_that_is_not_over_waits_for_as_long_as_it_takes() -> None:
    joiner, late = Joiner(), log.FORGOTTEN_MS - 1
    assert not take(joiner, attempt("r", "a", 503))
    assert not take(joiner, now=NOW + late)
    assert told(take(joiner, attempt("r", "b", 200, at=late), ended("r", 2), now=NOW + late)) == [("r", ["a", "b"])]


def test_attempts_whose_request_ends_elsewhere_are_forgotten() -> None:
    joiner = Joiner()
    assert not take(joiner, attempt("r", "a", 503))
    assert not take(joiner, now=NOW + log.FORGOTTEN_MS)
    assert not joiner.waiting


def test_what_waits_is_bounded() -> None:
    limited: Counter[str] = Counter()
    joiner = Joiner(lambda limit: limited.update([limit]))
    take(joiner, *(attempt(str(number), "a", 503) for number in range(log.PENDING_MAX)))
    assert joiner.waiting == log.PENDING_MAX // 2  # each with its attempt
    assert limited == {"list_length": log.PENDING_MAX // 2}


def test_attempts_without_end_and_ids_without_end_are_let_go_of() -> None:
    limited: Counter[str] = Counter()
    joiner = Joiner(lambda limit: limited.update([limit]))
    take(joiner, *(attempt("r", "a", 503) for _ in range(1_000)))
    assert limited == {"list_length": 1_000 - ATTEMPTS_MAX}
    (whole,) = take(joiner, ended("r", 1_000))
    assert len(report_of(*whole).attempts) == ATTEMPTS_MAX
    take(joiner, attempt("i" * (TEXT_MAX + 1), "a", 503), ended("i" * (TEXT_MAX + 1), 1))
    assert limited["text_length"] == 2
    assert not joiner.waiting


def test_an_endpoint_with_a_name_without_end_makes_its_report_refused() -> None:
    (whole,) = take(Joiner(), attempt("r", "e" * 100_000, 200), ended("r", 1))
    with pytest.raises(InvalidValue, match="257 characters"):
        report_of(*whole)


def test_entries_that_say_nothing_of_a_whole_request_are_passed_over() -> None:
    joiner = Joiner()
    early = ended("r", 1)
    early.common_properties.intermediate_log_entry = True
    nameless = ended("", 1)
    assert not take(joiner, early, nameless)
    assert not joiner.waiting
