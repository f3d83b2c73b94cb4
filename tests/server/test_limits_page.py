"""docs/limits.md tells of every limit with the number that holds, its flag and what it is counted as."""

from __future__ import annotations

import dataclasses
import re

import pytest

from router_service.domain.readers import LIST_MAX, TEXT_MAX
from router_service.server import limits
from router_service.server.admin import _PATIENCE_S
from router_service.server.catalog_service import PAGE_MAX
from router_service.server.limits import USUAL
from router_service.server.turns import FREE
from router_service.server.waiting import SLOW_TICKS, TICK_S
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
        (("of Envoy's access log |",), f"{limits.LOG_BYTES // KIB} KiB"),
        (("any other message",), f"{limits.MESSAGE_BYTES // KIB} KiB"),
        (
            ("metadata of a call",),
            f"{limits.METADATA_BYTES // KIB} KiB; from {limits.METADATA_MAX // KIB} KiB on",
        ),
        (("a text",), f"{TEXT_MAX} characters"),
        (("a list", "entries"), f"{LIST_MAX} entries"),
        (("candidates that",), f"{INLINE_CANDIDATES_MAX} "),
        (("a page of a list",), f"{PAGE_MAX} "),
        (("| calls and streams of",), f"{limits.STREAMS_A_CONNECTION};"),
        (
            ("large answers",),
            f"{limits.UNSENT_BYTES // MIB} MiB, {limits.UNSENT_PER_CALLER // MIB} MiB of one caller",
        ),
        (("worked on at a time",), f"{limits.LANE} of each"),
        (("handshakes",), f"{limits.HANDSHAKE_S} s"),
        (("message to health",), f"{limits.PROBE_BYTES // KIB} KiB"),
        (("| streams open",), f"{USUAL.streams:,}; with `--stateless` {limits.STATELESS_STREAMS},"),
        (
            ("| calls whose message",),
            (
                f"as many as fit in {limits.ARRIVING_BYTES // MIB} MiB, each as large as the largest that gRPC reads: "
                f"{limits.arriving(limits.ASKING_BYTES, limits.ARRIVING_BYTES):,}; "
                f"{limits.arriving(limits.LOG_BYTES, limits.ARRIVING_BYTES)} with Envoy's access log, "
                f"{limits.arriving(limits.STATELESS_BYTES, limits.ARRIVING_BYTES)} with"
            ),
        ),
        (("for a place",), f"{limits.ARRIVING_QUEUE:,} "),
        (("not begun yet",), f"{limits.PENDING:,}; up to {limits.PENDING_AT_MOST:,} "),
        (("`Watch`",), f"{limits.WATCHES:,}, {limits.WATCHES_A_CONNECTION} of one connection"),
        (
            ("| streams of reflection",),
            (
                f"{limits.REFLECTIONS}, {limits.REFLECTIONS_A_CONNECTION} of one connection; "
                f"{limits.arriving(limits.STATELESS_BYTES, limits.ARRIVING_BESIDE_BYTES) // 2} with"
            ),
        ),
        (("health and reflection whose",), f"as many as fit in {limits.ARRIVING_BESIDE_BYTES // MIB} MiB"),
        (("| connections to the health port",), f"{limits.PORT_CONNECTIONS} each"),
        (("to the health port 15",), f"{limits.IDLE_S} s; to the health port {limits.PORT_IDLE_S} s"),
        (("request to the admin port",), f"{_PATIENCE_S} s"),
        (("a message to come",), f"{limits.STALLED_S} s"),
        (("ping", f"after {limits.KEEPALIVE_S} s"), f"{limits.KEEPALIVE_TIMEOUT_S} s"),
        (("a connection without a call",), f"{limits.IDLE_S} s"),
        (("a connection |",), f"{limits.AGE_S // 60} min"),
    ],
)
def test_every_limit_has_a_row_with_its_number(said: tuple[str, ...], number: str) -> None:
    assert f"| {number}" in row(*said)


def test_who_gives_way_is_told() -> None:
    assert f"slow for {SLOW_TICKS * TICK_S:.1f} s" in PAGE
    cannot = PAGE.partition("## What it cannot bear alone")[2]
    assert f"{USUAL.connections:,} connections" in cannot
    assert f"the {limits.PORT_CONNECTIONS} of the health port" in cannot
    assert f"every {limits.HANDSHAKE_S} s" in cannot
    assert f"more than {limits._MESSAGE_SLACK // KIB} KiB beyond" in PAGE


def test_what_never_waits_is_told() -> None:
    assert FREE == 0.25
    assert re.search(r"less\s+than a quarter of the loop's time never waits", PAGE)
