"""The form of a callers file: a list of callers, and a list of the tokens that they show, by their SHA-256."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from router_service.catalog.form import Section
from router_service.domain.caller import CALLER_ID, FIELDS
from router_service.domain.fields import Field, table
from router_service.domain.meanings import Instant
from router_service.domain.problems import Problem
from router_service.domain.readers import Json, Text
from router_service.domain.text import fold

_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Digest:
    """A SHA-256 in hex. What is none may be the token itself, so no message ever shows it."""

    kind: ClassVar[str] = "text"

    def read(self, raw: object, place: str, problems: list[Problem]) -> str | None:
        text = fold(raw) if isinstance(raw, str) else ""
        if _DIGEST.fullmatch(text):
            return text
        cure = "write the line that `router-service token` gives, and never the token itself"
        problems.append(Problem(place, "no SHA-256 of 64 hex digits", cure))
        return None

    def schema(self) -> Json:
        return {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$"}


CALLERS = Section("callers", "caller", "who may call, and what each may", FIELDS)
TOKENS = Section(
    "tokens",
    "sha256",
    "the bearer tokens of callers; a caller may have several",
    table(
        Field("sha256", Digest(), "the SHA-256 of the token, in hex", required=True),
        Field("caller", CALLER_ID, "whose token it is", required=True),
        Field("expires_at", Instant(), "from when on it is nobody's"),
        Field("note", Text(), "for those who keep the file"),
    ),
    refused={"token": ("the token itself has no place in a file", "write its sha256, as `router-service token` gives")},
    overlays=False,
)
SECTIONS = (CALLERS, TOKENS)
