"""Sums above a limit, found by chunks, are those that adding up one by one finds."""

from __future__ import annotations

import random

import pytest

from router_service.engine.bits import positions
from router_service.engine.plane import Plane
from router_service.engine.slices import made_of


def _points(rng: random.Random, size: int) -> list[tuple[int, int, int]]:
    at = rng.sample(range(size + 5), size)
    return sorted((rng.choice([0, 3, rng.randrange(1000)]), rng.choice([0, rng.randrange(500)]), one) for one in at)


def _plane(points: list[tuple[int, int, int]], size: int) -> Plane[int]:
    plane = Plane(points, size + 5)
    for _ in plane.compile():
        pass
    return plane


def _check(plane: Plane[int], points: list[tuple[int, int, int]], rng: random.Random) -> None:
    for _ in range(40):
        factor, scale = rng.choice([0, 1, rng.randrange(50)]), rng.choice([0, 1, rng.randrange(50)])
        first, second, _ = rng.choice(points) if points else (0, 0, 0)
        # On a point's own sum, and next to it.
        limit = factor * first + scale * second + rng.choice([-1, 0, 1, rng.randrange(-50, 5000)])
        expected = sorted(at for one, other, at in points if factor * one + scale * other > limit)
        assert list(positions(plane.above(lambda one, by=factor: by * one, limit, scale))) == expected  # type: ignore[misc]


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 300, 3000])
def test_the_sums_above_a_limit_are_those_that_adding_up_finds(size: int) -> None:
    rng = random.Random(size)
    points = _points(rng, size)
    plane = _plane(points, size)
    _check(plane, points, rng)
    changed = {at: rng.randrange(2000) for _, _, at in points if rng.random() < 0.1}
    overlaid = made_of(plane.overlaid(changed))
    _check(overlaid, [(one, changed.get(at, other), at) for one, other, at in points], rng)
    _check(plane, points, rng)
