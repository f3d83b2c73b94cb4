"""Files that change while a server runs: callers in one step, certificates for new connections, bad ones never."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable
from pathlib import Path

import grpc
import pytest

from router_service.v1 import catalog_service_pb2 as catalog_pb
from router_service.v1 import router_service_pb2 as pb
from tests.callers.files import entry
from tests.server.identity.certificates import Authority
from tests.server.identity.reasons import reason_of
from tests.server.identity.secured import AUTHORITY, EVERYBODY, As, Secured, bearer, callers, secured
from tests.server.live import until


async def code_of(who: As, name: str = "Decide") -> str:
    """The code, or the reason, of a call."""
    message = pb.DecideRequest() if name == "Decide" else pb.ListTracesRequest()
    try:
        await who.method(name)(message)
    except grpc.aio.AioRpcError as error:
        return reason_of(error)
    return "OK"


def loads(server: Secured, files: str) -> dict[str, float]:
    """How often files were loaded with which outcome."""
    value = server.live.registry.get_sample_value
    outcomes = ("installed", "unchanged", "rejected")
    return {one: value("router_identity_loads_total", {"files": files, "outcome": one}) or 0 for one in outcomes} | {
        "now": value("router_identity_rejected", {"files": files}) or 0
    }


def rewrite(path: Path, text: str) -> None:
    """Replaces a file in one step."""
    new = path.with_name("new")
    new.write_text(text)
    new.rename(path)


async def test_callers_are_read_again_and_bad_ones_change_nothing(tmp_path: Path) -> None:
    async with secured(tmp_path, store="") as server:
        file, channel = tmp_path / "callers.yaml", await server.for_tokens()
        decide, newcomer = As(channel, bearer("decide")), As(channel, bearer("newcomer"))
        assert [await code_of(decide), await code_of(newcomer)] == ["OK", "UNAUTHENTICATED"]
        rewrite(file, callers() + entry("newcomer").replace("caller: newcomer", "caller: read"))
        await until(lambda: _is(code_of(newcomer), "ROLE_MISSING"))
        assert await code_of(decide) == "OK"
        rewrite(file, "callers: [")
        await until(lambda: _holds(loads(server, "callers")["now"] == 1))
        assert [await code_of(decide), await code_of(newcomer)] == ["OK", "ROLE_MISSING"]
        rewrite(file, callers().replace("roles: [decide]", "roles: [report]"))
        await until(lambda: _is(code_of(decide), "ROLE_MISSING"))
        assert await code_of(newcomer) == "UNAUTHENTICATED"
        counted = loads(server, "callers")
        assert counted["now"] == 0
        assert counted["rejected"] >= 1
        assert counted["installed"] == 3


async def _is(call: Awaitable[str], code: str) -> bool:
    return await call == code


async def _not(call: Awaitable[bool]) -> bool:
    return not await call


async def _holds(held: bool) -> bool:
    return held


def without(*gone: str) -> str:
    """The callers file without these callers and their tokens."""
    return "".join(
        one for one in callers().splitlines(keepends=True) if not any(f"caller: {name}" in one for name in gone)
    )


async def test_a_stream_ends_with_its_callers_right_to_it(tmp_path: Path) -> None:
    async with secured(tmp_path, store="") as server:
        channel = await server.for_tokens()
        decide, read = As(channel, bearer("decide")), As(channel, bearer("read"))
        stream = decide.method("DecideStream")()
        watch = read.method("WatchCatalog")(catalog_pb.WatchCatalogRequest())
        await watch.read()
        await stream.write(pb.DecideStreamRequest())
        assert not (await stream.read()).HasField("error")
        rewrite(tmp_path / "callers.yaml", without("decide", "read"))
        await until(lambda: _is(code_of(decide), "UNAUTHENTICATED"))
        await stream.write(pb.DecideStreamRequest())
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stream.read()
        assert reason_of(caught.value) == "UNAUTHENTICATED"
        # Of a watch the right is looked at when there is something to tell.
        catalog = tmp_path / "catalog.yaml"
        catalog.write_text(catalog.read_text().replace("latency_ms: 600", "latency_ms: 610"))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await asyncio.wait_for(watch.read(), 30)
        assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_a_token_that_ends_takes_its_stream_along(tmp_path: Path) -> None:
    text = callers() + entry("brief", expires_at="2027-01-15T08:01:00Z").replace("caller: brief", "caller: decide")
    async with secured(tmp_path, text, store="") as server:
        stream = As(await server.for_tokens(), bearer("brief")).method("DecideStream")()
        await stream.write(pb.DecideStreamRequest())
        assert not (await stream.read()).HasField("error")
        server.live.now += 60_000

        async def is_open() -> bool:
            await stream.write(pb.DecideStreamRequest())
            return not (await stream.read()).HasField("error")

        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await until(lambda: _not(is_open()))
        assert reason_of(caught.value) == "UNAUTHENTICATED"


def presented(target: str) -> bytes:
    """The certificate that a new connection is shown."""
    host, _, port = target.rpartition(":")
    return ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate((host, int(port)))).strip()


async def test_a_new_certificate_is_for_new_connections_and_drops_none(tmp_path: Path) -> None:
    async with secured(tmp_path, store="") as server:
        target, everybody = server.live.targets[0], As(await server.for_tokens(), bearer(EVERYBODY))
        watch = everybody.method("WatchCatalog")(catalog_pb.WatchCatalogRequest())
        await watch.read()
        first = await asyncio.to_thread(presented, target)
        second = AUTHORITY.issue("localhost", "127.0.0.1", days=20)
        second.write(tmp_path)
        renewed = ssl.PEM_cert_to_DER_cert(second.cert.decode()).strip()
        assert first != renewed

        async def is_shown() -> bool:
            return await asyncio.to_thread(presented, target) == renewed

        await until(is_shown)
        expiry = server.live.registry.get_sample_value("router_tls_certificate_expiry_timestamp_seconds")
        assert expiry == pytest.approx(second.expires_at_s, abs=1)
        # A certificate of a key that is not there yet, as between the two writes of a renewal, and one for nobody.
        (tmp_path / "server.pem").write_bytes(Authority("others").issue("localhost").cert)
        await until(lambda: _holds(loads(server, "tls")["now"] == 1))
        assert await is_shown()
        assert await code_of(everybody) == "OK"
        assert not watch.done()
        (tmp_path / "server.pem").write_bytes(second.cert)
        await until(lambda: _holds(loads(server, "tls")["now"] == 0))
        mutual = As(await server.by_certificate(EVERYBODY))
        assert await code_of(mutual) == "OK"
        watch.cancel()


async def test_a_new_ca_of_clients_is_for_new_connections(tmp_path: Path) -> None:
    async with secured(tmp_path, store="") as server:
        before = As(await server.by_certificate(EVERYBODY))
        assert await code_of(before) == "OK"
        others = Authority("others")
        mine = others.issue(f"{EVERYBODY}.internal")
        (tmp_path / "ca.pem").write_bytes(others.pem)
        credentials = grpc.ssl_channel_credentials(AUTHORITY.pem, mine.key, mine.cert)

        async def is_let_in() -> bool:
            async with grpc.aio.secure_channel(server.live.targets[1], credentials) as channel:
                try:
                    return bool(await As(channel).method("Decide")(pb.DecideRequest(), timeout=5))
                except grpc.aio.AioRpcError:
                    return False

        await until(is_let_in)
        assert await code_of(before) == "OK"


async def test_what_callers_name_in_vain_is_said_and_grants_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = callers(policies="[policy-own, policy-own2]")
    async with secured(tmp_path, text, store="", log_level="warning", log_format="json") as server:
        decide = As(await server.for_tokens(), bearer("decide"))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await decide.method("Decide")(pb.DecideRequest(policy_id="policy-own2"))
        assert reason_of(caught.value) == "POLICY_NOT_FOUND"
        await until(lambda: _holds("callers name what the catalogue does not have" in capfd.readouterr().err))
