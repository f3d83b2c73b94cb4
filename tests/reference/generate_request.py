"""Random policies and requests, valid by decision.md §1, drawn from what a catalogue holds."""

import random

from .case import SOVEREIGNTY_CLASSES, STRUCTURED_LEVELS, JsonDict
from .generate_catalog import CLASSES, TAGS, random_price
from .generate_names import (
    MODELS,
    PLACES,
    PROVIDERS,
    chance,
    decorated_id,
    glob_of,
    misspelt_id,
    some,
    unknown_id,
    untidy,
)

POOL_NAMES = ("auto", "auto", "llmeu-auto", "LLMEU/auto", " llmeu:auto ", "", " ", "Auto")
_REGION_ENTRIES = (
    "EU", "EU", "Eu", "eea", "EEA", "EEA", "DE", "de", "FR", "NL", "IE", "NO", "GB", "US", "CH",
    "XX", "fr-par", "FR-PAR", "eu-*", "*", "europe*", "*-1", "*west*", "nowhere-9", "e*u",
)  # fmt: skip
_TASKS = (
    "general", "cheap", "retrieval", "rag", "coding", "multilingual", *TAGS, "understanding",
    "image-8k", "0", "u" * 64,
)  # fmt: skip
_LANGUAGES = (
    "de", "DE", "de-AT", "de_DE", "deu", "ger-CH", "fr", "fra", "fre", "zh-Hant", "ZHO", "chi",
    "mul", "MUL", "und", "und-Latn", "", "fil", "gsw", "gsw-CH", "sv", "swe", "en-GB", "eng",
    "cym", "wel",
)  # fmt: skip
_TOKENS = (0, 1, 10, 31, 32, 33, 100, 1000, 1500, 5000, 10**5, 131072, 10**8)
_DEADLINES = (0, 1, 20, 100, 631, 632, 700, 1000, 2000, 5999, 6000, 8000, 20000, 60000, 10**7)
_COST_LIMITS = (0, 0.0, 1e-07, 1e-06, 9.9e-07, 0.0015, 0.01, 0.1, 0.3333333333333333, 1, 10**6)


def random_policy(rng: random.Random, catalog: list[JsonDict]) -> JsonDict:
    """A policy: most narrow little, the others in several ways at once."""
    policy: JsonDict = {"policy_id": rng.choice(("default", "p", "eu-strict", "P-9"))}
    if chance(rng, 0.8):
        lists = some(rng, SOVEREIGNTY_CLASSES, 3)
        policy["residency"] = lists if chance(rng, 0.35) else list(SOVEREIGNTY_CLASSES[:2])
        if chance(rng, 0.3):
            policy["residency"] = list(SOVEREIGNTY_CLASSES)
    if chance(rng, 0.4):
        policy["partner_endpoints"] = chance(rng, 0.8)
    if chance(rng, 0.2):
        policy["exact_models"] = chance(rng, 0.8)
    if chance(rng, 0.3):
        policy["retention"] = rng.choice(("0", "30d", "7d", None))
    if chance(rng, 0.35):
        _narrow(rng, policy, catalog)
    return policy


def _narrow(rng: random.Random, policy: JsonDict, catalog: list[JsonDict]) -> None:
    if chance(rng, 0.3):
        policy["regions"] = _region_entries(rng)
    if chance(rng, 0.2):
        policy["provider_allow"] = [untidy(rng, e) for e in _provider_entries(rng)]
    if chance(rng, 0.3):
        policy["provider_deny"] = _provider_entries(rng)
    if chance(rng, 0.2):
        policy["model_allow"] = [untidy(rng, e) for e in _model_entries(rng, catalog)]
    if chance(rng, 0.2):
        policy["model_deny"] = _model_entries(rng, catalog)
    if chance(rng, 0.25):
        policy["max_price"] = _limit(rng)


def random_request(rng: random.Random, catalog: list[JsonDict]) -> JsonDict:
    """A request: a model or the pool, and a few demands."""
    request: JsonDict = {}
    model = random_model(rng, catalog)
    if model is not None:
        request["model"] = model
    if chance(rng, 0.7):
        request["task"] = untidy(rng, rng.choice(_TASKS))
    if chance(rng, 0.5):
        request["language"] = rng.choice(_LANGUAGES)
    if chance(rng, 0.35):
        request["residency"] = untidy(rng, rng.choice(("eu-owned", "eu-hosted", "any", "any")))
    if chance(rng, 0.08):
        request["regions"] = _region_entries(rng)
    if chance(rng, 0.3):
        request["max_attempts"] = rng.randint(1, 3)
    if catalog and chance(rng, 0.15):
        ids = [endpoint["endpoint_id"] for endpoint in rng.sample(catalog, min(3, len(catalog)))]
        request["exclude_endpoints"] = some(rng, [*ids, "no-such-endpoint"], 4)
    _ask_tokens(rng, request)
    _ask_capabilities(rng, request)
    _ask_limits(rng, request)
    return request


def random_model(rng: random.Random, catalog: list[JsonDict]) -> str | None:
    """What a request may ask for: mostly the pool, or an id of the catalogue in some shape."""
    roll = rng.random()
    if roll < 0.5 or (not catalog and roll < 0.9):
        return rng.choice((*POOL_NAMES, None))
    if roll < 0.53 or not catalog:
        return unknown_id(rng)
    if roll > 0.98:
        return decorated_id(rng, rng.choice(MODELS).slug, None)
    endpoint = rng.choice(catalog)
    name: str = rng.choice((endpoint["model"], *endpoint["aliases"]))
    if roll < 0.8:
        return untidy(rng, name)
    if roll < 0.83:
        return misspelt_id(rng, name)
    return untidy(rng, decorated_id(rng, name, endpoint.get("vendor")))


def _model_entries(rng: random.Random, catalog: list[JsonDict]) -> list[str]:
    entries = []
    for _ in range(rng.randint(1, 4)):
        model = rng.choice(catalog or [{"model": "gpt-4o", "aliases": []}])
        name: str = rng.choice((model["model"], *model["aliases"]))
        shape = rng.random()
        if shape < 0.4:
            entries.append(name)
        elif shape < 0.7:
            entries.append(glob_of(rng, name))
        else:
            entries.append(decorated_id(rng, name, model.get("vendor")))
    return entries


def _provider_entries(rng: random.Random) -> list[str]:
    entries = some(rng, PROVIDERS, 4)
    return [glob_of(rng, entry) if chance(rng, 0.3) else entry for entry in entries]


def _region_entries(rng: random.Random) -> list[str]:
    entries = some(rng, _REGION_ENTRIES, 4)
    if chance(rng, 0.5):
        entries.append(rng.choice(PLACES).region or "EU")
    return [untidy(rng, entry) for entry in entries]


def _limit(rng: random.Random) -> float:
    """A ceiling, now and then with more than six places, which are rounded down."""
    limit = max(random_price(rng), random_price(rng))
    return limit + 4e-7 if chance(rng, 0.2) else limit


def _ask_tokens(rng: random.Random, request: JsonDict) -> None:
    scale = _TOKENS[:9] if chance(rng, 0.8) else _TOKENS
    if chance(rng, 0.5):
        request["input_tokens"] = rng.choice(scale)
    if chance(rng, 0.45):
        request["output_tokens"] = rng.choice(scale)
    if chance(rng, 0.3):
        most = request.get("output_tokens", 10**8)
        request["expected_output_tokens"] = min(most, rng.choice(scale))


def _ask_capabilities(rng: random.Random, request: JsonDict) -> None:
    if chance(rng, 0.08):
        request["modalities"] = some(rng, ("text", "image", "audio", "video", "file"), 3)
    if chance(rng, 0.1):
        request["requires_tools"] = chance(rng, 0.9)
    if chance(rng, 0.08):
        request["structured_output"] = rng.choice(STRUCTURED_LEVELS)
    if chance(rng, 0.06):
        request["model_classes"] = [untidy(rng, word) for word in some(rng, (*CLASSES, "odd"), 2)]


def _ask_limits(rng: random.Random, request: JsonDict) -> None:
    if chance(rng, 0.08):
        request["max_price"] = _limit(rng)
    if chance(rng, 0.1):
        request.setdefault("input_tokens", rng.choice(_TOKENS[:9]))
        request["max_cost"] = rng.choice(_COST_LIMITS)
    if chance(rng, 0.18):
        request["deadline_ms"] = rng.choice(_DEADLINES[6:] if chance(rng, 0.6) else _DEADLINES)
