"""Structured logs on stderr: JSON, or coloured lines on a terminal. No payload and no secret ever gets here."""

from __future__ import annotations

import logging
import sys
from typing import Any

import msgspec
import structlog

LEVELS = ("debug", "info", "warning", "error")
FORMATS = ("auto", "json", "console")


def make_logger(level: str, form: str, *, with_spans: bool = False) -> Any:
    """A logger that writes lines of at least `level`, in one of `FORMATS`; `with_spans` adds the ids of the span."""
    on_terminal = form == "console" or (form == "auto" and sys.stderr.isatty())
    # A refusal writes a line, so JSON is made and written as bytes, the quickest way.
    render: Any = structlog.dev.ConsoleRenderer() if on_terminal else structlog.processors.JSONRenderer(_as_json)
    write: Any = structlog.WriteLogger(sys.stderr) if on_terminal else structlog.BytesLogger(sys.stderr.buffer)
    logger = structlog.wrap_logger(
        write,
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            *_span_adders(with_spans=with_spans),
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
    )
    # Bound once: the lazy proxy that wrap_logger gives binds anew at every call.
    return logger.bind()


def _span_adders(*, with_spans: bool) -> list[Any]:
    if not with_spans:
        return []
    from router_service.server.spans import add_span  # noqa: PLC0415 - the extra otel

    return [add_span]


def _as_json(line: Any, **_: Any) -> bytes:
    return msgspec.json.encode(line, enc_hook=str)
