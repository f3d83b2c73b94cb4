"""Workloads: what is read, which is the newest, how each field is joined, and where its value is said to come from."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from router_service.domain.problems import InvalidValue
from router_service.domain.request import FIELDS as REQUEST_FIELDS
from router_service.domain.request import RouteRequest, Stated
from router_service.domain.workload import FIELDS, JOINS, LABEL, NEEDS, Joined, Workload, join


def workload(**needs: Any) -> Workload:
    return Workload.read({"name": "w", "version": "1"} | needs)


def common(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...] | None:
    """Regions of a world where every region id is a place of its own, and `odd` is not to be said."""
    return None if "odd" in ours else tuple(one for one in theirs if one in ours)


def joined(ours: dict[str, Any], theirs: dict[str, Any]) -> RouteRequest:
    return join(workload(**ours), Stated.read(theirs), common).request


def sources(one: Joined) -> dict[str, str]:
    return {told.field: told.source for told in one.origins}


def problems(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    with pytest.raises(InvalidValue) as caught:
        joined(ours, theirs)
    return [str(one) for one in caught.value.problems]


# Field, the workload's value, the request's, what holds, whose it is.
BOTH: list[tuple[str, Any, Any, Any, str]] = [
    ("task", "coding", "general", "general", "request"),
    ("task", "coding", "coding", "coding", "both"),
    ("language", "de", "fr", "fr", "request"),
    ("residency", "eu-owned", "any", "eu-owned", "workload"),
    ("residency", "any", "eu-hosted", "eu-hosted", "request"),
    ("residency", "eu-hosted", "eu-owned", "eu-owned", "request"),
    ("regions", ["DE", "FR"], ["FR", "IE"], ("FR",), "both"),
    ("regions", ["DE", "FR"], ["FR"], ("FR",), "request"),
    ("regions", ["DE", "FR"], ["FR", "DE"], ("FR", "DE"), "both"),
    ("input_tokens", 10, 9, 10, "workload"),
    ("input_tokens", 0, 9, 9, "request"),
    ("output_tokens", 10, 0, 10, "workload"),
    ("output_tokens", 10, 11, 11, "request"),
    ("expected_output_tokens", 7, 7, 7, "both"),
    ("modalities", ["text", "image"], ["audio"], ("text", "image", "audio"), "both"),
    ("modalities", ["text", "image"], ["image"], ("text", "image"), "workload"),
    ("modalities", ["image"], ["text", "image"], ("image", "text"), "request"),
    ("requires_tools", True, False, True, "workload"),
    ("requires_tools", False, True, True, "request"),
    ("requires_tools", False, False, False, "both"),
    ("structured_output", "json-object", "strict", "strict", "request"),
    ("structured_output", "strict", "none", "strict", "workload"),
    ("model_classes", ["a", "b", "c"], ["C", "x", "B"], ("c", "b"), "both"),
    ("model_classes", ["a", "b"], ["b"], ("b",), "request"),
    ("model_classes", ["b"], ["a", "b"], ("b",), "workload"),
    ("max_price", 0, 2.5, 0, "workload"),
    ("max_price", 2.5, 1.25, 1_250_000, "request"),
    ("max_cost", 0.5, 0.5, 500_000, "both"),
    ("deadline_ms", 1000, 999, 999, "request"),
    ("deadline_ms", 0, 5, 0, "workload"),
    ("max_attempts", 2, 3, 2, "workload"),
    ("max_attempts", 2, 1, 1, "request"),
]
TOKENS = {"input_tokens": 1}  # which a limit of cost needs


def test_every_join_is_in_that_table() -> None:
    assert {name for name, *_ in BOTH} == set(NEEDS) == {*JOINS, "regions"}


@pytest.mark.parametrize(("name", "ours", "theirs", "held", "source"), BOTH)
def test_a_field_that_both_state(name: str, ours: Any, theirs: Any, held: Any, source: str) -> None:
    both = join(workload(**{name: ours}), Stated.read({**TOKENS, name: theirs}), common)
    assert getattr(both.request, name) == held
    assert sources(both)[name] == source


@pytest.mark.parametrize(("name", "ours", "theirs", "held", "source"), BOTH)
def test_a_field_that_one_states_is_inherited_or_its_own(
    name: str, ours: Any, theirs: Any, held: Any, source: str
) -> None:
    del held, source
    tokens = TOKENS if name == "max_cost" else {}
    for needs, asked, who in (({name: ours}, tokens, "workload"), ({}, {name: theirs, **tokens}, "request")):
        both = join(workload(**needs), Stated.read(asked), common)
        assert both.request == RouteRequest.read({**needs, **asked})
        assert sources(both)[name] == who


def test_what_neither_states_has_its_default() -> None:
    both = join(workload(), Stated(), common)
    assert (both.request, both.label, both.origins) == (RouteRequest(), "w@1", ())


def test_model_and_excluded_endpoints_are_the_request_s_own() -> None:
    request = joined({"task": "coding"}, {"model": "M", "exclude_endpoints": ["e"]})
    assert (request.model, request.exclude_endpoints, request.task) == ("m", ("e",), "coding")


def test_an_empty_list_states_nothing() -> None:
    assert Stated.read({"regions": [], "model_classes": [], "modalities": []}) == Stated()
    assert joined({"model_classes": [], "regions": []}, {"model_classes": ["a"], "regions": ["DE"]}).regions == ("DE",)


def test_origins_stand_in_the_order_of_fields_with_values_as_people_write_them() -> None:
    one = workload(max_cost=0.03, requires_tools=True, modalities=["text", "image"], max_price=2)
    own = Stated.read({"input_tokens": 6000, "max_cost": 1, "model": "auto", "requires_tools": False})
    assert [(by.field, by.source, by.value) for by in join(one, own, common).origins] == [
        ("model", "request", "auto"),
        ("input_tokens", "request", "6000"),
        ("modalities", "workload", "text, image"),
        ("requires_tools", "workload", "true"),
        ("max_price", "workload", "2"),
        ("max_cost", "workload", "0.03"),
    ]


def test_what_has_nothing_in_common_names_both_lists_and_the_cure() -> None:
    assert problems({"model_classes": ["a", "b"], "regions": ["DE"]}, {"model_classes": ["c"], "regions": ["FR"]}) == [
        (
            "regions: the request lists FR, workload w@1 lists DE: nothing is in both; "
            "list what lies within the workload's own, or leave out regions"
        ),
        (
            "model_classes: the request lists c, workload w@1 lists a, b: nothing is in both; "
            "list what lies within the workload's own, or leave out model_classes"
        ),
    ]
    assert problems({"regions": ["odd"]}, {"regions": ["DE"]}) == [
        (
            "regions: the request lists DE, workload w@1 lists odd: no one list says what is in both; "
            "list what lies within the workload's own, or leave out regions"
        )
    ]


def test_a_long_list_is_not_told_in_full() -> None:
    (told,) = problems({"regions": ["DE"]}, {"regions": [f"r{number}" for number in range(1024)]})
    assert "the request lists r0, r1, r2, r3, r4, r5, r6, r7 and 1016 more, workload" in told


def test_what_makes_no_sense_together_says_so() -> None:
    assert problems({"expected_output_tokens": 500}, {"output_tokens": 100}) == [
        (
            "expected_output_tokens: with workload w@1, 500 is more than output_tokens, 100; "
            "expect at most as many tokens as may come, or let more come"
        )
    ]
    assert problems({"max_cost": 1}, {"output_tokens": 100}) == [
        "max_cost: with workload w@1, a limit of cost without input_tokens; give input_tokens"
    ]


def test_a_limit_of_cost_may_stand_on_the_other_s_tokens() -> None:
    assert joined({"input_tokens": 5}, {"max_cost": 1}).max_cost == 10**6
    assert joined({"max_cost": 1}, {"input_tokens": 5}).max_cost == 10**6


def test_what_a_request_contradicts_itself_in_is_refused_alone() -> None:
    with pytest.raises(InvalidValue, match="expected_output_tokens"):
        Stated.read({"output_tokens": 1, "expected_output_tokens": 2})


ORDERED = ["0", "1", "1.0", "1.0.5", "1.2", "1.9", "1-10", "2", "3", "9", "10", "2025-12-31", "2026-2-1", "2026-11-30"]


def test_versions_are_compared_number_by_number() -> None:
    shuffled = random.Random(1).sample(ORDERED, len(ORDERED))
    assert sorted(shuffled, key=lambda one: workload(version=one).place) == ORDERED


@given(*[st.lists(st.integers(0, 10**12), min_size=1, max_size=4)] * 2)
def test_any_two_versions_compare_as_their_numbers(one: list[int], other: list[int]) -> None:
    def place(numbers: list[int]) -> str:
        return workload(version=".".join(map(str, numbers))).place

    assert (place(one) < place(other), place(one) == place(other)) == (one < other, one == other)


def test_versions_of_the_same_numbers_have_the_same_place() -> None:
    assert len({workload(version=one).place for one in ("1.2", "1-2", "01.002")}) == 1
    places = [Workload.read({"name": name, "version": "1"}).place for name in ("a", "a-b", "a0", "ab", "b")]
    assert places == sorted(places)


@pytest.mark.parametrize("text", ["invoices", " Invoices@2026-11-30 ", "3@3", "a-b@1.2-3"])
def test_how_a_request_names_a_workload(text: str) -> None:
    assert LABEL.read(text, "workload", []) == text.strip().lower()


@pytest.mark.parametrize("text", ["-a", "a b", "a@", "a@b", "@1", "a@1@2", "a@1.", "a@.1", "ü", "a_b"])
def test_what_names_no_workload(text: str) -> None:
    found: list[Any] = []
    assert LABEL.read(text, "workload", found) is None
    assert "invoices@2026-11-30" in found[0].cure


def test_all_problems_of_a_workload_come_at_once() -> None:
    raw = {
        "name": "a@1",
        "version": "1.x",
        "structured_output": "json-object",
        "schema_id": "s",
        "output_tokens": 1,
        "expected_output_tokens": 2,
        "max_attempts": 0,
        "modle": "m",
    }
    with pytest.raises(InvalidValue) as caught:
        Workload.read(raw)
    assert {one.field for one in caught.value.problems} == set(raw) - {"structured_output", "output_tokens"}


def test_every_field_that_can_be_narrowed_is_one_of_a_workload() -> None:
    assert set(REQUEST_FIELDS) - set(FIELDS) == {"model", "exclude_endpoints"}
    assert tuple(Stated.__struct_fields__) == tuple(RouteRequest.__struct_fields__) == tuple(REQUEST_FIELDS)
    assert msgspec.json.encode(Stated()) == b"{}"
