"""The board of one instance: what no decision may list at each millisecond, places, overlays, and what it forgets."""

from __future__ import annotations

import random

import pytest

from router_service.domain.overlay import Overlay
from router_service.domain.thresholds import Thresholds
from router_service.engine.held import NOTHING, Held
from router_service.engine.index import Index
from router_service.engine.slices import made_of
from router_service.health.board import Board
from router_service.health.kept import decode
from router_service.health.state import blocked_until
from router_service.store.interface import State
from tests.builders import endpoint
from tests.health.events import DEFAULTS, NOW, SECOND, seen

INDEX = Index([endpoint("a@x"), endpoint("b@x"), endpoint("c@x")])
OPEN = DEFAULTS.open_ms
PLACE = DEFAULTS.probe_ms


def told(board: Board, endpoint_id: str, effects: str, now: int = NOW, **fields: object) -> None:
    """What was reported of an endpoint, all at `now`."""
    for effect in effects.split():
        board.observe(endpoint_id, seen(effect, now, **fields), now)


def opened(endpoint_id: str = "a@x", instance: str = "") -> Board:
    """One whose endpoint failed five times at NOW."""
    board = Board(instance)
    told(board, endpoint_id, "failure " * 5)
    return board


def out(board: Board, now: int, index: Index = INDEX) -> dict[str, int]:
    return board.held(index, now).by_id(index)


def test_nothing_is_held_while_nothing_went_wrong() -> None:
    board = Board()
    told(board, "a@x", "success failure success none")
    assert board.held(INDEX, NOW) is NOTHING
    assert board.all_held(INDEX, (), NOW) is NOTHING
    assert board.is_quiet


def test_an_open_circuit_is_held_to_the_millisecond() -> None:
    board = opened()
    assert out(board, NOW) == out(board, NOW + OPEN - 1) == {"a@x": NOW + OPEN}
    assert board.half_open(["a@x", "b@x"], NOW + OPEN - 1) == []
    assert out(board, NOW + OPEN) == {}
    assert board.half_open(["a@x", "b@x", "nobody's"], NOW + OPEN) == ["a@x"]


def test_a_pause_is_held_to_the_millisecond_beside_a_circuit() -> None:
    board = opened()
    told(board, "b@x", "suppressed", suppress_for_ms=OPEN + 1)
    assert out(board, NOW) == {"a@x": NOW + OPEN, "b@x": NOW + OPEN + 1}
    assert out(board, NOW + OPEN) == {"b@x": NOW + OPEN + 1}
    assert out(board, NOW + OPEN + 1) == {}


def test_what_is_held_is_worked_out_anew_at_whatever_instant_the_clock_says() -> None:
    """The same questions in any order get the answers of a board that is asked for the first time."""
    rng = random.Random(5)
    board = Board()
    told(board, "a@x", "failure " * 5)
    told(board, "b@x", "suppressed", suppress_for_ms=700)
    told(board, "c@x", "suppressed", NOW + 3, suppress_for_ms=90_000)
    board.take("a@x", "t", NOW + OPEN)
    marks = [NOW + one for one in (0, 700, 1000, OPEN, OPEN + PLACE, 90_003, -OPEN // 2, -200_000)]
    for _ in range(3000):
        now = rng.choice(marks) + rng.choice([-1, 0, 1])
        ends = {one: blocked_until(board.health(one), now, DEFAULTS) for one in ("a@x", "b@x", "c@x")}
        assert out(board, now) == {one: end for one, end in ends.items() if end is not None}, now - NOW


def test_endpoints_that_the_index_lacks_are_nobodys_and_are_known_when_it_has_them() -> None:
    board = opened("new@x")
    assert board.held(INDEX, NOW) == NOTHING
    assert board.all_held(INDEX, (), NOW + OPEN) == NOTHING
    index = Index([endpoint("a@x"), endpoint("new@x")])
    assert out(board, NOW, index) == {"new@x": NOW + OPEN}
    assert out(board, NOW) == {}


def test_what_an_index_says_itself_is_not_held_again() -> None:
    board = opened()
    says = Index([endpoint("a@x", suppressed_until=NOW + OPEN)])
    assert out(board, NOW, says) == {}
    says_less = Index([endpoint("a@x", suppressed_until=NOW + OPEN - 1)])
    assert out(board, NOW, says_less) == {"a@x": NOW + OPEN}


def test_a_half_open_endpoint_has_as_many_places_as_there_may_be() -> None:
    board, now = opened(), NOW + OPEN
    board.thresholds = Thresholds(probes=2)
    assert board.take("a@x", "t1", now)
    assert out(board, now) == {}
    assert board.take("a@x", "t1", now)
    assert board.take("a@x", "t2", now + 5)
    assert not board.take("a@x", "t3", now + 5)
    assert out(board, now + 5) == {"a@x": now + PLACE}
    board.leave("t2", (), now + 6)
    board.leave("t3", (), now + 6)
    assert board.take("a@x", "t3", now + 6)
    assert out(board, now + PLACE - 1) == {"a@x": now + PLACE}
    assert out(board, now + PLACE) == {}
    assert board.take("a@x", "t4", now + PLACE)


def test_a_place_is_left_but_where_it_is_of_use() -> None:
    board, now = opened(), NOW + OPEN
    told(board, "b@x", "failure " * 5)
    assert board.take("a@x", "t", now)
    assert board.take("b@x", "t", now)
    board.leave("t", ["a@x"], now)
    assert out(board, now) == {"a@x": now + PLACE}
    told(board, "a@x", "none", now, trace_id="t")
    assert out(board, now) == {}


def test_a_closed_endpoint_needs_no_place() -> None:
    board = Board("one")
    assert board.take("a@x", "t", NOW)
    assert board.agreed("a@x", "t")
    assert board.unshared(10) == []


def test_all_that_needs_a_place_is_held_but_where_a_decision_has_one() -> None:
    board, now = opened(), NOW + OPEN + 7
    told(board, "b@x", "failure " * 5)
    told(board, "c@x", "suppressed", now, suppress_for_ms=5000)
    assert board.take("a@x", "mine", now)
    held = board.all_held(INDEX, {"a@x"}, now)
    until = held.by_id(INDEX)
    assert until.keys() == {"b@x", "c@x"}
    assert now < until["b@x"] <= now + SECOND
    assert until["c@x"] == now + 5000
    assert board.all_held(INDEX, {"a@x"}, now + 1) == held
    others = board.all_held(INDEX, (), now).by_id(INDEX)
    assert others["a@x"] == now + PLACE


@pytest.mark.parametrize(("probes", "free"), [(1, False), (3, True)])
def test_a_catalogue_with_other_thresholds_is_obeyed_at_once(probes: int, free: bool) -> None:
    board, now = opened(), NOW + OPEN
    assert board.take("a@x", "t", now)
    assert out(board, now) == {"a@x": now + PLACE}
    board.thresholds = Thresholds(probes=probes, open_ms=5000)
    index = Index([endpoint("a@x")])
    assert out(board, now, index) == ({} if free else {"a@x": now + PLACE})
    told(board, "b@x", "failure " * 5, now)
    assert board.health("b@x").circuit.opened is not None
    assert blocked_until(board.health("b@x"), now, board.thresholds) == now + 5000


def test_an_overlay_in_slices_while_events_come_is_whole_and_the_next_one_has_them() -> None:
    board = Board()
    ids = [f"e{number:03}" for number in range(200)]
    for one in ids:
        told(board, one, "success " * 5, latency_ms=100)
    slices = board.overlay(NOW)
    for number, _ in enumerate(slices):
        told(board, ids[number * 30], "failure " * 5)
        told(board, f"new{number}", "failure " * 5)
    overlay = made_of(board.overlay(NOW))
    assert {one for one in overlay.differences if one.startswith("new")} == {f"new{number}" for number in range(7)}
    assert len(overlay.differences) == 207
    shut = {one for one, difference in overlay.differences.items() if difference.suppressed_until is not None}
    assert shut == {one for one in overlay.differences if one.startswith("new")} | {ids[n * 30] for n in range(7)}


def test_an_overlay_leaves_half_open_endpoints_to_each_decision() -> None:
    board = opened()
    told(board, "b@x", "failure " * 5)
    told(board, "b@x", "suppressed", NOW + 1, suppress_for_ms=OPEN + 1000)
    board.take("a@x", "t", NOW + OPEN)
    differences = made_of(board.overlay(NOW + OPEN + 2)).differences
    assert differences["a@x"].suppressed_until is None
    assert differences["b@x"].suppressed_until == NOW + OPEN + 1001


def test_what_says_nothing_any_more_is_forgotten() -> None:
    board, now = Board("one"), NOW + DEFAULTS.forget_ms
    told(board, "a@x", "success suppressed", suppress_for_ms=40_000)
    told(board, "b@x", "success")
    [a, b] = board.unshared(9)
    board.merge(State("a@x", 1, a.body))
    assert not board.is_quiet
    assert made_of(board.overlay(now - 1)) == Overlay()
    assert not board.is_quiet
    made_of(board.overlay(now))
    assert board.is_quiet
    assert board.health("a@x").reported_at is None
    # What no store has yet stays.
    assert board.unshared(9) == [b]


def test_a_status_by_hand_is_urgent_here_and_elsewhere() -> None:
    here, there = Board("here"), Board("there")
    here.set_by_hand("a@x", "maintenance", "disk", NOW)
    assert here.urgent
    [change] = here.unshared(9)
    there.merge(State("a@x", 1, change.body))
    assert there.urgent
    assert made_of(there.overlay(NOW)).differences["a@x"].status == "maintenance"
    there.urgent = False
    told(there, "a@x", "success")
    assert not there.urgent
    there.set_by_hand("a@x", "", "", NOW + 1)
    assert there.urgent
    assert "a@x" not in made_of(there.overlay(NOW)).differences


def test_of_more_events_than_are_told_apart_none_is_lost_where_nobody_else_wrote() -> None:
    board = Board("one")
    told(board, "a@x", "success " * 3000)
    [change] = board.unshared(9)
    told(board, "a@x", "success " * 3000)
    board.merge(State("a@x", 1, change.body))
    assert board.health("a@x").errors.count >= 3000 + 1024
    [change] = board.unshared(9)
    board.merge(State("a@x", 2, change.body))
    assert board.unshared(9) == []
    assert decode(change.body).health == board.health("a@x")


def test_a_board_that_shares_with_nobody_keeps_no_events() -> None:
    board = opened()
    assert board.unshared(9) == []
    assert isinstance(board.held(INDEX, NOW), Held)
