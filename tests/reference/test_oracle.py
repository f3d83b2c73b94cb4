"""The oracle meets every vector, and the trickiest rules by hand."""

import json
import random
from pathlib import Path

import pytest

from .builders import NOW, make_case, make_endpoint, reasons_of
from .compare import differences
from .generate import random_case
from .oracle import answer, decide, explain

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / ".." / "shared" / "vectors" / "decisions.jsonl"


@pytest.mark.skipif(not VECTORS.exists(), reason="no decision vectors beside this repository")
def test_every_vector_is_met() -> None:
    lines = VECTORS.read_text(encoding="utf-8").splitlines()
    assert lines
    wrong = {}
    for number, line in enumerate(lines, start=1):
        vector = json.loads(line)
        want = {"expected": vector["expected"], "explain": vector["explain"]}
        found = differences(answer(vector), want, all_details=True)
        if found:
            wrong[number] = found
    assert wrong == {}


def test_an_eu_segment_asks_for_the_eu_even_unresolved() -> None:
    policy = {"residency": ["global"]}
    for asked in ("azure/eu/m", "eu.m", "eu/none", "x/eu.none"):
        told = explain(make_case(make_endpoint(), policy=policy, request={"model": asked}))
        assert told["effective_residency"] == "eu-hosted"
    told = explain(make_case(make_endpoint(), policy=policy, request={"model": "europe/m"}))
    assert told["effective_residency"] == "any"


def test_an_approximate_entry_denies_and_never_allows() -> None:
    request = {"model": "m"}
    deny = make_case(make_endpoint(), policy={"model_deny": ["M-2024-08-06"]}, request=request)
    assert reasons_of(deny) == ["model_denied"]
    assert explain(deny)["endpoints"][0]["refused_by"] == [
        {"reason": "model_denied", "detail": 'matched deny entry "M-2024-08-06"'}
    ]
    allow = make_case(make_endpoint(), policy={"model_allow": ["m-2024-08-06"]}, request=request)
    assert reasons_of(allow) == ["model_not_allowed"]


def test_exact_models_refuses_an_approximate_id_and_suggests_it() -> None:
    case = make_case(make_endpoint(), policy={"exact_models": True}, request={"model": "m@1"})
    refusal = decide(case)["refusal"]
    assert refusal["code"] == "model_not_found"
    assert (refusal["steps"], refusal["approximate"]) == ([], False)
    assert refusal["close_slugs"] == ["m"]


def test_an_undocumented_value_matches_no_entry() -> None:
    case = make_case(make_endpoint(provider="", region=""), policy={"provider_deny": ["*"]})
    assert reasons_of(case) == []
    case["policy"] = {"policy_id": "p", "provider_allow": ["*"], "regions": ["*"]}
    assert reasons_of(case) == ["region_denied_by_policy", "provider_not_allowed"]


@pytest.mark.parametrize(
    ("entry", "country", "matches"),
    [
        ("de", "DE", True),
        ("DE", "EU", False),
        ("EU", "EU", True),
        ("EU", "IS", False),
        ("eea", "IS", True),
        ("EEA", "EU", True),
        ("EU", None, False),
        ("FR-*", None, True),
    ],
)
def test_region_entries(entry: str, country: str | None, matches: bool) -> None:
    policy = {"residency": ["eu-hosted", "global"], "regions": [entry]}
    case = make_case(make_endpoint(country=country, sovereignty="global"), policy=policy)
    assert reasons_of(case) == ([] if matches else ["region_denied_by_policy"])


def test_a_request_never_widens_the_sovereignty_of_a_policy() -> None:
    endpoint = make_endpoint(sovereignty="eu-hosted")
    case = make_case(endpoint, policy={"residency": ["global"]}, request={"residency": "eu-hosted"})
    assert reasons_of(case) == ["sovereignty_denied_by_policy"]
    case = make_case(make_endpoint(sovereignty=None, country="US"), request={"residency": "any"})
    assert explain(case)["effective_residency"] == "eu-hosted"
    assert reasons_of(case) == ["sovereignty_denied_by_policy", "sovereignty_outside_residency"]


def test_boundaries_pass_when_hit_exactly() -> None:
    endpoint = make_endpoint(context_window=100, input_price=1.0, output_price=0.000002)
    policy = {"max_price": 0.7500005}
    request = {"input_tokens": 60, "output_tokens": 40, "max_cost": 0.00006}
    case = make_case(endpoint, policy=policy, request=request)
    # 3.000002 against 4 x 0.75 once the limit is rounded down; the cost is 60 µ and 80 p.
    assert reasons_of(case) == ["price_above_ceiling", "cost_above_limit"]
    case["policy"]["max_price"], request["max_cost"] = 0.750001, 0.000061
    assert reasons_of(case) == []
    request["output_tokens"] = 41
    assert reasons_of(case) == ["context_window_exceeded"]
    endpoint.update(retires_at=NOW + 1, suppressed_until=NOW)
    request["output_tokens"] = 40
    assert reasons_of(case) == []
    endpoint.update(retires_at=NOW, suppressed_until=NOW + 1)
    assert reasons_of(case) == ["status_not_routable", "circuit_open"]


def test_a_price_times_zero_tokens_is_not_needed() -> None:
    request = {"input_tokens": 0, "output_tokens": 5}
    case = make_case(make_endpoint(output_price=2), request=request)
    costs = []
    for request["input_tokens"] in (0, 1):
        (candidate,) = decide(case)["decision"]["candidates"]
        costs.append(candidate["estimated_cost_e12"])
    assert costs == [10_000_000, None]


def test_which_refusal_it_is() -> None:
    excluded = {"exclude_endpoints": ["e"]}
    down, retired = make_endpoint(status="down"), make_endpoint(retires_at=NOW)
    unknown = make_endpoint(status="unknown")
    other = make_endpoint(endpoint_id="f", status="down")
    for case, code in (
        (make_case(), "no_endpoint_available"),
        (make_case(down), "no_endpoint_available"),
        (make_case(unknown), "no_endpoint_for_policy"),
        (make_case(retired), "no_endpoint_for_policy"),
        (make_case(down, request=excluded), "all_candidates_excluded"),
        (make_case(retired, request=excluded), "all_candidates_excluded"),
        (make_case(down, other, request=excluded), "no_endpoint_available"),
        (make_case(make_endpoint(kind="catalog-only")), "no_endpoint_for_policy"),
        (
            make_case(make_endpoint(kind="catalog-only"), request={"model": "m"}),
            "hosted_unavailable",
        ),
        (make_case(make_endpoint(model_type="speech"), request={"model": "m"}), "not_a_text_model"),
        (make_case(make_endpoint(), request={"model": "n"}), "model_not_found"),
    ):
        assert decide(case)["refusal"]["code"] == code


def test_the_409_tells_first_reasons_most_frequent_first() -> None:
    catalog = [
        make_endpoint(endpoint_id="a", status="down", context_window=1),
        make_endpoint(endpoint_id="b", context_window=1),
        make_endpoint(endpoint_id="c", context_window=1, tools=True),
        make_endpoint(endpoint_id="d", sovereignty="global", country="US"),
    ]
    refusal = decide(make_case(*catalog, request={"input_tokens": 2}))["refusal"]
    assert refusal["message"] == (
        "No endpoint within eu-hosted residency under policy p can take this request:"
        " 2 context_window_exceeded, 1 status_not_routable."
        " Residency is never silently relaxed."
    )


def test_close_slugs_are_those_that_the_policy_admits() -> None:
    catalog = [make_endpoint(endpoint_id=slug, model=slug) for slug in ("abc-2", "abc-1", "abd-1")]
    catalog.append(make_endpoint(endpoint_id="us", model="abc-0", sovereignty="global", country="US"))
    refusal = decide(make_case(*catalog, request={"model": "x/abc-1:free"}))["refusal"]
    assert refusal["close_slugs"] == ["abc-1"]
    refusal = decide(make_case(*catalog, request={"model": "abc-3"}))["refusal"]
    assert refusal["close_slugs"] == ["abc-1", "abc-2"]
    assert refusal["message"].endswith("Did you mean abc-1, abc-2?")


def test_the_order_of_the_catalogue_changes_nothing() -> None:
    rng = random.Random(7)
    for _ in range(100):
        case = random_case(rng)
        shuffled = {**case, "catalog": rng.sample(case["catalog"], len(case["catalog"]))}
        assert answer(shuffled) == answer(case)


def test_decide_and_explain_agree_and_account_for_every_endpoint() -> None:
    rng = random.Random(8)
    for _ in range(200):
        case = random_case(rng)
        decided, told = decide(case), explain(case)
        assert answer(case) == {"expected": decided, "explain": told}
        result = decided.get("decision") or decided["refusal"]
        shared = result.keys() & told.keys()
        assert {key: result[key] for key in shared} == {key: told[key] for key in shared}
        ranked = [one["endpoint_id"] for one in told["endpoints"] if one["rank"]]
        assert told["considered"] == told["excluded"] + len(ranked) == len(told["endpoints"])
        assert sum(told["reasons"].values()) == told["excluded"]
        if "decision" in decided:
            assert result["candidates"][0]["endpoint_id"] == ranked[0]
