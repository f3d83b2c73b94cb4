"""The names of all keys (docs/stores.md says what each holds).

What is between { and } decides where in a cluster a key lives; the keys of one script share it. Names from outside are
quoted, so that none can look like another key.
"""

from __future__ import annotations

import functools
from urllib.parse import quote


@functools.lru_cache(maxsize=4096)
def _quoted(name: str) -> str:
    return quote(name, safe="/@+,")


class Keys:
    """The keys that begin with one prefix."""

    def __init__(self, prefix: str) -> None:
        if "{" in prefix or "}" in prefix:
            raise ValueError("a prefix of keys has no braces, which would decide where in a cluster they live")
        self._prefix = prefix
        self.meta = f"{prefix}{{meta}}"
        self.policies = f"{prefix}{{policies}}"
        self.expires = f"{prefix}{{index}}:expires"
        self.all = f"{prefix}{{index}}:all"
        self.health = [f"{prefix}{{health}}:{part}" for part in ("versions", "bodies")]
        self.catalogs = [f"{prefix}{{catalog}}:{part}" for part in ("bodies", "needed", "fresh")]

    def _money(self, policy_id: str) -> str:
        return f"{self._prefix}{{policy:{_quoted(policy_id)}}}"

    def spent(self, policy_id: str, day: str) -> str:
        return f"{self._money(policy_id)}:spent:{day}"

    def open(self, policy_id: str) -> str:
        return f"{self._money(policy_id)}:open"

    def ledger(self, policy_id: str, trace_id: str) -> str:
        return f"{self._money(policy_id)}:ledger:{trace_id}"

    def reports(self, policy_id: str, trace_id: str) -> str:
        return f"{self._money(policy_id)}:reports:{trace_id}"

    def trace(self, trace_id: str) -> str:
        return f"{self._prefix}{{trace:{quote(trace_id, safe='')}}}"

    def policy(self, policy_id: str) -> str:
        return f"{self._prefix}{{index}}:policy:{policy_id}"

    def outcome(self, outcome: str) -> str:
        return f"{self._prefix}{{index}}:outcome:{outcome}"

    def endpoint(self, endpoint_id: str) -> str:
        return f"{self._prefix}{{index}}:endpoint:{endpoint_id}"
