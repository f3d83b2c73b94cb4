"""Real model ids, collected from public catalogues, resolve to the slugs that they name."""

from __future__ import annotations

from pathlib import Path

import pytest

from router_service.engine.index import Index
from router_service.engine.model_id import ModelNames, Resolution, asks_for_eu
from tests.builders import endpoint
from tests.shared_data import shared

OWN = Path(__file__).resolve().parents[1] / "data" / "model_ids.tsv"


def _names(*slugs: str, **facts: object) -> ModelNames:
    return Index([endpoint(f"{slug}@p", model=slug, **facts) for slug in slugs]).models


def _misread(path: Path) -> tuple[int, list[str]]:
    rows = [line.split("\t") for line in path.read_text().splitlines()[1:] if line]
    wrong = []
    for raw, slug, *_ in rows:
        resolution = _names(slug).resolve(raw.strip().lower())
        if resolution is None or resolution.slug != slug:
            wrong.append(f"{raw} → {resolution and resolution.slug}, not {slug}")
    return len(rows), wrong


def test_own_sample_of_real_ids() -> None:
    count, wrong = _misread(OWN)
    assert count >= 30
    assert not wrong


def test_shared_real_ids() -> None:
    count, wrong = _misread(shared("data/model_ids.tsv"))
    assert count >= 1000
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize(
    ("asked", "slug", "steps"),
    [
        ("m", "m", ()),
        ("m:latest", "m", ("revision",)),
        ("nova-lite-v1:0", "nova-lite", ("revision",)),
        ("gpt-oss-120b-1:0", "gpt-oss-120b", ("revision",)),
        ("claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet-20241022", ("revision",)),
        ("claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet", ("revision", "date")),
        ("claude@20240620", "claude", ("version",)),
        ("@cf/baai/bge", "bge", ("path",)),
        ("eu.anthropic.claude-x", "claude-x", ("prefix",)),
        ("eu.anthropic.claude-x", "anthropic.claude-x", ("prefix",)),
        ("ai21.jamba-large", "jamba-large", ("prefix",)),
        ("bedrock/eu.amazon.nova-lite-v1:0", "nova-lite", ("revision", "path", "prefix")),
        ("m-2024-08-06", "m", ("date",)),
        ("m-20240806", "m", ("date",)),
        ("m-2024-08", "m", ("date",)),
        ("m-08-2024", "m", ("date",)),
        ("m-2408", "m", ("date",)),
        ("m-0806", "m", ("date",)),
        ("m-0229", "m", ("date",)),
        ("m-12-2011", "m-12", ("date",)),
        ("m-latest", "m", ("date",)),
    ],
)
def test_steps(asked: str, slug: str, steps: tuple[str, ...]) -> None:
    resolution = _names(slug).resolve(asked)
    assert resolution == Resolution(slug, slug, steps)
    assert resolution.approximate is bool({"revision", "version", "date"} & set(steps))


@pytest.mark.parametrize(
    ("asked", "slug"),
    [
        ("claude-v2:1", "claude"),
        ("claude-v1:3", "claude"),
        ("gpt-oss:20b", "gpt-oss"),
        ("m:free", "m"),
        ("m-instruct", "m"),
        ("m-preview", "m"),
        ("r1-1776", "r1"),
        ("llama3-70b-8192", "llama3-70b"),
        ("m-2024-02-30", "m"),
        ("m-2019-08-06", "m"),
        ("m-20400101", "m"),
        ("m-1320", "m"),
        ("gpt-4.1", "1"),
        ("m/", "m"),
        (":latest", ""),
        ("m-2024-08-06-v1:0:latest", "m"),
    ],
)
def test_nothing_else_is_ever_cut(asked: str, slug: str) -> None:
    assert _names(slug or "x").resolve(asked) is None


def test_a_known_dated_id_is_never_cut_and_an_undated_one_never_completed() -> None:
    both = _names("m", "m-2024-08-06")
    assert both.resolve("m-2024-08-06") == Resolution("m-2024-08-06", "m-2024-08-06")
    assert _names("m-2024-08-06").resolve("m") is None


def test_a_provider_in_the_path_is_no_foreign_vendor() -> None:
    names = Index([endpoint("m@mistralai", vendor="meta"), endpoint("n@x", vendor="mistralai")]).models
    assert names.resolve("mistralai/m") == Resolution("m", "m", ("path",))


@pytest.mark.parametrize(
    ("asked", "eu"),
    [
        ("azure/eu/gpt", True),
        ("eu.anthropic.claude", True),
        ("bedrock/eu.x", True),
        ("eu", True),
        ("eur.x", False),
        ("us/europe/m", False),
        ("m-eu", False),
    ],
)
def test_which_ids_ask_for_the_eu(asked: str, eu: bool) -> None:
    assert asks_for_eu(asked) is eu
