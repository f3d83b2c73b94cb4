"""What type of model a row is: from its mode, else from its modalities and the words of its id and family."""

from __future__ import annotations

import re
from collections.abc import Iterable

from router_service.domain import words
from router_service.domain.text import fold

SPEECH, EMBEDDING, RERANKER, MODERATION, OTHER = "speech", "embedding", "reranker", "moderation", "other"

# LiteLLM's modes; one that is not here is of the type other.
MODES = {
    "chat": words.TEXT,
    "completion": words.TEXT,
    "responses": words.TEXT,
    "embedding": EMBEDDING,
    "rerank": RERANKER,
    "audio_speech": SPEECH,
    "audio_transcription": SPEECH,
    "image_generation": words.IMAGE,
    "image_edit": words.IMAGE,
    "moderation": MODERATION,
}

# What a word of an id or a family is like → a type, for rows that claim to generate text. The first hit counts.
_ID_WORDS = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"rerank.*", RERANKER),
        (r"embed.*|bge|e5|gte|voyage", EMBEDDING),
        (r"moderation", MODERATION),
        (r"whisper|melotts|aura", SPEECH),
        (r"flux", words.IMAGE),
        (r"lyria", OTHER),  # music
    )
)
# Words that make an image model of one that can put out images as well as text.
_IMAGE_WORDS = ("image", "imagine", "banana")
# What a model puts out, where text is not among it → its type.
_OUTPUTS = (("video", OTHER), ("audio", SPEECH), ("image", words.IMAGE))

_WORD_END = re.compile(r"[^a-z0-9]+")

# Other names of the modalities, as the two catalogues spell them.
MODALITIES = {modality: modality for modality in words.MODALITIES} | {"pdf": "file"}


def refined(inputs: Iterable[str] | None, outputs: Iterable[str] | None, *names: str) -> str:
    """The type of a row that claims to generate text, by what else it says of itself.

    `inputs` and `outputs` are modalities, None where not documented; `names` are its id and family.
    Embedding, reranking and speech models are often filed with text as their output.
    """
    found = [word for name in names for word in _WORD_END.split(fold(name)) if word]
    for pattern, kind in _ID_WORDS:
        if any(map(pattern.fullmatch, found)):
            return kind
    out, into = set(outputs or ()), set(inputs or ())
    if out and words.TEXT not in out:
        return next((kind for output, kind in _OUTPUTS if output in out), OTHER)
    if words.IMAGE in out and any(word.startswith(_IMAGE_WORDS) for word in found):
        return words.IMAGE
    if into and words.TEXT not in into:
        return SPEECH if "audio" in into else OTHER
    return words.TEXT


def modalities(given: Iterable[str], changes: set[str]) -> list[str]:
    """The known ones of `given` under the catalogue's names, in its order; unknown ones are counted."""
    names = {fold(name) for name in given}
    if not names <= MODALITIES.keys():
        changes.add("modality_ignored")
    known = {MODALITIES[name] for name in names & MODALITIES.keys()}
    return [modality for modality in words.MODALITIES if modality in known]
