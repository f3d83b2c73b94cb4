"""Inputs that broke other routers, and the right answer here: each case by what it holds."""

from __future__ import annotations

import random

import pytest

from router_service.domain.decision import Decision, Refusal
from router_service.domain.endpoint import Endpoint
from router_service.domain.problems import InvalidValue
from tests.builders import NOW, code, decided, endpoint, explained, ids, raw_endpoint, reasons_of

OPEN = {"suppressed_until": NOW + 30_000}


def _maybe_open(rng: random.Random) -> dict[str, int]:
    return {"suppressed_until": NOW + 1} if rng.random() < 0.6 else {}


class TestTheBoundaryHoldsAtEveryPosition:
    def test_a_fallback_never_leaves_the_region_with_the_model(self) -> None:
        endpoints = [endpoint("a@eu", **OPEN), endpoint("a@us", "us"), endpoint("b@eu")]
        explanation = explained(endpoints, {"residency": ["eu-hosted", "global"], "regions": ["EU"]})
        assert ids(explanation.result) == ["b@eu"]
        assert reasons_of(explanation, "a@us")[0] == "region_denied_by_policy"
        assert reasons_of(explained(endpoints), "a@us")[0] == "sovereignty_denied_by_policy"

    def test_ten_thousand_decisions_under_any_suppressions_stay_inside(self) -> None:
        rng = random.Random(10)
        decisions = 0
        for _ in range(500):
            endpoints = [endpoint(f"m{i}@eu", **_maybe_open(rng)) for i in range(4)]
            endpoints += [endpoint(f"m{i}@us", "us", **_maybe_open(rng)) for i in range(4)]
            for i in range(20):
                request = {
                    "model": rng.choice(["auto", f"m{i % 4}"]),
                    "residency": rng.choice(["", "any", "eu-hosted"]),
                }
                result = decided(endpoints, **request)
                assert all(one.endswith("@eu") for one in ids(result))
                assert isinstance(result, Decision) or result.code == "no_endpoint_available"
                decisions += 1
        assert decisions == 10_000

    def test_a_denied_model_is_no_last_resort(self) -> None:
        result = decided([endpoint("a@eu"), endpoint("b@eu", **OPEN)], {"model_deny": ["a"]})
        assert code(result) == "no_endpoint_available"
        assert code(decided([endpoint("a@eu")], {"model_deny": ["a"]})) == "no_endpoint_for_policy"

    def test_an_empty_intersection_never_means_all(self) -> None:
        result = decided([endpoint("a@p2"), endpoint("b@p1")], {"provider_allow": ["p1"]}, model="a")
        assert code(result) == "no_endpoint_for_policy"
        assert result.reasons == {"provider_not_allowed": 1}

    def test_an_alias_in_a_list_and_a_slug_in_the_request_mean_the_same(self) -> None:
        endpoints = [endpoint("large@eu", aliases=["large-x"]), endpoint("other@eu")]
        for entry in ("large-x", "large"):
            for asked in ("large", "large-x"):
                explanation = explained(endpoints, {"model_allow": [entry]}, model=asked)
                assert ids(explanation.result) == ["large@eu"]
                (match,) = explanation.endpoints[0].matches
                assert (match.list_name, match.entry, match.name) == ("model_allow", entry, entry)

    def test_neither_the_wrong_class_nor_none_is_eu_owned(self) -> None:
        endpoints = [endpoint("a@eu"), endpoint("b@x", "unknown")]
        explanation = explained(endpoints, {"residency": ["eu-hosted", "global"]}, residency="eu-owned")
        assert code(explanation.result) == "no_endpoint_for_policy"
        for one in ("a@eu", "b@x"):
            assert reasons_of(explanation, one) == ["sovereignty_outside_residency"]
        strict = explained(endpoints, {"residency": ["eu-owned"]}, residency="eu-owned")
        for one in ("a@eu", "b@x"):
            assert reasons_of(strict, one) == ["sovereignty_denied_by_policy", "sovereignty_outside_residency"]

    def test_a_deny_entry_alone_denies_nothing_else_and_two_restrictions_both_hold(self) -> None:
        endpoints = [endpoint("a@x"), endpoint("b@y"), endpoint("c@z")]
        assert sorted(ids(decided(endpoints, {"provider_deny": ["x"]}))) == ["b@y", "c@z"]
        assert ids(decided(endpoints, {"provider_deny": ["x"], "model_allow": ["a", "b"]})) == ["b@y"]

    def test_suppressed_is_another_answer_than_not_allowed(self) -> None:
        endpoints = [endpoint("a@eu", suppressed_until=NOW + 9000), endpoint("b@eu", suppressed_until=NOW + 4000)]
        result = decided([*endpoints, endpoint("c@us", "us", suppressed_until=NOW + 1)])
        assert isinstance(result, Refusal)
        assert (result.code, result.transient, result.retry_at) == ("no_endpoint_available", True, NOW + 4000)
        assert result.http_status == 503


class TestCapabilities:
    def test_an_image_never_reaches_a_cheaper_faster_text_model(self) -> None:
        text = endpoint("t@eu", input_price=0, output_price=0, latency_ms=1)
        image = endpoint("i@eu", input_modalities=["text", "image"], input_price=9, output_price=9, latency_ms=5000)
        assert ids(decided([text, image], modalities=["text", "image"])) == ["i@eu"]

    def test_a_schema_that_nothing_documents_is_not_assumed(self) -> None:
        assert decided([endpoint("a@eu")], structured_output="strict").reasons == {"structured_output_unsupported": 1}

    def test_the_window_is_inclusive(self) -> None:
        model = endpoint("a@eu", context_window=1000)
        assert ids(decided([model], input_tokens=600, output_tokens=400)) == ["a@eu"]
        explanation = explained([model], input_tokens=600, output_tokens=401)
        (exclusion,) = explanation.endpoints[0].refused_by
        assert exclusion.reason == "context_window_exceeded"
        assert exclusion.detail == "needs 1001 tokens, window 1000"


class TestModelIds:
    def test_a_path_changes_neither_endpoints_nor_price(self) -> None:
        catalog = [endpoint("gpt-x@eu", vendor="openai", input_price=1, output_price=2)]
        tokens = {"input_tokens": 1000, "output_tokens": 10}
        plain, path = (decided(catalog, model=asked, **tokens) for asked in ("gpt-x", "openai/gpt-x"))
        assert isinstance(plain, Decision)
        assert isinstance(path, Decision)
        assert plain.candidates == path.candidates
        assert path.steps == ("path",)

    @pytest.mark.parametrize("asked", ["GPT-4O", " gpt-4o ", "\tGpt-4o"])
    def test_case_and_space_do_not_count(self, asked: str) -> None:
        assert ids(decided([endpoint("gpt-4o@eu")], model=asked)) == ["gpt-4o@eu"]

    def test_a_price_variant_is_another_model(self) -> None:
        result = decided([endpoint("gpt-4o@eu")], model="gpt-4o:free")
        assert isinstance(result, Refusal)
        assert result.message == "No endpoint offers the model gpt-4o:free. Did you mean gpt-4o?"
        known = [endpoint("gpt-4o@eu"), endpoint("free@eu", model="gpt-4o:free")]
        assert ids(decided(known, model="gpt-4o:free")) == ["free@eu"]

    def test_a_size_is_never_completed_to_another(self) -> None:
        catalog = [endpoint("gpt-oss-120b@eu"), endpoint("gpt-oss-20b@eu")]
        result = decided(catalog, model="gpt-oss:20b")
        assert isinstance(result, Refusal)
        assert result.code == "model_not_found"
        assert result.close_slugs[0] == "gpt-oss-20b"

    def test_a_foreign_vendor_in_the_path_does_not_resolve(self) -> None:
        catalog = [endpoint("m@eu", vendor="vendor-b"), endpoint("n@eu", vendor="vendor-a")]
        assert code(decided(catalog, model="vendor-a/m")) == "model_not_found"
        assert ids(decided(catalog, model="vendor-b/m")) == ["m@eu"]
        assert ids(decided(catalog, model="vendor-unknown/m")) == ["m@eu"]

    @pytest.mark.parametrize("slug", ["odd//id", "a:b:c@d", "x" * 250, "%41", "eu/m", "../m", "-1:0", "a*b", "-"])
    def test_without_model_lists_no_id_is_refused_for_its_shape(self, slug: str) -> None:
        assert ids(decided([endpoint("odd@eu", model=slug)], model=slug)) == ["odd@eu"]


class TestMoney:
    def test_the_free_passes_a_ceiling_of_zero_and_the_undocumented_does_not(self) -> None:
        free = endpoint("free@eu", input_price=0, output_price=0)
        cheap = endpoint("cheap@eu", input_price=0.05, output_price=0.05)
        none = endpoint("none@eu")
        result = decided([free, cheap, none], max_price=0)
        assert ids(result) == ["free@eu"]
        assert result.reasons == {"price_above_ceiling": 1, "price_not_documented": 1}
        both = decided([free, cheap, none])
        assert isinstance(both, Decision)
        terms = {one.endpoint_id: one.score.terms[4].raw for one in both.candidates}
        assert terms == {"free@eu": 0.0, "cheap@eu": 1.0, "none@eu": 1.0}

    def test_the_mix_of_tokens_turns_the_order(self) -> None:
        catalog = [
            endpoint("cheap-in@eu", input_price=1, output_price=10),
            endpoint("cheap-out@eu", input_price=10, output_price=1),
        ]
        assert ids(decided(catalog, input_tokens=10_000, output_tokens=100))[0] == "cheap-in@eu"
        assert ids(decided(catalog, input_tokens=100, output_tokens=10_000))[0] == "cheap-out@eu"

    def test_ties_fall_by_price_then_latency_then_id(self) -> None:
        # A recorded 500 ms and an absent one are the same latency; without prices every mix price is absent.
        catalog = [endpoint("b@eu"), endpoint("a@eu", latency_ms=500), endpoint("c@eu")]
        rng = random.Random(19)
        for _ in range(20):
            rng.shuffle(catalog)
            assert ids(decided(catalog)) == ["a@eu", "b@eu", "c@eu"]
        # A term of latency that rounds to the same 10⁻⁹ leaves the order to the latency itself.
        slow = endpoint("z@eu", latency_ms=2**32 - 1)
        near, far = endpoint("y@eu", latency_ms=0), endpoint("x@eu", latency_ms=1)
        assert ids(decided([slow, far, near]))[:2] == ["y@eu", "x@eu"]

    def test_half_a_price_is_no_estimate(self) -> None:
        (one,) = explained([endpoint("a@eu", input_price=1)], input_tokens=10, output_tokens=10).endpoints
        assert one.estimated_cost is None
        (one,) = explained([endpoint("a@eu", input_price=1)], input_tokens=10, output_tokens=0).endpoints
        assert one.estimated_cost == 10 * 10**6

    def test_a_ceiling_of_zero_admits_no_paid_endpoint_at_any_position(self) -> None:
        catalog = [endpoint(f"m{i}@eu", input_price=i / 10**6, output_price=0) for i in range(20)]
        assert ids(decided(catalog, {"max_price": 0})) == ["m0@eu"]


class TestLatencyAndMissingFigures:
    def test_missing_latencies_count_as_half_a_second(self) -> None:
        none = decided([endpoint("a@eu"), endpoint("b@eu")])
        assert ids(none) == ["a@eu", "b@eu"]
        one = decided([endpoint("a@eu"), endpoint("b@eu", latency_ms=499), endpoint("c@eu")])
        assert ids(one) == ["b@eu", "a@eu", "c@eu"]
        assert isinstance(one, Decision)
        assert [candidate.need_ms for candidate in one.candidates] == [599, 600, 600]

    @pytest.mark.parametrize(
        ("fact", "value"),
        [
            ("context_window", -1),
            ("input_price", float("nan")),
            ("output_price", float("inf")),
            ("error_rate", 3),
            ("latency_ms", 1.5),
            ("tokens_per_second", 0),
        ],
    )
    def test_a_malformed_record_is_no_endpoint(self, fact: str, value: float) -> None:
        with pytest.raises(InvalidValue) as caught:
            Endpoint.read(raw_endpoint("a@eu", **{fact: value}))
        (problem,) = caught.value.problems
        assert problem.field == fact
        assert problem.cure
