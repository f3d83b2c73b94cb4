"""A raw model id → the slug it is catalogued under, by cutting what names a place and nothing of the model."""

from __future__ import annotations

import re
from dataclasses import dataclass

from router_service.domain.readers import TEXT_MAX
from router_service.domain.text import fold, is_printable_ascii, trim
from router_service.engine.model_id import without_prefixes

# Dotted prefixes as Amazon Bedrock, Oracle and Databricks write them: a geography, then a vendor.
_GEOGRAPHIES = "apac au ca eu global in jp us us-gov"
_VENDORS = (
    "ai21 amazon anthropic cohere deepseek google luma meta minimax mistral moonshot moonshotai nvidia"
    " openai qwen stability twelvelabs writer xai zai system ai"
)
_PREFIXES = frozenset(f"{_GEOGRAPHIES} {_VENDORS}".split())
_PREFIX = re.compile(r"([a-z0-9-]+)\.(?=[a-z])")

# What is left of `deepseek.v3.2` without its vendor names no model.
_BARE_VERSION = re.compile(r"[rv][0-9]")
# Amazon's name for a model whose maker, and everybody else, gives it another version.
_RENAMED = {"deepseek-v3": "deepseek-v3.1"}

_UNVERSIONED = frozenset(("default", "latest"))
_DATE = re.compile(r"20[2-3][0-9][01][0-9][0-3][0-9]|2[0-9][01][0-9]")  # YYYYMMDD, or YYMM

# The engine's steps see neither a version, a path nor a prefix in an id without these characters.
_MASK = str.maketrans("./@", "\x01\x02\x03")
_UNMASK = str.maketrans("\x01\x02\x03", "./@")


@dataclass(frozen=True, slots=True)
class Name:
    """What a raw id says: the slug; the id without path, place and revision (`stem`); its @version, or empty."""

    slug: str
    stem: str
    version: str


def is_usable_id(text: str) -> bool:
    """Whether an id can be one of the catalogue: printable ASCII, trimmed, 1 to 256 characters, a name at its end."""
    return is_printable_ascii(text) and text == trim(text) and len(text) <= TEXT_MAX and bool(name_of(text).slug)


def name_of(model_id: str) -> Name:
    """The name in an id. Cut are the path, known dotted prefixes, a cloud's revision, `@default` and `@latest`.

    A size, a price variant, a quantisation and a date stay: they name another model. A date after an @
    is joined with a hyphen, as the same release is written elsewhere (`claude-3-5-sonnet@20240620`).
    """
    last = _without_revision(fold(model_id).rpartition("/")[2])
    name, _, version = last.rpartition("@")
    if name and version in _UNVERSIONED:
        last, version = name, ""
    stem, slug = _without_prefixes(last)
    if not name:
        return Name(slug, stem, "")
    if _DATE.fullmatch(version):
        slug = slug.replace("@", "-")
    return Name(slug, stem, version)


def _without_prefixes(text: str) -> tuple[str, str]:
    """The text without its dotted prefixes, as it stands and as a slug."""
    while (prefix := _PREFIX.match(text)) and prefix[1] in _PREFIXES:
        left = text[prefix.end() :]
        if _BARE_VERSION.match(left):
            joined = f"{prefix[1]}-{left}"
            return text, _RENAMED.get(joined, joined)
        text = left
    return text, text


def _without_revision(text: str) -> str:
    """Step `revision` of docs/decision.md alone, as the engine does it."""
    return without_prefixes(text.translate(_MASK)).translate(_UNMASK)
