"""Random endpoints: well-formed by decision.md §1, with gaps, zeros, ties and odd identifiers."""

import random
from typing import Any

from .case import STRUCTURED_LEVELS, JsonDict
from .generate_names import EU_PLACES, MODELS, PLACES, Model, Place, chance, misspelt_case, pick

NON_TEXT_TYPES = ("speech", "embedding", "reranker", "image", "moderation", "other")
TAGS = ("coding", "reasoning", "rag", "chat", "vision", "agentic", "extraction", "cheap", "ocr")
CLASSES = ("general", "document-extraction", "code", "small")
_LANGUAGES: tuple[list[str], ...] = (
    [], ["en"], ["de", "fr"], ["de", "fr", "es", "it", "nl"], ["de", "fr", "es", "it", "nl", "pl"],
    ["en", "zh", "de", "fr", "es", "ja", "sv"], ["deu", "fil"], ["ger", "fre", "zh"], ["gsw"],
)  # fmt: skip
_WINDOWS = (0, 10, 2048, 8191, 8192, 8193, 16384, 32768, 128000, 131072, 131073, 200000, 10**8)
_OUTPUT_LIMITS = (0, 1, 512, 4096, 8192, 16384, 65536, 10**8)
_PRICES = (0, 0.0, 1e-06, 2e-06, 0.1, 0.15, 0.3, 0.123456, 1, 3, 3.0, 15, 60, 9999.999999, 10000)
_LATENCIES = (0, 1, 80, 300, 301, 499, 500, 501, 900, 1500, 1501, 4000, 60000)
_SPEEDS = (0.1, 1, 20, 33.5, 33.333333, 50, 80, 120, 300, 1e6)
_ERROR_RATES = (0, 0.0, 1e-9, 5e-10, 0.001, 0.02, 0.25, 0.3333333333333333, 0.5, 1)
_MODALITIES: tuple[list[str], ...] = (
    ["text"], ["text"], ["text", "image"], ["text", "image", "audio", "video", "file"],
    ["image", "text", "file"], ["audio"], [],
)  # fmt: skip
# In UTF-8 the last of these sorts after the one before it; in UTF-16 it sorts before.
_ID_MARKS = ("", "", "", "Z", "é-", "ß", "\uff5e", "\U0001f600")


def random_catalog(rng: random.Random, size: int, now: int) -> list[JsonDict]:
    """Endpoints of a few models; `noise` is how often a fact is absent or unusual."""
    noise = pick(rng, (0.0, 0.0, 0.03, 0.1, 0.3))
    models = rng.sample(MODELS, min(len(MODELS), rng.randint(1, max(2, size))))
    types = {model.slug: pick(rng, NON_TEXT_TYPES) if chance(rng, noise / 3) else "text" for model in models}
    if size and chance(rng, 0.2):
        return _siblings(rng, size, now, noise, models[0])
    catalog = []
    for number in range(size):
        model = pick(rng, models)
        place = pick(rng, EU_PLACES if rng.random() < 0.4 else PLACES)
        endpoint = _endpoint(rng, model, place, now, noise)
        endpoint["endpoint_id"] = _endpoint_id(rng, number, model, place)
        endpoint["model_type"] = types[model.slug]
        catalog.append(endpoint)
    return catalog


def random_price(rng: random.Random) -> float:
    """A price of at most six places, at most 10⁴."""
    roll = rng.random()
    if roll < 0.6:
        return pick(rng, _PRICES)
    return rng.randrange(20_000_000 if roll < 0.97 else 10**10 + 1) / 10**6


def _siblings(rng: random.Random, size: int, now: int, noise: float, model: Model) -> list[JsonDict]:
    """Endpoints that differ in a fact or two only, so that scores tie and the tie-breaks decide."""
    first = _endpoint(rng, model, pick(rng, EU_PLACES), now, 0.0)
    alike = pick(rng, _ALIKE)
    catalog = []
    for number in range(size):
        place = pick(rng, PLACES)
        endpoint = {**first, **pick(rng, alike)}
        if chance(rng, 0.3):
            other = _endpoint(rng, model, place, now, noise)
            facts = ("latency_ms", "input_price", "output_price", "tokens_per_second", "status")
            changed = rng.sample(facts, rng.randint(0, 2))
            endpoint.update({fact: other[fact] for fact in changed if fact in other})
        endpoint["endpoint_id"] = _endpoint_id(rng, number, model, place)
        catalog.append(endpoint)
    rng.shuffle(catalog)
    return catalog


# Facts that make up for each other in the score: dear and fast against cheap and slow (the terms
# differ by half each); fast against well documented; no price against the dearest (§4).
_ALIKE: tuple[tuple[JsonDict, ...], ...] = (
    ({},),
    (
        {"input_price": 4, "output_price": 4, "latency_ms": 100},
        {"input_price": 3, "output_price": 3, "latency_ms": 600},
    ),
    (
        {"model_version": "1", "parameters_b": 9, "latency_ms": 225},
        {"model_version": None, "parameters_b": None, "latency_ms": 100},
    ),
    ({"output_price": None}, {"input_price": 3, "output_price": 3}),
    ({"latency_ms": None}, {"latency_ms": 500}),
)


def _endpoint_id(rng: random.Random, number: int, model: Model, place: Place) -> str:
    return f"{pick(rng, _ID_MARKS)}{model.slug}@{place.provider}/{number:03}"


def _endpoint(rng: random.Random, model: Model, place: Place, now: int, noise: float) -> JsonDict:
    """An endpoint but for its id; an odd one is unusual in every way that the filter sees."""
    odd = rng.random() < 1.5 * noise
    classes = (None, "global", "eu-owned", "eu-hosted") if place.eu else (None, "global")
    usual = pick(rng, ("eu-owned", "eu-hosted")) if place.eu else "global"
    endpoint: JsonDict = {
        "model": model.slug,
        "aliases": [alias for alias in model.aliases if not odd or chance(rng, 0.5)],
        "vendor": model.vendor,
        "model_version": pick(rng, ("2411", "v1", "", None)),
        "provider": misspelt_case(rng, place.provider) if odd else place.provider,
        "region": place.region,
        "country": place.country,
        "sovereignty": pick(rng, classes) if odd else usual,
        "kind": pick(rng, ("hosted", "partner", "catalog-only")) if odd else "hosted",
        "status": pick(rng, ("up", "up", "up", "degraded")),
        "model_type": "text",
        "input_modalities": list(pick(rng, _MODALITIES)),
        "context_window": pick(rng, _WINDOWS if odd else _WINDOWS[5:]),
        "max_output_tokens": pick(rng, _OUTPUT_LIMITS if odd else _OUTPUT_LIMITS[3:]),
        "input_price": random_price(rng),
        "output_price": random_price(rng),
        "parameters_b": model.parameters_b,
        "tags": rng.sample(TAGS, rng.randint(0, 3)),
        "model_classes": rng.sample(CLASSES, rng.randint(0, 2)),
        "strong_languages": list(pick(rng, _LANGUAGES)),
        "tools": rng.random() < 0.7,
        "structured_output": pick(rng, STRUCTURED_LEVELS),
        "latency_ms": pick(rng, _LATENCIES) if chance(rng, 0.7) else rng.randrange(5000),
        "tokens_per_second": pick(rng, _SPEEDS),
        "error_rate": pick(rng, _ERROR_RATES) if chance(rng, 0.7) else rng.random(),
    }
    if odd:
        endpoint["status"] = pick(rng, ("up", "degraded", "down", "maintenance", "unknown"))
        endpoint["retires_at"] = pick(rng, (None, now - 1, now, now + 1, now + 10**9))
        endpoint["suppressed_until"] = pick(rng, (None, None, now - 1, now, now + 1, now + 30000))
        if chance(rng, 0.3):
            endpoint["vendor"] = pick(rng, (None, "acme", misspelt_case(rng, "mistralai")))
    if rng.random() < 0.3:
        _forget(rng, endpoint)
    return endpoint


_OPTIONAL = (
    "model_version", "context_window", "max_output_tokens", "input_price", "output_price",
    "parameters_b", "tools", "structured_output", "latency_ms", "tokens_per_second", "error_rate",
    "vendor",
)  # fmt: skip


def _forget(rng: random.Random, endpoint: JsonDict) -> None:
    """Makes facts absent, by a null or by no key at all."""
    for fact in rng.sample(_OPTIONAL, rng.randint(1, 4)):
        if chance(rng, 0.5):
            endpoint[fact] = None
        else:
            del endpoint[fact]


def changed_everywhere(endpoints: list[JsonDict], facts: dict[str, Any]) -> None:
    """Sets the same facts on every endpoint, in place."""
    for endpoint in endpoints:
        endpoint.update(facts)
