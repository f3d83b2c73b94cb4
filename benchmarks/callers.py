"""A callers file of many callers, for servers with authentication on; one of them is the load's."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from benchmarks.catalogues import POLICIES
from router_service.callers.tokens import digest_of, new_token

FILE = "callers.yaml"
OTHERS = 100
_POLICIES = tuple(str(one["policy_id"]) for one in POLICIES)


def write_callers(folder: Path, policies: Iterable[str] = _POLICIES) -> str:
    """Writes the file; the value of `authorization` of a caller that may name these policies, by default all."""
    token, named = new_token(), ", ".join(policies)
    callers = [f"- {{caller: load, roles: [decide, report, read], policies: [{named}]}}"]
    tokens = [f"- {{sha256: {digest_of(token)}, caller: load}}"]
    for number in range(OTHERS):
        callers.append(
            f"- {{caller: other-{number}, sans: [other-{number}.internal], roles: [read], policies: [{named}]}}"
        )
        tokens.append(f"- {{sha256: {digest_of(new_token())}, caller: other-{number}}}")
    (folder / FILE).write_text("\n".join(["callers:", *callers, "tokens:", *tokens, ""]))
    return f"Bearer {token}"
