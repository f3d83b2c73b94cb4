"""Score, ties and the time budget: decision.md §4 and reliability.md §2 by hand."""

import pytest

from .builders import candidates_of, make_case, make_endpoint
from .oracle import explain
from .ranking import is_specialised_in_code
from .text import billionths
from .time_budget import allowances, spendable_ms, within_budget


def test_ties_go_to_the_mix_price_then_latency_then_the_id_in_bytes() -> None:
    # Half of the price term against half of the latency term: the cheap one is first.
    dear_and_fast = make_endpoint(endpoint_id="a", input_price=4, output_price=4, latency_ms=0)
    cheap_and_slow = make_endpoint(endpoint_id="b", input_price=3, output_price=3, latency_ms=500)
    case = make_case(dear_and_fast, cheap_and_slow)
    assert candidates_of(case) == ["b", "a"]
    assert len({told["score_e9"] for told in explain(case)["endpoints"]}) == 1

    # Two facts documented against 125 ms, at the same price: the fast one is first.
    told_more = make_endpoint(endpoint_id="a", model_version="1", parameters_b=1, latency_ms=125)
    case = make_case(told_more, make_endpoint(endpoint_id="b", latency_ms=0))
    assert candidates_of(case) == ["b", "a"]
    assert len({told["score_e9"] for told in explain(case)["endpoints"]}) == 1

    # In UTF-16 the last two would stand the other way round.
    ids = ["\U0001f600", "\uff5e", "é", "z", "a"]
    case = make_case(*[make_endpoint(endpoint_id=one) for one in ids])
    ranked = [told["endpoint_id"] for told in explain(case)["endpoints"]]
    assert ranked == ["a", "z", "é", "\uff5e", "\U0001f600"]


def test_weighted_terms_round_the_exact_double_ties_to_even() -> None:
    assert billionths(0.5) == 500_000_000
    assert billionths(2.0**-10 / 5**9 * 5**9) == 976_562  # 976562.5 exactly: to the even one
    assert billionths(3 * 2.0**-10) == 2_929_688  # 2929687.5 exactly
    assert billionths(-(2.0**-10)) == -976_562
    assert billionths(-0.0) == 0


def test_sixteenths_of_output_round_ties_up() -> None:
    cheap_in = make_endpoint(endpoint_id="a", input_price=1, output_price=17)
    cheap_out = make_endpoint(endpoint_id="b", input_price=2, output_price=2)
    # One token in 32 is half a sixteenth: k = 1, so a costs 32 and b costs 32: the id decides.
    case = make_case(cheap_in, cheap_out, request={"input_tokens": 31, "output_tokens": 1})
    assert candidates_of(case) == ["a", "b"]
    assert {term["terms"]["price"]["raw"] for term in explain(case)["endpoints"]} == {0.0}
    case["request"] = {"input_tokens": 32, "output_tokens": 1}
    assert candidates_of(case) == ["a", "b"]
    case["request"] = {"input_tokens": 29, "output_tokens": 3}
    assert candidates_of(case) == ["b", "a"]


@pytest.mark.parametrize(
    ("slug", "special"),
    [
        ("code", True),
        ("code2", False),
        ("codellama2-7b", True),
        ("codeqwen1.5-7b", True),
        ("starcoder2", True),
        ("text-encoder2", False),
        ("vocoder", False),
        ("x/devstral:small", True),
        ("devstral2", False),
        ("codec", False),
        ("codeful", False),
    ],
)
def test_slugs_specialised_in_code(slug: str, special: bool) -> None:
    assert is_specialised_in_code(slug) is special


def test_allowances_and_the_list_built_under_them() -> None:
    assert spendable_ms(8000) == 7700
    assert spendable_ms(0) == 0
    assert allowances(7700, 2) == [4500, 3200]
    # The second does not fit beside the first; the third, further down, does.
    assert within_budget([4000, 4000, 3000], 7700, 3) == [(0, 4500), (2, 3200)]
    # The first is in even where a second would leave it too little.
    assert within_budget([7000, 10, 10], 7700, 3) == [(0, 7700)]
    # Only the first 32 of the ranking are looked at.
    assert len(within_budget([4000] + [4000] * 31 + [10], 7700, 3)) == 1
    assert within_budget([9, 9], None, 3) == [(0, None), (1, None)]
