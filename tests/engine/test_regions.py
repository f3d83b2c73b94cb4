"""What two lists of regions have in common: exactly what both admit, or nothing is said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router_service.engine.index import Index
from router_service.engine.regions import common_regions
from tests.builders import endpoint

PLACES = [
    ("FR", "fr-par"),
    ("FR", "eu-west-3"),
    ("DE", "eu-central-1"),
    ("DE", "fr-adjacent"),
    ("NO", "norwayeast"),
    ("EU", "eu"),
    ("EU", "eu-zone"),
    ("US", "us-east-1"),
    ("US", "twice"),
    ("DE", "twice"),
    ("IE", ""),
    ("DE", ""),
    ("", "nowhere-1"),
    ("", ""),
]
INDEX = Index(
    endpoint(f"m@{i}", "unknown", country=country, region=region) for i, (country, region) in enumerate(PLACES)
)
ENTRIES = [
    *("EU", "eea", "DE", "FR", "NO", "US", "CH", "*", "eu-*", "fr-*", "*-1", "fr-par", "FR-PAR", "twice"),
    *("eu-central-1", "eu-zone", "nowhere-1", "e*", "us-*", "xx-9"),
]

CASES = [
    (("EU",), ("DE",), ("DE",)),
    (("DE", "FR"), ("EU",), ("DE", "FR")),
    (("EU",), ("fr-par",), ("fr-par",)),
    (("FR",), ("fr-*",), ("fr-par",)),
    (("FR", "NO"), ("FR", "US"), ("FR",)),
    (("EU", "US"), ("EEA",), ("EU",)),
    (("DE",), ("FR",), ()),
    (("DE",), ("eu-*",), ("eu-central-1",)),
    (("fr-par",), ("FR-Par",), ("FR-Par",)),
    # Nothing is there: as without a workload, the request is refused, and not called senseless.
    (("DE",), ("xx-9",), ("xx-9",)),
    (("xx-9",), ("XX-9",), ("XX-9",)),
    # "twice" is the name of a region in two countries, of which one is meant.
    (("DE",), ("tw*",), None),
]


@pytest.mark.parametrize(("ours", "theirs", "both"), CASES)
def test_what_is_in_both(ours: tuple[str, ...], theirs: tuple[str, ...], both: tuple[str, ...] | None) -> None:
    assert common_regions(INDEX, ours, theirs) == both


def matched(entries: tuple[str, ...]) -> int:
    found = 0
    for entry in entries:
        found |= INDEX.in_region(entry)
    return found


LISTS = st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=4).map(tuple)


@given(LISTS, LISTS)
def test_it_is_just_what_both_admit(ours: tuple[str, ...], theirs: tuple[str, ...]) -> None:
    both = common_regions(INDEX, ours, theirs)
    if both is not None:
        assert matched(both) == matched(ours) & matched(theirs)


@given(LISTS, LISTS)
def test_an_empty_list_would_admit_everything_and_is_no_answer_but_that_nothing_is_common(
    ours: tuple[str, ...], theirs: tuple[str, ...]
) -> None:
    if common_regions(INDEX, ours, theirs) == ():
        assert not matched(ours) & matched(theirs)
