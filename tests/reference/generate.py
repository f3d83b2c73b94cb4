"""Random cases in the vectors' form, seeded and adversarial: random_case(rng)."""

import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from .case import JsonDict, read_endpoint, read_request
from .costs import blended_price_times_4, cost_e12
from .generate_catalog import NON_TEXT_TYPES, changed_everywhere, random_catalog
from .generate_names import chance
from .generate_request import random_policy, random_request
from .time_budget import need_ms

NOW = 1_790_000_000_000
MAX_LIMIT = Decimal(10**6)
MAX_TOKENS = 10**8

# An edge puts the request's numbers, or a time, right on what one endpoint just bears.
Edge = Callable[[random.Random, JsonDict, JsonDict], None]


def random_case(rng: random.Random) -> JsonDict:
    """A valid case {catalog, policy, request, now}; the same rng state gives the same case."""
    now = NOW + rng.choice((0, 1, 86_400_000))
    catalog = random_catalog(rng, random_size(rng), now)
    case = {
        "catalog": catalog,
        "policy": random_policy(rng, catalog),
        "request": random_request(rng, catalog),
        "now": now,
    }
    if catalog and chance(rng, 0.25):
        rng.choice(_EDGES)(rng, case, rng.choice(catalog))
    if catalog and chance(rng, 0.1):
        rng.choice(_PLIGHTS)(rng, case)
    return case


def random_size(rng: random.Random) -> int:
    """How many endpoints: mostly a handful, seldom up to 2,000, on average some twenty."""
    roll = rng.random()
    if roll < 0.01:
        return 0
    if roll < 0.85:
        return int(13 ** rng.random())
    return int(12 * (2000 / 12) ** (rng.random() ** 4))


def _window_edge(rng: random.Random, case: JsonDict, endpoint: JsonDict) -> None:
    window = endpoint.get("context_window")
    if window is None:
        window = endpoint["context_window"] = 4096
    most = min(window, MAX_TOKENS - 1)
    output = rng.randint(0, most)
    case["request"]["output_tokens"] = output
    case["request"]["input_tokens"] = most - output + rng.choice((0, 0, 1))
    _cap_expected(case["request"])


def _output_edge(rng: random.Random, case: JsonDict, endpoint: JsonDict) -> None:
    limit = endpoint.get("max_output_tokens")
    if limit is None:
        limit = endpoint["max_output_tokens"] = 512
    tokens = limit + rng.choice((-1, 0, 0, 1))
    case["request"]["output_tokens"] = max(0, min(tokens, MAX_TOKENS))
    _cap_expected(case["request"])


def _price_edge(rng: random.Random, case: JsonDict, endpoint: JsonDict) -> None:
    blended = blended_price_times_4(read_endpoint(endpoint))
    if blended is None:
        return
    ceiling = Decimal(blended) / 4 / 10**6 + rng.choice((0, 0, -1, 1)) * Decimal("0.000001")
    holder = rng.choice((case["policy"], case["request"]))
    holder["max_price"] = _number(ceiling)


def _cost_edge(rng: random.Random, case: JsonDict, endpoint: JsonDict) -> None:
    request = case["request"]
    request.setdefault("input_tokens", 1000)
    request["max_cost"] = 0
    cost = cost_e12(read_endpoint(endpoint), read_request(request))
    if cost is not None:
        limit = Decimal(cost) / 10**12 + rng.choice((0, 0, -1, 1)) * Decimal("0.000001")
        request["max_cost"] = _number(limit)


def _deadline_edge(rng: random.Random, case: JsonDict, endpoint: JsonDict) -> None:
    """A deadline that leaves exactly the need, or that of several attempts, or 1 ms less."""
    expected = case["request"].get("expected_output_tokens")
    need = need_ms(read_endpoint(endpoint), expected)
    spendable = rng.choice((need, need - 1, need * 77 // 45 + 1, need * 77 // 32 + 1, need * 4))
    deadline = spendable + 300 if spendable >= 5700 else -(-spendable * 20 // 19)
    case["request"]["deadline_ms"] = min(deadline, 2**32 - 1)


def _time_edge(rng: random.Random, case: JsonDict, endpoint: JsonDict) -> None:
    fact = rng.choice(("retires_at", "suppressed_until"))
    endpoint[fact] = case["now"] + rng.choice((-1, 0, 1))


_EDGES: tuple[Edge, ...] = (
    _window_edge,
    _output_edge,
    _price_edge,
    _cost_edge,
    _deadline_edge,
    _time_edge,
)


def _pinned_pool(rng: random.Random, case: JsonDict) -> list[JsonDict]:
    """Pins the request to a model of the catalogue, and gives the endpoints of it."""
    slug = rng.choice(case["catalog"])["model"]
    case["request"]["model"] = slug
    return [endpoint for endpoint in case["catalog"] if endpoint["model"] == slug]


def _some_pool(rng: random.Random, case: JsonDict) -> list[JsonDict]:
    if chance(rng, 0.5):
        return _pinned_pool(rng, case)
    case["request"]["model"] = "auto"
    pool: list[JsonDict] = case["catalog"]
    return pool


def _only_listed(rng: random.Random, case: JsonDict) -> None:
    changed_everywhere(_pinned_pool(rng, case), {"kind": "catalog-only"})


def _no_text(rng: random.Random, case: JsonDict) -> None:
    changed_everywhere(_pinned_pool(rng, case), {"model_type": rng.choice(NON_TEXT_TYPES)})


def _denied(rng: random.Random, case: JsonDict) -> None:
    _pinned_pool(rng, case)
    if chance(rng, 0.5):
        case["policy"]["model_deny"] = ["no-such-model", case["request"]["model"]]
    else:
        case["policy"]["model_allow"] = ["no-such-*"]


def _all_down(rng: random.Random, case: JsonDict) -> None:
    until = case["now"] + rng.choice((1, 30000))
    facts: tuple[dict[str, Any], ...] = (
        {"status": "down"},
        {"status": "maintenance"},
        {"status": "unknown"},
        {"suppressed_until": until},
        {"status": "down", "suppressed_until": until},
        {"retires_at": case["now"]},
    )
    for endpoint in _some_pool(rng, case):
        endpoint.update(rng.choice(facts))


def _all_excluded(rng: random.Random, case: JsonDict) -> None:
    pool = _some_pool(rng, case)
    # A list has at most a thousand entries or so; past that the rest is left to the other rules.
    case["request"]["exclude_endpoints"] = [endpoint["endpoint_id"] for endpoint in pool][:1000]


_PLIGHTS = (_only_listed, _no_text, _denied, _all_down, _all_down, _all_excluded)


def _cap_expected(request: JsonDict) -> None:
    """Expected output above the output asked for would make the request invalid."""
    if "expected_output_tokens" in request:
        request["expected_output_tokens"] = min(request["expected_output_tokens"], request["output_tokens"])


def _number(limit: Decimal) -> float:
    """A limit as JSON holds it, within 0..10⁶."""
    return float(min(max(limit, Decimal(0)), MAX_LIMIT))
