"""The Lua scripts, each run as one atomic step of the server, by its hash."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import Any

_LUA = files("router_service.store.redis") / "lua"

Command = tuple[Any, ...]
"""Texts, bytes and whole numbers."""

_texts: dict[str, str] = {}


class Script:
    """One script; called with its keys and arguments it is a command."""

    def __init__(self, name: str) -> None:
        text = "\n".join((_LUA / f"{part}.lua").read_text(encoding="utf-8") for part in ("common", name))
        self._hash = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
        _texts[self._hash] = text

    def __call__(self, keys: list[str], *arguments: str | bytes | int) -> Command:
        return ("EVALSHA", self._hash, len(keys), *keys, *arguments)


def in_full(command: Command) -> Command:
    """A command as it is; a script by its text, for a server that does not know its hash yet."""
    if command[0] == "EVALSHA":
        return ("EVAL", _texts[str(command[1])], *command[2:])
    return command


RESERVE = Script("reserve")
REPORT = Script("report")
EXPIRE = Script("expire")
DRAW = Script("draw")
TRACELESS = Script("traceless")
INDEX = Script("index")
UNINDEX = Script("unindex")
WALK = Script("walk")
SWAP = Script("swap")
STATES = Script("states")
KEEP_CATALOG = Script("keep_catalog")
NEED_CATALOGS = Script("need_catalogs")
SWEEP_CATALOGS = Script("sweep_catalogs")
