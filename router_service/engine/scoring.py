"""The terms of the score and their weights (docs/decision.md, The score).

Each weighted term is computed in IEEE double and rounded once to an integer of 10⁻⁹; a score is their exact sum, so
that no order of addition and no machine can change it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal

from router_service.domain import words
from router_service.domain.decision import TERMS
from router_service.domain.endpoint import Endpoint
from router_service.domain.languages import MANY

WEIGHTS = dict(zip(TERMS, (5, 3, 1, 1, -2, -2, -3), strict=True))
SCALE = 10**9

SOVEREIGNTY = {words.EU_OWNED: 2.0, words.EU_HOSTED: 1.0}
_MANY_LANGUAGES = 6
_SMALL_B, _LARGE_B, _LEAST_CHEAP = 9, 753, 0.15
OTHER_FIT, _CODING_TAG_FIT = 0.4, 0.7

_CODE_WORD = re.compile(r"devstral|code|code(x|stral|llama|gemma|qwen|gen|geex)[0-9]*|.*coder[0-9]*")
_NO_CODE_WORD = re.compile(r"(en|de|vo)coder[0-9]*")
_WORD_BREAK = re.compile(r"[-_./:]")


def documentation(endpoint: Endpoint) -> float:
    """The documented share of eight facts."""
    facts = (
        endpoint.model_version,
        endpoint.region,
        endpoint.sovereignty,
        endpoint.context_window is not None,
        endpoint.max_output_tokens is not None,
        endpoint.input_price is not None and endpoint.output_price is not None,
        endpoint.parameters_b is not None,
        endpoint.strong_languages,
    )
    return sum(map(bool, facts)) / len(facts)


def language_fit(endpoint: Endpoint, language: str) -> float:
    """1 where the model is strong in the language, or in many where `mul` asks for many."""
    if language == MANY:
        return float(is_multilingual(endpoint))
    return float(language in endpoint.strong_languages)


def task_fit(endpoint: Endpoint, task: str) -> float:
    """How well the model suits the task, 0 to 1: a row of the table, or by its tag."""
    fit = FITS.get(task)
    if fit is not None:
        return fit(endpoint)
    return 1.0 if task in endpoint.tags else OTHER_FIT


def _cheap_fit(endpoint: Endpoint) -> float:
    size = endpoint.parameters_b
    if size is None:
        return _LEAST_CHEAP
    if size <= _SMALL_B:
        return 1.0
    return max(_LEAST_CHEAP, 1 - 0.85 * math.log(size / _SMALL_B) / math.log(_LARGE_B / _SMALL_B))


def _retrieval_fit(endpoint: Endpoint) -> float:
    window = endpoint.context_window
    return min(1.0, max(0.1, (math.log2(window) - 13) / 4)) if window else 0.1


def _coding_fit(endpoint: Endpoint) -> float:
    if is_specialised_in_code(endpoint.model):
        return 1.0
    return _CODING_TAG_FIT if "coding" in endpoint.tags else OTHER_FIT


def is_multilingual(endpoint: Endpoint) -> bool:
    """Whether the model declares so many strong languages that it counts as strong in many."""
    return len(endpoint.strong_languages) >= _MANY_LANGUAGES


FITS: dict[str, Callable[[Endpoint], float]] = {
    words.GENERAL: lambda endpoint: 0.5,
    "cheap": _cheap_fit,
    words.RETRIEVAL: _retrieval_fit,
    "coding": _coding_fit,
    "multilingual": lambda endpoint: 1.0 if is_multilingual(endpoint) else OTHER_FIT,
}


def is_specialised_in_code(slug: str) -> bool:
    """Whether one of the slug's words says that the model was made for code (`devstral`, `starcoder2`, `codegemma`)."""
    return any(_CODE_WORD.fullmatch(word) and not _NO_CODE_WORD.fullmatch(word) for word in _WORD_BREAK.split(slug))


def weighted(value: float) -> int:
    """A weighted term, as double, in whole 10⁻⁹: rounded to the nearest, ties to even."""
    scaled = value * SCALE
    nearest = round(scaled)
    # Scaling rounds once more; only next to a tie can that matter, and there the exact decimal decides.
    if abs(abs(scaled - nearest) - 0.5) > 1e-5:
        return nearest
    return int((Decimal(value) * SCALE).to_integral_value(rounding=ROUND_HALF_EVEN))
