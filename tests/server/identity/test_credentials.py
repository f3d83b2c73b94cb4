"""What callers show: tokens and certificates, good ones and all others, over real TLS."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest

from router_service.v1 import router_service_pb2 as pb
from tests.callers.files import entry, token_of
from tests.server.identity.certificates import Authority, Issued
from tests.server.identity.reasons import reason_of
from tests.server.identity.secured import AUTHORITY, EVERYBODY, As, Secured, bearer, callers, secured
from tests.server.live import NOW

GOOD = token_of("decide")
_DAY = 24 * 3600 * 1000


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Secured]:
    """One whose caller `decide` has a second token, for a day from now on, and a second name."""
    until = "2027-01-16T08:00:00Z"
    text = callers().replace("decide.internal", 'decide.internal, "spiffe://prod/decide", decide@example.com, 10.0.0.7')
    text += entry("second", expires_at=until).replace("caller: second", "caller: decide")
    async with secured(tmp_path, text, store="") as running:
        yield running


async def outcome(who: As) -> tuple[str, str]:
    """What comes of a decision: OK, or what was wrong, and the challenge."""
    try:
        await who.method("Decide")(pb.DecideRequest())
    except grpc.aio.AioRpcError as error:
        told = repr(error) if reason_of(error) != "UNAUTHENTICATED" or "not_in_any_answer" in repr(error) else ""
        challenge = str(dict(error.trailing_metadata())["www-authenticate"])
        return told or str(error.details()).partition(";")[0], challenge
    return "OK", ""


BEARER = 'Bearer realm="router-service"'
INVALID = f'{BEARER}, error="invalid_token"'


NO_TOKEN, MALFORMED = "no caller has this token", "the call's authorization is not one bearer token"
SENT: list[tuple[list[str], tuple[str, str]]] = [
    ([f"Bearer {GOOD}"], ("OK", "")),
    ([f"bearer {GOOD}"], ("OK", "")),
    ([f"BEARER {GOOD}"], ("OK", "")),
    ([], ("the call brings no credential", BEARER)),
    (["Bearer not_in_any_answer"], (NO_TOKEN, INVALID)),
    ([f"Bearer {GOOD}x"], (NO_TOKEN, INVALID)),
    ([f"Bearer {GOOD[:-1]}"], (NO_TOKEN, INVALID)),
    ([f"Bearer  {GOOD}"], (NO_TOKEN, INVALID)),
    ([f"Bearer {GOOD} {GOOD}"], (NO_TOKEN, INVALID)),
    (["Bearer " + "x" * 4000], (NO_TOKEN, INVALID)),
    (["Bearer"], (MALFORMED, INVALID)),
    (["Bearer "], (MALFORMED, INVALID)),
    ([""], (MALFORMED, INVALID)),
    ([GOOD], (MALFORMED, INVALID)),
    ([f"Basic {GOOD}"], (MALFORMED, INVALID)),
    ([f"Bearer {GOOD}"] * 2, (MALFORMED, INVALID)),
    (["Bearer not_in_any_answer", f"Bearer {GOOD}"], (MALFORMED, INVALID)),
]


async def test_a_token_is_taken_as_it_is_or_not_at_all(server: Secured) -> None:
    channel = await server.for_tokens()
    found = [(sent, await outcome(As(channel, [("authorization", one) for one in sent]))) for sent, _ in SENT]
    assert found == SENT


async def test_a_token_ends_when_the_file_says_so(server: Secured) -> None:
    second = As(await server.for_tokens(), bearer("second"))
    server.live.now = NOW + _DAY - 1
    assert await outcome(second) == ("OK", "")
    server.live.now = NOW + _DAY
    assert await outcome(second) == ("the token has expired", INVALID)
    assert await outcome(As(await server.for_tokens(), bearer("decide"))) == ("OK", "")


async def by(server: Secured, shown: Issued, token: str = "") -> As:
    """Somebody with a certificate, and a token where one is given."""
    credentials = grpc.ssl_channel_credentials(AUTHORITY.pem, shown.key, shown.cert)
    channel = await server.stack.enter_async_context(grpc.aio.secure_channel(server.live.targets[1], credentials))
    return As(channel, (("authorization", f"Bearer {token}"),) if token else ())


SHOWN = [
    (["decide.internal"], "OK"),
    (["spiffe://prod/decide"], "OK"),
    (["decide@example.com"], "OK"),
    (["10.0.0.7"], "OK"),
    (["unknown.internal", "decide.internal"], "OK"),
    (["decide.internal", "spiffe://prod/decide"], "OK"),
    (["decide.internal", "read.internal"], "the certificate has names of several callers"),
    (["unknown.internal"], "no caller has this certificate"),
    (["decide.internal.example.com"], "no caller has this certificate"),
    (["*.internal"], "no caller has this certificate"),
    ([], "no caller has this certificate"),
]


async def test_a_certificate_is_known_by_its_alternative_names(server: Secured) -> None:
    """By them alone: a common name is what anybody writes."""
    certificates = [AUTHORITY.issue(*names, common_name="decide.internal") for names, _ in SHOWN]
    found = [(await outcome(await by(server, one)))[0] for one in certificates]
    assert found == [said for _, said in SHOWN]


async def test_a_token_goes_before_a_certificate_and_must_hold(server: Secured) -> None:
    mine = AUTHORITY.issue("read.internal")
    assert await outcome(await by(server, mine, GOOD)) == ("OK", "")
    decide = AUTHORITY.issue("decide.internal")
    assert (await outcome(await by(server, decide, "not_in_any_answer")))[0] == "no caller has this token"


async def test_without_a_certificate_of_the_ca_nobody_gets_in(server: Secured) -> None:
    target = server.live.targets[1]
    foreign, ended = Authority("others").issue("decide.internal"), AUTHORITY.issue("decide.internal", days=0.5)
    for shown in (None, foreign, ended):
        pair = (None, None) if shown is None else (shown.key, shown.cert)
        credentials = grpc.ssl_channel_credentials(AUTHORITY.pem, *pair)
        async with grpc.aio.secure_channel(target, credentials) as channel:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await As(channel, bearer(EVERYBODY)).method("Decide")(pb.DecideRequest(), timeout=10)
            assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_what_is_not_let_in_is_counted_by_its_reason(server: Secured) -> None:
    channel = await server.for_tokens()
    for metadata in ((), (("authorization", "Basic x"),), bearer("stranger"), bearer("stranger")):
        await outcome(As(channel, metadata))
    await outcome(await by(server, AUTHORITY.issue("unknown.internal")))
    await outcome(await by(server, AUTHORITY.issue("decide.internal", "read.internal")))
    server.live.now = NOW + _DAY
    await outcome(As(channel, bearer("second")))
    value = server.live.registry.get_sample_value
    counted = {
        reason: value("router_unauthenticated_total", {"reason": reason})
        for reason in (
            "missing",
            "malformed",
            "unknown_token",
            "expired_token",
            "unknown_certificate",
            "ambiguous_certificate",
        )
    }
    assert counted == {
        "missing": 1,
        "malformed": 1,
        "unknown_token": 2,
        "expired_token": 1,
        "unknown_certificate": 1,
        "ambiguous_certificate": 1,
    }
    assert value("router_callers") == 5
