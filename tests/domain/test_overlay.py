"""Figures that stand in the place of the catalogue's: what they make of an endpoint, and how they are told."""

from __future__ import annotations

from router_service.domain.overlay import Difference, Figure, Overlay, figures
from tests.builders import NOW, endpoint

RECORDED = endpoint("a@x", latency_ms=1_234_567, error_rate=0.1234567890123, suppressed_until=NOW + 1000)


def test_of_two_suppressions_the_later_end_holds() -> None:
    for until, expected in ((NOW + 999, NOW + 1000), (NOW + 1001, NOW + 1001), (None, NOW + 1000)):
        assert Difference("a@x", suppressed_until=until).over(RECORDED).suppressed_until == expected


def test_what_does_not_differ_stays() -> None:
    assert Difference("a@x").over(RECORDED) == RECORDED
    changed = Difference("a@x", latency_ms=0, error_rate=0.0, status="down").over(RECORDED)
    assert (changed.latency_ms, changed.error_rate, changed.status) == (0, 0.0, "down")


def test_figures_are_told_with_all_their_digits() -> None:
    difference = Difference("a@x", latency_ms=7_654_321, error_rate=0.055, status="up", suppressed_until=NOW + 2000)
    assert figures(RECORDED, difference, NOW + 3000, NOW) == (
        Figure("status", "up", "up", "by_hand"),
        Figure("latency_ms", "7654321", "1234567", "observed"),
        Figure("error_rate", "0.055", "0.1234567890123", "observed"),
        Figure("suppressed_until", "2027-01-15T08:00:03Z", "2027-01-15T08:00:01Z", "circuit"),
    )
    assert figures(endpoint("a@x"), Difference("a@x", error_rate=1.0, latency_ms=0), None, NOW) == (
        Figure("latency_ms", "0", "", "observed"),
        Figure("error_rate", "1", "", "observed"),
    )


def test_a_suppression_that_is_over_is_not_told() -> None:
    over = Difference("a@x", suppressed_until=NOW)
    assert figures(RECORDED, over, None, NOW) == figures(RECORDED, None, NOW - 1, NOW) == ()
    assert len(figures(RECORDED, over, NOW + 1, NOW)) == 1


def test_the_same_differences_have_the_same_version_in_any_order() -> None:
    one, other = Difference("a@x", latency_ms=1), Difference("ä@x", status="down")
    overlay = Overlay([one, other, Difference("c@x")])
    again = Overlay([other, one])
    assert (overlay, overlay.version, overlay.packed) == (again, again.version, again.packed)
    assert Overlay.unpacked(overlay.packed) == overlay
    assert overlay.version != Overlay([one]).version
    assert Overlay([Difference("c@x")]).version == Overlay().version == ""
