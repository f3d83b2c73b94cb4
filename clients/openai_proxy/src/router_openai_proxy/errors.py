"""Errors as OpenAI shapes them, and whether an SDK may ask again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from router_openai_proxy import facts

# OpenAI's word for the kind of an error, by its status.
_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class Problem(NamedTuple):
    """One thing of a request that makes no sense: its place in the body, or the header; what is wrong; its cure."""

    param: str
    what: str


@dataclass(eq=False)
class ApiError(Exception):
    """What a client is answered in the place of an answer.

    Attributes:
        status: the HTTP status.
        code: a name for programs.
        message: a sentence for people.
        param: the parameter or header that it is about.
        kind: OpenAI's `type`; by default the status tells it.
        final: whether the same request fails again, or was tried already as often as it may be: the SDK is told not
            to try it once more beneath its caller.
        retry_after_ms: after how long it may be asked again.
        block: how it came about, which stands beside `error` as `router`, and in the headers.
        more_headers: of the answer.
    """

    status: int
    code: str
    message: str
    param: str | None = None
    kind: str = ""
    final: bool = True
    retry_after_ms: int | None = None
    block: facts.Block | None = None
    more_headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        """Those of the answer."""
        told = {"Content-Type": "application/json", **self.more_headers}
        if self.block is not None:
            told.update(facts.headers(self.block))
        if self.final:
            told["x-should-retry"] = "false"
        if self.retry_after_ms is not None:
            told["Retry-After"] = str(-(-self.retry_after_ms // 1000))
        return told

    def body(self) -> bytes:
        """The JSON of the answer; as an event of a stream it is the same."""
        kind = (
            self.kind or _TYPES.get(self.status) or ("server_error" if self.status >= 500 else "invalid_request_error")
        )
        error = {"message": self.message, "type": kind, "param": self.param, "code": self.code}
        return msgspec.json.encode({"error": error} if self.block is None else {"error": error, "router": self.block})


def bad_request(problems: Iterable[Problem]) -> ApiError:
    """400 with every problem of a request; `param` is the first one's."""
    told = list(problems)
    message = "; ".join(f"{one.param}: {one.what}" if one.param else one.what for one in told)
    return ApiError(400, "invalid_request", message, param=told[0].param or None)
