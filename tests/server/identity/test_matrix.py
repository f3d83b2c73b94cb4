"""Every method × every role × one's own, somebody's, nobody's and no thing by name: the exact outcome of each."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

from router_service.server.identity.roles import ROLES_OF
from router_service.v1 import catalog_service_pb2 as catalog_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.route_pb2 import RouteRequest
from tests.server.identity.conftest import Known, Stubs
from tests.server.identity.doors import (
    BESIDE,
    DOORS,
    MINE,
    NOBODYS,
    ROLE_MISSING,
    SOMEBODYS,
    UNAUTHENTICATED,
    UNNAMED,
    WHOSE,
    Door,
    Outcome,
    Things,
)
from tests.server.identity.reasons import reason_of, trailing
from tests.server.identity.secured import AUTHORITY, EVERYBODY, OTHERS, OWN, ROLES

ALL = {**DOORS, **BESIDE}
STRANGER = "stranger"


def test_every_method_has_a_row_and_every_row_a_method() -> None:
    """A new method needs a role and a row, or nobody knows who may call it."""
    described = {
        method.name
        for messages in (pb, catalog_pb)
        for service in messages.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    }
    assert described <= ROLES_OF.keys()
    assert ROLES_OF.keys() == DOORS.keys()
    assert {name: set(roles) for name, roles in ROLES_OF.items()} == {
        name: set(one.roles) for name, one in DOORS.items()
    }


def outcome(door: Door, who: Stubs, things: Things, whose: str) -> Outcome:
    """What comes of a call."""
    try:
        return door.call(who, things, whose)
    except grpc.RpcError as error:
        return error.code().name, reason_of(error)


def expected(door: Door, caller: str, whose: str) -> Outcome:
    """What the table says."""
    if caller == STRANGER:
        return UNAUTHENTICATED
    return door.outcomes.get(whose, ("OK", "")) if caller in door.roles else ROLE_MISSING


@pytest.fixture(scope="module")
def things(known: Known) -> Things:
    """Traces of the callers' own policy, of somebody's, and the id of none."""
    everybody = known.known(EVERYBODY)
    traces: dict[str, str] = {NOBODYS: "0" * 32}
    for whose, policy in ((MINE, OWN), (SOMEBODYS, OTHERS), (UNNAMED, "")):
        asked = pb.DecideRequest(policy_id=policy, request=RouteRequest(input_tokens=1, output_tokens=1))
        traces[whose] = everybody.Decide(asked).decision.trace_id
    return Things(traces)


@pytest.mark.parametrize("shown", ["tokens", "certificates"])
def test_every_outcome_is_the_one_of_the_table(known: Known, things: Things, shown: str) -> None:
    show = known.known if shown == "tokens" else known.certified
    callers = {name: show(name) for name in (*ROLES, STRANGER)}
    asked = [(name, caller, whose) for name in ALL for caller in callers for whose in WHOSE]
    with ThreadPoolExecutor(8) as pool:  # the server waits a moment for traces that it does not know
        found = list(pool.map(lambda one: outcome(ALL[one[0]], callers[one[1]], things, one[2]), asked))
    told = [expected(ALL[name], caller, whose) for name, caller, whose in asked]
    assert [(one, *pair) for one, *pair in zip(asked, found, told, strict=True) if pair[0] != pair[1]] == []
    assert len(asked) == len(ALL) * (len(ROLES) + 1) * len(WHOSE)


def test_without_a_credential_nobody_is_let_in_and_everybody_is_told_how(known: Known) -> None:
    nobody = Stubs(known.channel(known.target, grpc.ssl_channel_credentials(AUTHORITY.pem)))
    for name, door in ALL.items():
        with pytest.raises(grpc.RpcError) as caught:
            door.call(nobody, Things(dict.fromkeys(WHOSE, "0" * 32)), MINE)
        assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED, name
        assert trailing(caught.value)["www-authenticate"] == 'Bearer realm="router-service"'
        assert str(caught.value.details()).endswith(
            "send the metadata authorization: Bearer TOKEN, or connect with the certificate of a caller"
        )


def test_who_may_everything_gets_everything(known: Known, things: Things) -> None:
    everybody = known.certified(EVERYBODY)
    for name, door in DOORS.items():
        for whose in (MINE, SOMEBODYS):
            assert outcome(door, everybody, things, whose) == ("OK", ""), (name, whose)


def test_a_stream_that_nobody_may_begin_says_why(known: Known) -> None:
    """Whatever the client sends meanwhile."""
    stranger = known.known(STRANGER)
    items = iter([pb.DecideStreamRequest()] * 1000)
    with pytest.raises(grpc.RpcError) as caught:
        list(stranger.DecideStream(items))
    assert (caught.value.code(), reason_of(caught.value)) == (grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")
