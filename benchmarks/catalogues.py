"""Catalogues of N endpoints, the same in every run: LiteLLM's published ones where they are there, else made up alike.

The published file says nothing of ownership outside named regions, nothing of speed, failures or languages. Those are
drawn by a seed, so that filters and scores have something to do; prices, windows, types, modalities, tools and dates of
retirement are the file's own.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from router_service.catalog.importing import import_litellm, read_owners
from router_service.catalog.load import load
from router_service.catalog.snapshot import Snapshot

SIZES = (10, 40, 500, 5_000, 20_000)
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
_LITELLM, _OWNERS = SHARED / "litellm_model_prices.json", SHARED / "provider_jurisdiction.tsv"

Raw = dict[str, Any]

POLICIES: tuple[Raw, ...] = (
    {"policy_id": "eu"},
    {"policy_id": "strict", "residency": ["eu-owned"], "max_price": 6, "provider_deny": ["azure*"]},
    {"policy_id": "listed", "regions": ["EEA"], "provider_deny": ["openrouter", "*gateway*"], "model_deny": ["gpt-3*"]},
    {"policy_id": "world", "residency": ["eu-hosted", "global"], "partner_endpoints": True},
)
DEFAULT_POLICY = "eu"

# (weight, facts) of the places that are drawn where the published file names none.
_PLACES: tuple[tuple[int, Raw], ...] = (
    (12, {"sovereignty": "eu-owned", "country": "FR", "region": "fr-par"}),
    (8, {"sovereignty": "eu-owned", "country": "DE", "region": "eu01"}),
    (15, {"sovereignty": "eu-hosted", "country": "DE", "region": "eu-central-1"}),
    (12, {"sovereignty": "eu-hosted", "country": "SE", "region": "swedencentral"}),
    (8, {"sovereignty": "eu-hosted", "country": "EU", "region": "eu"}),
    (25, {"sovereignty": "global", "country": "US", "region": "us-east-1"}),
    (10, {"sovereignty": "global", "country": "GB", "region": "eu-west-2"}),
    (10, {}),
)
_LANGUAGES: tuple[list[str], ...] = (
    ["en"],
    ["en", "de", "fr"],
    ["en", "fr", "de", "es", "it", "pt", "nl"],
    ["en", "zh"],
    [],
)
_TAGS = ("coding", "reasoning", "summarisation", "extraction", "rag")


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A catalogue as its YAML text (one endpoint a line) and what it is made of."""

    size: int
    source: str
    text: str

    def write(self, folder: Path) -> Path:
        """The file that a server loads."""
        path = folder / f"catalogue-{self.size}.yaml"
        path.write_text(self.text, encoding="utf-8")
        return path

    def snapshot(self, folder: Path, now: int) -> Snapshot:
        """The very same catalogue as values: read from the same file by the service's own loader."""
        return Snapshot.of(load(self.write(folder)), now)


@cache
def catalogue(size: int) -> Catalogue:
    """The catalogue of `size` endpoints."""
    source, published = _published()
    chosen = list(_repeated(published, size))
    rng = random.Random(size)
    endpoints = sorted((_completed(one, rng) for one in chosen), key=lambda one: str(one["endpoint_id"]))
    models = sorted({str(one["model"]) for one in endpoints})
    copies = f", {size - len(published)} of them copies with other places" if size > len(published) else ""
    return Catalogue(size, f"{source}{copies}", _yaml(models, endpoints))


def models_of(size: int) -> tuple[str, ...]:
    """The slugs of the catalogue of `size` endpoints."""
    _, published = _published()
    return tuple(sorted({str(one["model"]) for one in _repeated(published, size)}))


@cache
def _published() -> tuple[str, tuple[Raw, ...]]:
    """What it is, and the endpoints in an order of chance, so that the first N are a fair sample."""
    if _LITELLM.exists() and _OWNERS.exists():
        owners = read_owners(_OWNERS.read_bytes(), name=_OWNERS.name)
        read = import_litellm(_LITELLM.read_bytes(), owners=owners, rate=Decimal("0.92"), currency="EUR")
        source, endpoints = f"LiteLLM's {len(read.endpoints)} endpoints", list(read.endpoints)
    else:
        source, endpoints = "made up in the shape of LiteLLM's endpoints", list(_made_up(random.Random(7)))
    random.Random(11).shuffle(endpoints)
    # As in a catalogue that somebody serves, most can chat: all the others come last.
    return source, tuple(sorted(endpoints, key=lambda one: one["model_type"] != "text"))


def _made_up(rng: random.Random) -> Iterator[Raw]:
    """Endpoints with the published file's shares of types, windows, prices and tools."""
    for number in range(4_700):
        text = rng.random() < 0.77
        facts: Raw = {
            "endpoint_id": f"provider-{number % 90}/model-{number % 2_200}-{number}",
            "model": f"model-{number % 2_200}",
            "provider": f"provider-{number % 90}",
            "kind": "hosted",
            "status": "up",
            "model_type": "text" if text else rng.choice(("image", "embedding", "speech", "other")),
            "context_window": rng.choice((8_192, 32_768, 128_000, 131_072, 200_000, 262_144, 1_048_576)),
            "max_output_tokens": rng.choice((4_096, 8_192, 16_384, 65_536)),
        }
        if text:
            price = Decimal(rng.randint(5, 800)) / 100
            facts |= {"input_modalities": rng.choice((["text"], ["text", "image"])), "tools": rng.random() < 0.6}
            facts |= {"input_price": price, "output_price": price * rng.randint(2, 5)}
            facts["structured_output"] = rng.choice(("none", "json-schema"))
        yield facts


def _repeated(published: tuple[Raw, ...], size: int) -> Iterator[Raw]:
    """The first `size`, begun anew with other ids where there are not so many."""
    for number in range(size):
        turn, place = divmod(number, len(published))
        facts = published[place]
        yield (
            facts
            if not turn
            else {
                **{name: fact for name, fact in facts.items() if name not in ("region", "country", "sovereignty")},
                "endpoint_id": f"{facts['endpoint_id']}@copy-{turn}",
            }
        )


def _completed(facts: Raw, rng: random.Random) -> Raw:
    """The facts with what the published file does not say."""
    drawn: Raw = {
        "latency_ms": int(rng.lognormvariate(6.2, 0.5)),
        "tokens_per_second": round(rng.uniform(15, 180), 1),
        "error_rate": round(rng.expovariate(1 / 0.01), 4) % 1,
        "strong_languages": rng.choice(_LANGUAGES),
        "tags": sorted({*facts.get("tags", ()), *rng.sample(_TAGS, rng.randint(0, 3))}),
    }
    if rng.random() < 0.5:
        drawn["parameters_b"] = rng.choice((7, 8, 24, 32, 70, 120, 235, 675))
    if not facts.get("sovereignty"):
        drawn |= rng.choices([place for _, place in _PLACES], [weight for weight, _ in _PLACES])[0]
    if rng.random() < 0.03:
        drawn["kind"] = "partner"
    if rng.random() < 0.02:
        drawn["status"] = "down"
    return {**facts, **drawn}


def _yaml(models: Iterable[str], endpoints: Iterable[Raw]) -> str:
    """The document in YAML's flow style, which JSON is a part of."""
    lines = ["currency: EUR", f"default_policy: {DEFAULT_POLICY}", "models:"]
    lines += [f"- {_flow({'model': model})}" for model in models]
    lines += ["endpoints:", *(f"- {_flow(one)}" for one in endpoints)]
    lines += ["policies:", *(f"- {_flow(one)}" for one in POLICIES)]
    return "\n".join(lines) + "\n"


def _flow(value: Raw) -> str:
    return json.dumps(value, default=float)
