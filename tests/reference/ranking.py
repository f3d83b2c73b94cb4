"""The score's seven terms and the total order of the survivors (§4)."""

import re
from collections.abc import Callable
from math import log, log2
from typing import NamedTuple

from .case import Endpoint, JsonDict, Request
from .costs import mix_price, output_sixteenths
from .text import billionths

WEIGHTS = {
    "task_fit": 5.0,
    "language_fit": 3.0,
    "documentation": 1.0,
    "sovereignty": 1.0,
    "price": -2.0,
    "latency": -2.0,
    "error_rate": -3.0,
}
MANY_LANGUAGES = 6

_CODE_WORD = re.compile(r"devstral|code|code(?:x|stral|llama|gemma|qwen|gen|geex)[0-9]*")
_CODER_WORD = re.compile(r".*coder[0-9]*")
_OTHER_CODER_WORD = re.compile(r"(?:en|de|vo)coder[0-9]*")


class Ranked(NamedTuple):
    """A survivor with its score in 10⁻⁹ and its terms as (raw, weighted in 10⁻⁹)."""

    endpoint: Endpoint
    score: int
    terms: JsonDict


def rank(survivors: list[Endpoint], request: Request) -> list[Ranked]:
    """The survivors, best first."""
    if not survivors:
        return []
    k = output_sixteenths(request)
    mixes = [mix_price(endpoint, k) for endpoint in survivors]
    prices = _price_terms(mixes)
    latencies = _latency_terms([endpoint.latency_or_default for endpoint in survivors])

    keyed = []
    for endpoint, mix, price, latency in zip(survivors, mixes, prices, latencies, strict=True):
        raw = {
            "task_fit": task_fit(endpoint, request.task),
            "language_fit": language_fit(endpoint, request.language),
            "documentation": documentation(endpoint),
            "sovereignty": {"eu-owned": 2.0, "eu-hosted": 1.0}.get(endpoint.sovereignty, 0.0),
            "price": price,
            "latency": latency,
            "error_rate": float(endpoint.error_rate or 0.0),
        }
        weighted = {name: billionths(WEIGHTS[name] * value) for name, value in raw.items()}
        terms = {name: {"raw": raw[name], "weighted_e9": weighted[name]} for name in raw}
        score = sum(weighted.values())
        key = (
            -score,
            (mix is None, mix or 0),
            endpoint.latency_or_default,
            endpoint.endpoint_id.encode(),
        )
        keyed.append((key, Ranked(endpoint, score, terms)))
    keyed.sort(key=lambda pair: pair[0])
    return [ranked for _, ranked in keyed]


def _price_terms(mixes: list[int | None]) -> list[float]:
    documented = [mix for mix in mixes if mix is not None]
    if not documented or max(documented) == 0:
        return [0.0 for _ in mixes]
    low, high = min(documented), max(documented)
    # Doubled on both sides of the fraction, so that max / 2 stays a whole number.
    span = max(2 * (high - low), high)
    return [2 * ((high if mix is None else mix) - low) / span for mix in mixes]


def _latency_terms(latencies: list[int]) -> list[float]:
    low, high = min(latencies), max(latencies)
    return [(latency - low) / max(high - low, 1000) for latency in latencies]


def documentation(e: Endpoint) -> float:
    """The documented share of eight facts; an empty string is an absent one."""
    facts = (
        bool(e.raw.get("model_version")),
        e.region != "",
        e.sovereignty != "",
        e.context_window is not None,
        e.max_output_tokens is not None,
        e.priced,
        e.parameters_b is not None,
        bool(e.strong_languages),
    )
    return sum(facts) / len(facts)


def language_fit(endpoint: Endpoint, language: str) -> float:
    """1 where the language asked is a strong one; `mul` asks for many."""
    if language == "":
        return 0.0
    if language == "mul":
        return 1.0 if len(endpoint.strong_languages) >= MANY_LANGUAGES else 0.0
    return 1.0 if language in endpoint.strong_languages else 0.0


def task_fit(endpoint: Endpoint, task: str) -> float:
    """The table of tasks; `rag` has become `retrieval` when the request was read."""
    fit = _TASK_FITS.get(task)
    if fit is not None:
        return fit(endpoint)
    return 1.0 if task in endpoint.tags else 0.4


def _cheap_fit(endpoint: Endpoint) -> float:
    size = endpoint.parameters_b
    if size is None:
        return 0.15
    if size <= 9:
        return 1.0
    return max(0.15, 1 - 0.85 * log(size / 9) / log(753 / 9))


def _retrieval_fit(endpoint: Endpoint) -> float:
    window = endpoint.context_window
    if not window:  # absent; and the logarithm of 0 is below every bound
        return 0.1
    return min(1.0, max(0.1, (log2(window) - 13) / 4))


def _coding_fit(endpoint: Endpoint) -> float:
    if is_specialised_in_code(endpoint.model):
        return 1.0
    return 0.7 if "coding" in endpoint.tags else 0.4


def _multilingual_fit(endpoint: Endpoint) -> float:
    return 1.0 if len(endpoint.strong_languages) >= MANY_LANGUAGES else 0.4


_TASK_FITS: dict[str, Callable[[Endpoint], float]] = {
    "general": lambda _: 0.5,
    "cheap": _cheap_fit,
    "retrieval": _retrieval_fit,
    "coding": _coding_fit,
    "multilingual": _multilingual_fit,
}


def is_specialised_in_code(slug: str) -> bool:
    """Whether one of the slug's words says code (§4)."""
    return any(_says_code(word) for word in re.split(r"[-_./:]", slug))


def _says_code(word: str) -> bool:
    if _CODE_WORD.fullmatch(word):
        return True
    return bool(_CODER_WORD.fullmatch(word)) and not _OTHER_CODER_WORD.fullmatch(word)
