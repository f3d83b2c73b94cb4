"""docs/limits.md tells of every limit with the number that holds, its flag and what it is counted as."""

from __future__ import annotations

import dataclasses
import re

import pytest

from router_service.domain.readers import LIST_MAX, TEXT_MAX
from router_service.server import limits
from router_service.server.catalog_service import PAGE_MAX
from router_service.server.turns import FREE
from router_service.wire.read import INLINE_CANDIDATES_MAX
from tests.deploy.monitoring import ROOT

PAGE = (ROOT / "docs/limits.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ")]
KIB, MIB = 1024, 1024 * 1024


def row(*said: str) -> str:
    """The one row that says all of this."""
    found = [line for line in ROWS if all(one in line for one in said)]
    assert len(found) == 1, (said, found)
    return found[0]


@pytest.mark.parametrize("limit", limits.LIMITS)
def test_every_limit_that_is_counted_is_named(limit: str) -> None:
    assert f"`{limit}`" in PAGE


@pytest.mark.parametrize("field", dataclasses.fields(limits.Limits), ids=lambda field: field.name)
def test_every_flag_has_a_row_with_its_default(field: dataclasses.Field[int]) -> None:
    assert f"| {field.default:,}" in row(f"`--max-{field.name.replace('_', '-')}`")


@pytest.mark.parametrize(
    ("said", "number"),
    [
        (("asks for a decision",), f"{limits.ASKING_BYTES // KIB} KiB; {limits.STATELESS_BYTES // MIB} MiB"),
        (("access log",), f"{limits.LOG_BYTES // KIB} KiB"),
        (("any other message",), f"{limits.MESSAGE_BYTES // KIB} KiB"),
        (
            ("metadata of a call",),
            f"{limits.METADATA_BYTES // KIB} KiB; from {limits.METADATA_MAX // KIB} KiB on",
        ),
        (("a text",), f"{TEXT_MAX} characters"),
        (("a list", "entries"), f"{LIST_MAX} entries"),
        (("candidates that",), f"{INLINE_CANDIDATES_MAX} "),
        (("a page of a list",), f"{PAGE_MAX} "),
        (("of one connection",), f"{limits.STREAMS_A_CONNECTION};"),
        (
            ("large answers",),
            f"{limits.UNSENT_BYTES // MIB} MiB, {limits.UNSENT_PER_CALLER // MIB} MiB of one caller",
        ),
        (("worked on at a time",), f"{limits.LANE} of each"),
        (("handshakes",), f"{limits.HANDSHAKE_S} s"),
        (("a message to come",), f"{limits.STALLED_S} s"),
        (("ping", f"after {limits.KEEPALIVE_S} s"), f"{limits.KEEPALIVE_TIMEOUT_S} s"),
        (("a connection without a call",), f"{limits.IDLE_S} s"),
        (("a connection |",), f"{limits.AGE_S // 60} min"),
    ],
)
def test_every_limit_has_a_row_with_its_number(said: tuple[str, ...], number: str) -> None:
    assert f"| {number}" in row(*said)


def test_what_never_waits_is_told() -> None:
    assert FREE == 0.25
    assert re.search(r"less\s+than a quarter of the loop's time never waits", PAGE)
