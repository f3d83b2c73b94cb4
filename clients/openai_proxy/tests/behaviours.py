"""What the provider of the tests does: well, badly, and in ways that only networks know."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from clients.openai_proxy.tests.backend import CHUNK, USAGE, Connection, called, completion, event

HANG_SECONDS = 60.0
SOON_SECONDS = 2.0
WORDS = ("Good ", "morning", ", ", "Ada", ".")
TEXT = "".join(WORDS)
WEATHER = '{"city": "Bonn", "degrees": 21}'
FLOOD_BYTES = 64 * 1024 * 1024


def _good(to: Connection) -> None:
    """What was asked for: a stream, a tool's call, JSON of a schema, or words."""
    body = to.got.body
    if body.get("stream"):
        _stream(to)
    elif body.get("tools"):
        to.answer("200 OK", called(body["tools"][0]["function"]["name"], '{"city": "Bonn"}'))
    elif body.get("response_format"):
        to.answer("200 OK", completion({"content": WEATHER}))
    else:
        to.answer("200 OK", completion({"content": TEXT}))


def _stream(to: Connection) -> None:
    to.begin()
    to.say({"role": "assistant", "content": ""})
    to.part(b": keep-alive\n\n")
    if to.got.body.get("tools"):
        call = {"index": 0, "id": "call-1", "type": "function", "function": {"name": "weather", "arguments": ""}}
        to.say({"tool_calls": [call]})
        for piece in ('{"city": ', '"Bonn"}'):
            to.say({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
        to.say({}, "tool_calls")
    else:
        for word in WORDS:
            to.say({"content": word})
        to.say({}, "stop")
    if to.asks_usage:
        to.part(event({**CHUNK, "choices": [], "usage": USAGE}))
    to.end()


def _begins(to: Connection, words: int) -> None:
    to.begin()
    to.say({"role": "assistant", "content": ""})
    for word in WORDS[:words]:
        to.say({"content": word})
    # What follows is to come when these have been passed on: by the test's word, or soon.
    to.backend.go_on.wait(SOON_SECONDS if words else 0.05)


def _dies(to: Connection) -> None:
    """Breaks off after two words."""
    _begins(to, 2)
    to.reset()


def _dies_early(to: Connection) -> None:
    """Breaks off after its role, before the first word."""
    _begins(to, 0)
    to.reset()


def _stops(to: Connection) -> None:
    """Ends in good form, in the middle of a sentence."""
    _begins(to, 2)
    to.socket.sendall(b"0\r\n\r\n")


def _gives_up(to: Connection) -> None:
    _begins(to, 2)
    error = {"message": "The model was overloaded by you.", "type": "server_error", "code": "overloaded"}
    to.part(event({"error": error}))
    to.end()


def _mute(to: Connection) -> None:
    """A stream without a chunk."""
    to.begin()
    to.end()


def _error_first(to: Connection) -> None:
    """Gives up before the first word."""
    _begins(to, 0)
    to.part(event({"error": {"message": "Not now.", "code": "not_now"}}))
    to.end()


def _no_mark(to: Connection) -> None:
    _begins(to, 5)
    to.say({}, "stop")
    to.socket.sendall(b"0\r\n\r\n")


def _endless(to: Connection) -> None:
    """Speaks until nobody listens any more."""
    if not to.got.body.get("stream"):
        to.backend.stopping.wait(HANG_SECONDS)
        if not to.socket.recv(1):
            to.backend.left.set()
        return
    to.begin()
    until = time.monotonic() + HANG_SECONDS
    try:
        while time.monotonic() < until and not to.backend.stopping.is_set():
            to.say({"content": "on "})
            time.sleep(0.01)
    except OSError:
        to.backend.left.set()


def _waits(to: Connection) -> None:
    """Says nothing at all, and notes when it is left."""
    to.socket.settimeout(HANG_SECONDS)
    with contextlib.suppress(OSError):
        if not to.socket.recv(1):
            to.backend.left.set()


def _flood(to: Connection) -> None:
    """As much as it can send, counted."""
    to.begin()
    with contextlib.suppress(OSError):
        while to.backend.sent < FLOOD_BYTES and not to.backend.stopping.is_set():
            to.say({"content": "x" * 16_000})
            to.backend.sent += 16_000
        to.say({}, "stop")
        to.end()


def _pause(to: Connection) -> None:
    """Half of its words, and the rest once it is told to go on."""
    _begins(to, 2)
    to.backend.go_on.wait(HANG_SECONDS)
    for word in WORDS[2:]:
        to.say({"content": word})
    to.say({}, "stop")
    to.end()


def _limited(to: Connection) -> None:
    error = {"message": "Slow down.", "type": "requests", "code": "rate_limit_exceeded"}
    to.answer("429 Too Many Requests", {"error": error}, {"Retry-After": "7"})


def _denied(to: Connection) -> None:
    key = to.got.headers.get("authorization", "").removeprefix("Bearer ")
    to.answer(
        "401 Unauthorized", {"error": {"message": f"Incorrect API key provided: {key}.", "code": "invalid_api_key"}}
    )


def _quotes(to: Connection) -> None:
    """Quotes the credential in an error that is for the client."""
    said = f"Header was {to.got.headers.get('authorization')}."
    to.answer("400 Bad Request", {"error": {"message": said, "param": "top_p", "code": "odd"}})


def _bad(to: Connection) -> None:
    error = {"message": "top_p is above 1.", "type": "invalid_request_error", "param": "top_p", "code": "invalid_value"}
    to.answer("400 Bad Request", {"error": error})


def _final(to: Connection) -> None:
    to.answer("500 Internal Server Error", {"error": {"message": "Never again."}}, {"x-should-retry": "false"})


BEHAVIOURS: dict[str, Callable[[Connection], None]] = {
    "good": _good,
    "dies": _dies,
    "dies-early": _dies_early,
    "stops": _stops,
    "gives-up": _gives_up,
    "error-first": _error_first,
    "no-mark": _no_mark,
    "endless": _endless,
    "waits": _waits,
    "flood": _flood,
    "pause": _pause,
    "limited": _limited,
    "denied": _denied,
    "quotes": _quotes,
    "bad": _bad,
    "final": _final,
    "reset": lambda to: to.reset(),
    "ill": lambda to: to.answer("503 Service Unavailable", b"<html>"),
    "no-json": lambda to: to.answer("200 OK", b'{"choices": '),
    "no-http": lambda to: to.socket.sendall(b"SMTP ready\r\n\r\n"),
    "hidden-error": lambda to: to.answer("200 OK", {"error": {"message": "no", "code": 502}}),
    "unwilling": lambda to: to.answer("200 OK", completion({"refusal": "I will not."})),
    "wrong-schema": lambda to: to.answer("200 OK", completion({"content": '{"city": "Bonn", "degrees": "warm"}'})),
    "wrong-tool": lambda to: to.answer("200 OK", called("format_disk", "{}")),
    "wrong-arguments": lambda to: to.answer("200 OK", called("weather", '{"town": "Bonn"}')),
    "mute": _mute,
    "too-long": lambda to: to.answer(
        "400 Bad Request", {"error": {"message": "Too long.", "code": "context_length_exceeded", "param": "messages"}}
    ),
    "moved": lambda to: to.answer("307 Temporary Redirect", b"", {"Location": "/good/v1/chat/completions"}),
}
