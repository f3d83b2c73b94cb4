"""Names for random cases: models, places, and the shapes that a model id is asked in (§2)."""

import random
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from .regions import EEA_COUNTRIES

T = TypeVar("T")


class Model(NamedTuple):
    """A model of the invented world: an alias belongs to one slug and is no slug itself."""

    slug: str
    aliases: tuple[str, ...]
    vendor: str | None
    parameters_b: float | None


class Place(NamedTuple):
    """Where a provider may run a model."""

    provider: str
    region: str
    country: str | None

    @property
    def eu(self) -> bool:
        """Whether an EU class is well-formed there (§1, `sovereignty`)."""
        return self.country == "EU" or self.country in EEA_COUNTRIES


MODELS = (
    Model("gpt-4o", ("chatgpt-4o",), "openai", None),
    Model("gpt-4o-2024-08-06", (), "openai", None),
    Model("gpt-4o-mini", (), "openai", 8),
    Model("gpt-oss:20b", ("gpt-oss-20b",), "openai", 20),
    Model("gpt-oss-120b", (), "OpenAI", 120),
    Model("mistral-large", ("mistral-large-2411", "Mistral-Large-Instruct"), "mistralai", 123),
    Model("mistral-small", ("mistral-small-3.1",), "mistralai", 24),
    Model("pixtral-12b", (), "mistralai", 12),
    Model("ministral-8b", (), "mistralai", 8),
    Model("codestral", ("codestral-2501",), "mistralai", 22),
    Model("devstral-small", (), "mistralai", 24),
    Model("claude-v2:1", (), "anthropic", None),
    Model("claude-3-5-sonnet", ("sonnet-next",), "anthropic", None),
    Model("nova-lite", ("eu.amazon.nova-lite-v2", "azure/eu/nova"), "amazon", None),
    Model("llama-3.1-8b", ("Meta-Llama-3.1-8B",), "meta", 8),
    Model("llama-3.1-405b", (), "meta", 405),
    Model("llama3-70b-8192", (), "meta", 70),
    Model("codellama2", (), "meta", 7),
    Model("qwen2.5-72b", (), "qwen", 72),
    Model("qwen2.5-coder-32b", (), "qwen", 32),
    Model("codeqwen1.5-7b", (), "qwen", 7),
    Model("deepseek-r1", ("r1",), "deepseek", 671),
    Model("r1-1776", (), "perplexity", 671),
    Model("jamba-large", (), "ai21", 398),
    Model("gemini-flash", (), "google", None),
    Model("phi-4", (), "microsoft", 14.7),
    Model("starcoder:7b", (), "bigcode", 7),
    Model("text-encoder2", (), None, 9),
    Model("codec-vocoder", (), None, 9.000001),
    Model("autocoder3-754b", (), None, 754),
    Model("acme/codegen2", (), "acme", 753),
    Model("code", (), "acme", 1.5),
    Model("codeful-1", (), "acme", 0.6),
    Model("nano-1a", (), None, 1),
    Model("nano-1b", (), "acme", 1),
    Model("nano-1c", (), "acme", 1),
    Model("nano-1d", ("nano-one-d",), None, 1),
)

PLACES = (
    Place("scaleway", "fr-par", "FR"),
    Place("scaleway", "nl-ams", "NL"),
    Place("ovhcloud", "gra", "FR"),
    Place("ionos", "de-txl", "DE"),
    Place("Nebius", "fi-hel", "FI"),
    Place("mistral", "eu", "EU"),
    Place("mistralai", "EU", "FR"),
    Place("google", "europe-west4", "NL"),
    Place("google", "europe-west3", "DE"),
    Place("google", "europe", "EU"),
    Place("aws", "eu-west-1", "IE"),
    Place("AWS", "eu-central-1", "DE"),
    Place("verne", "is-1", "IS"),
    Place("nscale", "osl-1", "NO"),
    Place("acme", "rigi", "LI"),
    Place("azure", "", "SE"),
    Place("", "fr-nowhere", "FR"),
    Place("aws", "eu-west-2", "GB"),
    Place("aws", "eu-central-2", "CH"),
    Place("aws", "us-east-1", "US"),
    Place("OpenAI", "us-1", "US"),
    Place("azure", "eastus2", "US"),
    Place("google", "global", None),
    Place("mystery", "", None),
)

EU_PLACES = tuple(place for place in PLACES if place.eu)
PROVIDERS = tuple(sorted({place.provider for place in PLACES} - {""}))
VENDORS = tuple(sorted({model.vendor for model in MODELS if model.vendor}))

# Valid and invalid dates, and suffixes that name another model.
_SUFFIXES = (
    "-20241022", "-2024-08-06", "-2024-08", "-08-2024", "-2411", "-0613", "-0229", "-latest",
    "-20240230", "-2024-02-30", "-2024-13", "-13-2024", "-1776", "-8192", "-0230", "-2019-01-01",
    "-20400101", "-instruct", "-preview", "-mini", ":free", ":free", ":free", ":20b", "-fp8",
)  # fmt: skip
_PREFIXES = ("eu.", "us.", "apac.", "x.", "ai21.", "Anthropic.", "meta.", "us-gov.", "9.", "eu2.")
_PATHS = (
    "eu/", "azure/eu/", "eu.anthropic/", "x/", "a/b.c/", "@cf/x/", "publishers/acme/models/",
    "bedrock/eu-west-1/", "europe/", "EU/google/", "openrouter//",
)  # fmt: skip
_VERSIONS = ("@20240620", "@default", "@001", "@")
_REVISIONS = ("-v1:0", "-1:0", ":latest", "-v2:1", "-v1:3", "-20241022-v2:0", "-2:0", "-2411-v3:2")
_UNKNOWN = (
    "no-such-model", "gtp-4o", "mistral-larg", "nano-1", "nano-1e:free", "claude", "auto:latest",
    "llmeu/auto/", "x", ":latest", "-v1:0", "@default", "a/", "/", "eu", "eu.", "code:free",
    "~!#$%&'()*+,;<=>?[]^_`{|}", "gpt 4o",
)  # fmt: skip


def chance(rng: random.Random, probability: float) -> bool:
    """True that often."""
    return rng.random() < probability


def pick(rng: random.Random, words: Sequence[T]) -> T:
    """rng.choice at a third of its cost; a random catalogue makes some thirty choices a row."""
    return words[int(rng.random() * len(words))]


def some(rng: random.Random, words: Sequence[T], at_most: int) -> list[T]:
    """One or more of the words, each once, in any order."""
    return rng.sample(words, rng.randint(1, min(at_most, len(words))))


def misspelt_case(rng: random.Random, text: str) -> str:
    """The same text to a reader who folds case."""
    return rng.choice((text.upper(), text.title(), text.capitalize()))


def untidy(rng: random.Random, text: str) -> str:
    """The same text to a reader who trims and folds: mostly as it is."""
    roll = rng.random()
    if roll < 0.1:
        return misspelt_case(rng, text)
    if roll < 0.15:
        return rng.choice((f" {text}", f"{text} ", f"  {text} "))
    return text


def decorated_id(rng: random.Random, name: str, vendor: str | None) -> str:
    """A name in one of the shapes that ids come in; it may or may not still resolve."""
    model_id = name
    if chance(rng, 0.3):
        model_id += rng.choice(_SUFFIXES)
    if chance(rng, 0.25):
        for _ in range(rng.randint(1, 2)):
            model_id = rng.choice((*_PREFIXES, f"{rng.choice(VENDORS)}.")) + model_id
    if chance(rng, 0.35):
        owner = vendor if vendor and chance(rng, 0.6) else rng.choice(VENDORS + PROVIDERS)
        model_id = rng.choice((*_PATHS, f"{owner}/", f"{owner}/", f"x/{owner}/")) + model_id
    if chance(rng, 0.12):
        model_id += rng.choice(_VERSIONS)
    if chance(rng, 0.2):
        model_id += rng.choice(_REVISIONS)
    return model_id


def misspelt_id(rng: random.Random, name: str) -> str:
    """A name with up to three letters changed, lost or added: close, or just not close."""
    letters = list(name)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(letters) + 1)
        letters[at : at + rng.randint(0, 1)] = rng.choice(("", "x", "-", "1"))
    return "".join(letters) or "x"


def unknown_id(rng: random.Random) -> str:
    """An id that no model has, some of them degenerate."""
    return rng.choice(_UNKNOWN)


def glob_of(rng: random.Random, name: str) -> str:
    """A pattern that matches the name, or nearly does."""
    at = rng.randrange(len(name) + 1)
    return rng.choice(
        (
            "*",
            f"{name[:at]}*",
            f"*{name[at:]}",
            f"*{name[at : at + 2]}*",
            f"{name[:1]}*{name[-1:]}",
            f"{name}*",
            f"*{name}*{name[-1:]}",
        )
    )
