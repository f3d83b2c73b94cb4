"""Requests as callers send them: real token counts (request_shapes.csv) over a seeded mix of everything else.

Where the shared file is not there, a sample of its rows stands in for it.
"""

from __future__ import annotations

import csv
import random
import struct
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from benchmarks.catalogues import SHARED
from router_service.v1 import router_service_pb2 as pb
from router_service.wire.write import write_request

_SHAPES = SHARED / "request_shapes.csv"
# Every 100th row of request_shapes.csv (Azure LLM inference trace 2023, CC-BY-4.0; Mooncake, Apache-2.0).
_SAMPLE: tuple[tuple[int, int], ...] = (
    (1145, 7), (3515, 54), (2733, 12), (1587, 9), (2687, 54), (819, 11), (1914, 11), (2681, 10), (4783, 9),
    (910, 20), (35, 10), (3192, 9), (6512, 12), (206, 181), (181, 132), (243, 14), (1349, 126), (991, 399),
    (1092, 416), (1104, 417), (4108, 65), (426, 108), (4071, 103), (1029, 396), (393, 125), (1122, 587),
    (4077, 63), (27, 152), (201, 146), (1051, 537), (391, 136), (981, 391), (1075, 496), (1044, 708), (405, 88),
    (26888, 458), (24913, 359), (2234, 1166), (3225, 383), (16016, 401), (1900, 564), (5334, 223), (5383, 412),
    (898, 471), (2489, 564), (902, 605), (4818, 352), (7916, 82), (4250, 380), (1540, 10),
)  # fmt: skip

Raw = dict[str, Any]

_TASKS = {"general": 35, "coding": 20, "retrieval": 15, "multilingual": 10, "cheap": 10, "summarisation": 10}
_LANGUAGES = {"": 30, "de": 25, "en": 20, "fr": 15, "mul": 5, "pl": 5}
_RESIDENCIES = {"": 60, "eu-hosted": 20, "eu-owned": 10, "any": 10}
_POLICIES = {"": 30, "eu": 25, "world": 25, "strict": 10, "listed": 10}
_CAPS = (256, 512, 1_024, 2_048, 4_096, 16_384)


@cache
def shapes() -> tuple[str, tuple[tuple[int, int], ...]]:
    """What they are, and pairs of (input tokens, output tokens)."""
    if not _SHAPES.exists():
        return f"{len(_SAMPLE)} sample rows of request_shapes.csv", _SAMPLE
    with _SHAPES.open(encoding="utf-8", newline="") as file:
        rows = tuple((int(row["input_tokens"]), int(row["output_tokens"])) for row in csv.DictReader(file))
    return f"the {len(rows)} rows of request_shapes.csv", rows


def requests(count: int, models: Sequence[str], seed: int = 3) -> Iterator[pb.DecideRequest]:
    """`count` requests, the same for the same arguments; a fifth of them asks for one of `models`."""
    rng = random.Random(seed)
    rows = list(shapes()[1])
    rng.shuffle(rows)
    for number in range(count):
        yield pb.DecideRequest(
            request_id=f"{rng.getrandbits(64):016x}" if rng.random() < 0.5 else "",
            policy_id=_drawn(rng, _POLICIES),
            request=write_request(_request(rng, *rows[number % len(rows)], models)),
        )


def framed(message: bytes) -> bytes:
    """A message as gRPC sends it: not compressed, preceded by its length."""
    return struct.pack(">BI", 0, len(message)) + message


def _request(rng: random.Random, tokens_in: int, tokens_out: int, models: Sequence[str]) -> Raw:
    raw: Raw = {
        "task": _drawn(rng, _TASKS),
        "language": _drawn(rng, _LANGUAGES),
        "residency": _drawn(rng, _RESIDENCIES),
        "input_tokens": tokens_in,
        "output_tokens": next((cap for cap in _CAPS if cap >= tokens_out), tokens_out),
    }
    for share, facts in (
        (0.2, {"model": _model_id(rng, models)}),
        (0.3, {"requires_tools": True}),
        (0.1, {"modalities": ["text", "image"]}),
        (0.15, {"structured_output": rng.choice(("json-object", "json-schema"))}),
        (0.15, {"max_price": rng.choice((1, 2, 5, 10))}),
        (0.05, {"max_cost": rng.choice((0.01, 0.05))}),
        (0.1, {"regions": rng.choice((["DE"], ["EU"], ["eu-*", "fr-par"]))}),
        (0.5, {"expected_output_tokens": tokens_out}),
        # What is left of a caller's time is a different number in nearly every request.
        (0.4, {"deadline_ms": rng.randint(3_000, 60_000)}),
        (0.1, {"max_attempts": rng.randint(1, 3)}),
    ):
        if rng.random() < share:
            raw |= facts
    return raw


def _model_id(rng: random.Random, models: Sequence[str]) -> str:
    """Mostly a slug as it is; sometimes as a provider spells it, and now and then one that nobody has."""
    slug = rng.choice(models)
    return rng.choices((slug, f"openrouter/{slug}", f"{slug}-20260101", f"{slug}-unheard-of"), (70, 15, 10, 5))[0]


def _drawn(rng: random.Random, weights: dict[str, int]) -> str:
    return rng.choices(list(weights), list(weights.values()))[0]
