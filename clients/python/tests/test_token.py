"""A client shows its token with each call, follows the file that holds it, and never sends it in the open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest

from clients.conformance.serving import serving
from router_service_client import AsyncRouterClient, Report, RouterClient, Unauthenticated, candidates
from tests.callers.files import entry, token_of
from tests.server.identity.certificates import Authority

CALLERS = """\
callers:
- {caller: program, sans: [program.internal], roles: [decide, report, read], policies: [eu-hosted]}
- {caller: asking, roles: [decide], policies: [eu-hosted]}
tokens:
"""
GOOD = token_of("program")


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that knows its callers, in plain on this machine."""
    folder = tmp_path_factory.mktemp("known")
    (folder / "callers.yaml").write_text(CALLERS + entry("program") + entry("asking"))
    flags = ("--callers", str(folder / "callers.yaml"), "--store", f"sqlite:{folder}/router.db")
    with serving("--listen", "127.0.0.1:0", *flags) as address:
        yield address


@pytest.mark.parametrize(
    "of", [lambda path: GOOD, lambda path: path, lambda path: lambda: GOOD], ids=["text", "file", "function"]
)
async def test_it_is_shown_with_every_call(target: str, tmp_path: Path, of: Callable[[Path], object]) -> None:
    path = tmp_path / "token"
    path.write_text(f"{GOOD}\n")
    token: object = of(path)
    with RouterClient(target, token=token) as router:  # type: ignore[arg-type]
        trace_id = router.decide(task="coding").decision.trace_id
        assert router.explain(task="coding").HasField("explanation")
        router.report(trace_id=trace_id, outcome="cancelled")
        assert router.report_stream([Report(trace_id=trace_id, outcome="failed")]).rejected == []
        assert router.get_trace(trace_id).caller == "program"
        assert [one.caller for one in router.get_trace(trace_id).reports] == ["program", "program"]
        assert trace_id in {one.trace_id for one in router.list_traces()}
    async with AsyncRouterClient(target, token=token) as asking:  # type: ignore[arg-type]
        assert candidates(await asking.decide(task="coding"))
        assert (await asking.report_stream([Report(trace_id=trace_id, outcome="rejected")])).rejected == []


async def test_one_that_is_not_known_is_told_so(target: str) -> None:
    for token in (None, "not_a_token_of_anybody_0123456789abcdef"):
        with RouterClient(target, token=token) as router, pytest.raises(Unauthenticated) as caught:
            router.decide(task="coding")
        assert caught.value.reason == "ERROR_REASON_UNAUTHENTICATED"
        async with AsyncRouterClient(target, token=token) as asking:
            with pytest.raises(Unauthenticated):
                await asking.decide(task="coding")


def test_a_file_that_is_renewed_is_read_again(target: str, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("not_a_token_of_anybody_0123456789abcdef")
    with RouterClient(target, token=path) as router:
        with pytest.raises(Unauthenticated):
            router.decide(task="coding")
        (tmp_path / "new").write_text(GOOD)
        (tmp_path / "new").rename(path)
        assert candidates(router.decide(task="coding"))
        path.unlink()
        with pytest.raises(Unauthenticated, match=r"there is no token to show: .*No such file"):
            router.decide(task="coding")
        path.write_text("two words")
        with pytest.raises(Unauthenticated, match="there is no token to show: that is no token"):
            router.decide(task="coding")


def test_it_is_not_sent_in_the_open() -> None:
    for client in (RouterClient, AsyncRouterClient):
        with pytest.raises(ValueError, match="plain connection for everybody to read") as caught:
            client("router.example:50051", token=GOOD)
        assert GOOD not in str(caught.value)
        with pytest.raises(ValueError, match="that is no token") as caught:
            client("127.0.0.1:1", token="two words")  # noqa: S106 - none
        assert "two words" not in str(caught.value)
    RouterClient("router.example:50051", token=GOOD, credentials=grpc.ssl_channel_credentials()).close()


def test_over_tls_a_token_or_a_certificate_is_shown(tmp_path: Path) -> None:
    authority = Authority()
    (tmp_path / "callers.yaml").write_text(CALLERS + entry("program"))
    cert, key = authority.issue("localhost", "127.0.0.1").write(tmp_path)
    flags = ["--callers", str(tmp_path / "callers.yaml"), "--tls-cert", str(cert), "--tls-key", str(key)]
    with serving("--listen", "127.0.0.1:0", *flags) as target:
        trusted = grpc.ssl_channel_credentials(authority.pem)
        with RouterClient(target, token=GOOD, credentials=trusted) as router:
            assert candidates(router.decide(task="coding"))
    mine = authority.issue("program.internal")
    with serving("--listen", "127.0.0.1:0", *flags, "--tls-client-ca", str(authority.write(tmp_path))) as target:
        shown = grpc.ssl_channel_credentials(authority.pem, mine.key, mine.cert)
        with RouterClient(target, credentials=shown) as router:
            assert candidates(router.decide(task="coding"))
