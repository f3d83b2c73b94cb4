"""What messages hold: modalities and tokens. Of their words nothing is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from router_openai_proxy.asking import tokens
from router_openai_proxy.errors import Problem

Part = Mapping[str, Any]


@dataclass(slots=True)
class Content:
    """What was found in the messages of a request."""

    modalities: set[str] = field(default_factory=set)
    tokens: float = 0.0
    problems: list[Problem] = field(default_factory=list)

    @property
    def input_tokens(self) -> int:
        """Tokens as a whole number."""
        return math.ceil(self.tokens)


def _inner(part: Part, key: str) -> Part:
    found = part.get(key)
    return found if isinstance(found, dict) else {}


def _length(part: Part, key: str) -> int:
    found = part.get(key)
    return len(found) if isinstance(found, str) else 0


def _image(part: Part) -> float:
    return tokens.IMAGE_LOW if _inner(part, "image_url").get("detail") == "low" else tokens.IMAGE


def _audio(part: Part) -> float:
    return _length(_inner(part, "input_audio"), "data") / tokens.AUDIO_CHARACTERS


def _file(part: Part) -> float:
    return _length(_inner(part, "file"), "file_data") / tokens.FILE_CHARACTERS or tokens.FILE


def _words(key: str) -> Callable[[Part], float]:
    return lambda part: tokens.of_text(text) if isinstance(text := part.get(key), str) else 0.0


# The types of parts: what a model must be able to take in, and how many tokens it takes.
_PARTS: Mapping[str, tuple[str, Callable[[Part], float]]] = {
    "text": ("text", _words("text")),
    "refusal": ("text", _words("refusal")),
    "image_url": ("image", _image),
    "input_audio": ("audio", _audio),
    "video_url": ("video", lambda part: tokens.VIDEO),
    "file": ("file", _file),
}


def read_messages(messages: object) -> Content:
    """What they hold, and what of them makes no sense."""
    found = Content()
    if not isinstance(messages, list) or not messages:
        found.problems.append(Problem("messages", "must be a list of at least one message"))
        return found
    for number, message in enumerate(messages):
        place = f"messages[{number}]"
        if not isinstance(message, dict):
            found.problems.append(Problem(place, "must be an object with role and content"))
            continue
        found.tokens += tokens.MESSAGE
        _read_content(message.get("content"), f"{place}.content", found)
        found.tokens += sum(tokens.of_text(one) for one in _called(message))
    return found


def _read_content(content: object, place: str, found: Content) -> None:
    if isinstance(content, str):
        found.modalities.add("text")
        found.tokens += tokens.of_text(content)
    elif isinstance(content, list):
        for number, part in enumerate(content):
            _read_part(part, f"{place}[{number}]", found)
    elif content is not None:
        found.problems.append(Problem(place, "must be text, or a list of parts"))


def _read_part(part: object, place: str, found: Content) -> None:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(part, dict) or not isinstance(kind, str) or kind not in _PARTS:
        what = f"must be one of {', '.join(_PARTS)}: of others it is not known what they need"
        found.problems.append(Problem(f"{place}.type", what))
        return
    modality, count = _PARTS[kind]
    found.modalities.add(modality)
    found.tokens += count(part)


def _called(message: Part) -> Iterator[str]:
    """The texts of the calls of tools that the assistant made before."""
    calls = message.get("tool_calls")
    for one in calls if isinstance(calls, list) else ():
        for inner in ("function", "custom"):
            said = _inner(one, inner) if isinstance(one, dict) else {}
            yield from (said[key] for key in ("name", "arguments", "input") if isinstance(said.get(key), str))
