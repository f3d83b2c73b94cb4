"""What a model id means to a catalogue: decision.md §2 by hand."""

import pytest

from .model_id import Names, Resolution, resolve


def _names(slug: str, vendor: str = "", provider: str = "", **aliases: str) -> Names:
    vendors = {vendor, "mistralai", "anthropic", "ai21"} - {""}
    slug_of = {slug: slug, **aliases}
    return Names(slug_of, {slug: set(aliases)}, vendors, {slug: {vendor} - {""}}, {slug: {provider}})


@pytest.mark.parametrize(
    ("asked", "slug", "steps"),
    [
        ("nova-lite-v1:0", "nova-lite", ["revision"]),
        ("gpt-oss-120b-1:0", "gpt-oss-120b", ["revision"]),
        ("m-20241022-v2:0", "m", ["revision", "date"]),
        ("claude-v1:3", "claude", None),
        ("gpt-oss:20b", "gpt-oss", None),
        ("m@default", "m", ["version"]),
        ("@cf/x/m", "m", ["path"]),
        ("eu.anthropic.claude-x", "claude-x", ["prefix"]),
        ("qwen2.5-72b", "5-72b", None),
        ("x/us.m-2024-08-06@001", "m", ["version", "path", "prefix", "date"]),
        ("m-2024-02-30", "m", None),
        ("m-0229", "m", ["date"]),
        ("m-0230", "m", None),
        ("m-08-2024", "m", ["date"]),
        ("m-1776", "m", None),
        ("m-8192", "m", None),
        ("m-latest", "m", ["date"]),
        ("m-latest-2411", "m", None),
        ("m/", "m", None),
        ("@default", "default", None),
    ],
)
def test_steps_of_a_model_id(asked: str, slug: str, steps: list[str] | None) -> None:
    want = Resolution("", []) if steps is None else Resolution(slug, steps)
    assert resolve(asked, _names(slug)) == want


@pytest.mark.parametrize(
    ("asked", "vendor", "provider", "resolves"),
    [
        ("mistralai/m", "anthropic", "p", False),
        ("mistralai/anthropic.m", "anthropic", "p", True),
        ("mistralai/m", "", "p", True),
        ("mistralai/m", "anthropic", "mistralai", True),
        ("us.ai21.m", "anthropic", "p", False),
        ("nobody/m", "anthropic", "p", True),
    ],
)
def test_a_foreign_vendor_does_not_resolve(asked: str, vendor: str, provider: str, resolves: bool) -> None:
    assert bool(resolve(asked, _names("m", vendor, provider)).slug) is resolves
