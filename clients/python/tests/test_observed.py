"""What is seen of the exceptions and responses of libraries, by real calls where the library is here."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import openai
import pytest

from clients.conformance.faults import closed_port, faulty_backend
from router_service_client import CallFailed, Seen, classify, seen_of_exception, seen_of_response


def raised(call: Callable[[], object]) -> BaseException:
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - which one is what is looked at
        call()
    return caught.value


def opened(url: str, timeout: float = 5) -> http.client.HTTPResponse:
    answer: http.client.HTTPResponse = urllib.request.urlopen(url, timeout=timeout)  # noqa: S310 - of this test
    return answer


def of_library(module: str, *names: str) -> BaseException:
    """An exception as a library raises it that is not here: by its module and the names down to it."""
    kind: type[BaseException] = Exception
    for name in names:
        kind = type(name, (kind,), {"__module__": module})
    return kind("m")


def seen_kind(error: BaseException) -> str | None:
    seen = seen_of_exception(error)
    return None if seen is None else seen.kind


def test_the_standard_library() -> None:
    with faulty_backend() as backend:
        url = f"http://127.0.0.1:{backend.port}"
        refused = f"http://127.0.0.1:{closed_port()}"
        assert seen_kind(raised(lambda: opened(refused))) == "connect"
        assert seen_kind(raised(lambda: opened(f"{url}/reset"))) == "lost"
        assert seen_kind(raised(lambda: opened(f"{url}/hang", 0.1))) == "lost"
        assert seen_kind(raised(lambda: opened(f"{url}/truncated").read())) == "lost"
        limited = raised(lambda: opened(f"{url}/limited"))
        assert isinstance(limited, urllib.error.HTTPError)
        seen = seen_of_exception(limited)
        assert seen is not None
        assert (seen.kind, seen.status, seen.headers["Retry-After"]) == ("http", 429, "30")
        assert seen.body == b'{"error":{"code":"rate_limit_exceeded"}}'
        limited.close()


def test_a_response_is_read() -> None:
    with faulty_backend() as backend:
        connection = http.client.HTTPConnection("127.0.0.1", backend.port)
        connection.request("GET", "/ill")
        seen = seen_of_response(connection.getresponse())
        connection.close()
    assert (seen.status, seen.body) == (503, b"<html>")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (CallFailed.not_connected(), "connect"),
        (CallFailed.lost(), "lost"),
        (CallFailed.broken_off(), "broken_off"),
        (CallFailed.cancelled(), "caller_cancelled"),
        (CallFailed.not_accepted("why"), "acceptance_failed"),
        (CallFailed.content_refused(), "content_refused"),
        (CallFailed.http(503), "http"),
        (ConnectionRefusedError(), "connect"),
        (socket.gaierror(), "connect"),
        (ssl.SSLCertVerificationError(), "connect"),
        (urllib.error.URLError(ConnectionRefusedError()), "connect"),
        (urllib.error.URLError(ConnectionResetError()), "lost"),
        (TimeoutError(), "lost"),
        (BrokenPipeError(), "lost"),
        (EOFError(), "lost"),
        (asyncio.CancelledError(), "caller_cancelled"),
        (json.JSONDecodeError("m", "", 0), "acceptance_failed"),
        (of_library("httpx", "TransportError", "ConnectError"), "connect"),
        (of_library("httpx", "TransportError", "TimeoutException", "ConnectTimeout"), "connect"),
        (of_library("httpx", "TransportError", "TimeoutException", "ReadTimeout"), "lost"),
        (of_library("httpx", "TransportError", "RemoteProtocolError"), "lost"),
        (of_library("requests.exceptions", "ConnectionError", "SSLError"), "connect"),
        (of_library("requests.exceptions", "ConnectionError"), "lost"),
        (of_library("aiohttp.client_exceptions", "ClientConnectionError", "ClientConnectorError"), "connect"),
        (of_library("aiohttp.client_exceptions", "ClientConnectionError", "ServerDisconnectedError"), "lost"),
        (of_library("botocore.exceptions", "EndpointConnectionError"), "connect"),
        (KeyError("mine"), None),
        (ValueError("mine"), None),
        (KeyboardInterrupt(), None),
    ],
    ids=repr,
)
def test_exceptions_by_kind(error: BaseException, kind: str | None) -> None:
    assert seen_kind(error) == kind


def test_what_caused_it_knows_better() -> None:
    outer = of_library("openai", "APIConnectionError")
    outer.__cause__ = of_library("httpx", "ConnectError")
    assert seen_kind(outer) == "connect"
    new = of_library("urllib3.exceptions", "NewConnectionError")
    pool = of_library("urllib3.exceptions", "MaxRetryError")
    pool.reason = new  # type: ignore[attr-defined]
    wrapped = of_library("requests.exceptions", "ConnectionError")
    wrapped.args = (pool,)
    assert seen_kind(wrapped) == "connect"


def test_the_openai_sdk_as_it_is() -> None:
    with faulty_backend() as backend:
        for port, fault, kind in (
            (closed_port(), "", "connect"),
            (backend.port, "reset", "lost"),
            (backend.port, "truncated", "lost"),
            (backend.port, "limited", "http"),
        ):
            with openai.OpenAI(base_url=f"http://127.0.0.1:{port}", api_key="k", max_retries=0) as client:
                error = raised(lambda client=client, fault=fault: client.get(f"/{fault}", cast_to=object))  # type: ignore[misc]
            assert seen_kind(error) == kind, fault


def test_a_fault_of_ones_own_while_a_refusal_was_handled_is_no_refusal() -> None:
    def call() -> None:
        try:
            raise ConnectionRefusedError
        except ConnectionRefusedError:
            {}["mine"]  # type: ignore[index]

    assert seen_kind(raised(call)) is None


def test_exceptions_with_an_answer() -> None:
    class Response:
        status_code = 404
        headers = {"X-Should-Retry": "false"}  # noqa: RUF012
        content = b"{}"

    error = of_library("openai", "APIStatusError")
    error.response = Response()  # type: ignore[attr-defined]
    assert seen_of_exception(error) == Seen("http", 404, {"X-Should-Retry": "false"}, b"{}")
    aws = of_library("botocore.exceptions", "ClientError")
    aws.response = {  # type: ignore[attr-defined]
        "Error": {"Code": "ThrottlingException", "Message": "m"},
        "ResponseMetadata": {"HTTPStatusCode": 429, "HTTPHeaders": {"a": "b"}},
    }
    assert seen_of_exception(aws) == Seen("http", 429, {"a": "b"}, {"__type": "ThrottlingException", "message": "m"})


def test_grpc() -> None:
    with grpc.insecure_channel(f"127.0.0.1:{closed_port()}") as channel:
        call: Callable[..., object] = channel.unary_unary("/a.B/C")
        seen = seen_of_exception(raised(lambda: call(b"", timeout=5)))
    assert seen is not None
    assert (seen.kind, seen.code) == ("grpc", "UNAVAILABLE")


def test_a_kind_must_be_known() -> None:
    with pytest.raises(ValueError, match="is no kind of Seen"):
        Seen("odd")


def test_grpc_tells_whose_cancellation_it_was() -> None:
    def cancel(_request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        context.abort(grpc.StatusCode.CANCELLED, "by the backend itself")
        yield b""

    def endless(_request: bytes, _context: grpc.ServicerContext) -> Iterator[bytes]:
        yield b"first"
        ended.wait(30)

    def cancelled_here(call: Any) -> None:
        next(call)
        call.cancel()
        next(call)

    ended = threading.Event()
    methods = {"Backend": cancel, "Caller": endless}
    server = grpc.server(ThreadPoolExecutor(2))
    handlers: Any = {name: grpc.unary_stream_rpc_method_handler(method) for name, method in methods.items()}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("a.B", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        backend: Any = channel.unary_stream("/a.B/Backend")
        caller: Any = channel.unary_stream("/a.B/Caller")
        seen = seen_of_exception(raised(lambda: next(backend(b"", timeout=30))))
        own = seen_of_exception(raised(lambda: cancelled_here(caller(b"", timeout=30))))
    ended.set()
    server.stop(None).wait()
    assert seen is not None
    assert own is not None
    assert ((seen.kind, seen.code), own.kind) == (("grpc", "CANCELLED"), "caller_cancelled")
    assert (classify(seen).failure_class, classify(own).failure_class) == ("ambiguous", "")


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("[" * 100_000, ""),  # deeper than Python reads
        ('{"error": {"code": "insufficient_quota", "n": ' + "9" * 5000 + "}}", "quota"),  # longer than int() takes
        ('{"error": {"code": "insufficient_quota", "n": -' + "9" * 400 + "}}", "quota"),
        ('{"error": {"code": "insufficient_quota", "n": Infinity}}', ""),
    ],
    ids=["deep", "long", "negative", "infinite"],
)
def test_odd_json_is_read_as_far_as_it_is_json(text: str, subject: str) -> None:
    verdict = classify(Seen("http", 429, body=text))
    assert (verdict.of == "endpoint") == (subject == "quota")
