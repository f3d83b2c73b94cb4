"""Statuses set by hand and loading by hand: at once, kept, given back, and for those alone who may."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import grpc
import pytest
from click.testing import CliRunner

from router_service.cli import main
from router_service.v1 import catalog_service_pb2 as catalog_pb
from router_service.v1 import router_service_pb2 as pb
from tests.server.conftest import ServerProcess
from tests.server.in_process import failure
from tests.server.live import CATALOG, NOW, Live, figures, ids, serving, until

Start = Callable[..., ServerProcess]
INVALID, DENIED = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.PERMISSION_DENIED
BAD = CATALOG.replace("sovereignty: eu-owned", "sovereignty: global").replace("default_policy: eu", "default_policy: e")


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Live]:
    async with serving(tmp_path) as server:
        yield server


async def test_a_status_holds_at_once_and_until_it_is_given_back(live: Live) -> None:
    answer = await live.set_status("a", "maintenance", "a new disk")
    assert answer.kept
    assert (answer.endpoint.endpoint.endpoint_id, answer.endpoint.endpoint.status) == ("a", "up")
    assert (answer.endpoint.status, answer.endpoint.by_hand.status) == ("maintenance", "maintenance")
    assert (answer.endpoint.by_hand.reason, answer.endpoint.by_hand.since.ToMilliseconds()) == ("a new disk", NOW)
    assert await live.serves("a") == answer.endpoint
    refused = await live.decide()
    assert ids(refused) == ["b", "c"]
    assert refused.decision.reasons == {"status_not_routable": 1}
    live.now += 1000
    assert (await live.set_status("a", "maintenance", "still")).endpoint.by_hand.since.ToMilliseconds() == NOW
    assert (await live.set_status("a", "degraded")).endpoint.by_hand.since.ToMilliseconds() == NOW + 1000
    assert ids(await live.decide()) == ["a", "b", "c"]
    back = await live.set_status("a", "")
    assert back.kept
    assert back.endpoint.status == "up"
    assert not back.endpoint.HasField("by_hand")
    assert figures(await live.explain(), "a") == {}


async def test_a_status_goes_before_the_catalogues_and_survives_a_reload(live: Live) -> None:
    await live.set_status("a", "down")
    await live.serve(CATALOG.replace("latency_ms: 600", "latency_ms: 600, status: degraded"))
    assert ids(await live.decide()) == ["b", "c"]
    assert figures(await live.explain(), "a") == {"status": ("down", "degraded", "by_hand")}
    assert (await live.set_status("a", "")).endpoint.status == "degraded"
    assert ids(await live.decide()) == ["a", "b", "c"]


async def test_what_makes_no_sense_is_told_by_all_its_fields(live: Live) -> None:
    wrong = catalog_pb.SetEndpointStatusRequest(status="asleep", reason="x" * 300)
    code, reason, fields = await failure(live.catalog.SetEndpointStatus(wrong))
    assert (code, reason) == (INVALID, "INVALID_REQUEST")
    assert fields.keys() == {"endpoint_id", "status", "reason"}
    assert "maintenance" in fields["status"]
    for status in ("unknown", "open"):
        assert (await failure(live.set_status("a", status)))[0] is INVALID
    code, reason, _ = await failure(live.set_status("nobody's", "down"))
    assert (code, reason) == (grpc.StatusCode.NOT_FOUND, "ENDPOINT_NOT_FOUND")
    assert ids(await live.decide()) == ["a", "b", "c"]


async def test_many_at_once_are_all_obeyed(live: Live) -> None:
    answers = await asyncio.gather(*(live.set_status(one, "down", one) for one in "abcabcabc"))
    assert all(answer.endpoint.status == "down" for answer in answers)
    assert (await live.decide()).refusal.reasons == {"status_not_routable": 3}
    await asyncio.gather(*(live.set_status(one, "") for one in "abc"))
    assert ids(await live.decide()) == ["a", "b", "c"]


async def test_a_caller_without_the_role_may_neither_set_nor_load(tmp_path: Path) -> None:
    """Whatever it asks: what is there is told to nobody who may not change it."""
    async with serving(tmp_path, store="", local_admin=False) as live:
        for call in (live.set_status("a", "down"), live.set_status("nobody's", "asleep"), live.reload()):
            code, reason, _ = await failure(call)
            assert (code, reason) == (DENIED, "ROLE_MISSING")
        assert ids(await live.decide()) == ["a", "b", "c"]


async def test_without_a_store_a_status_is_obeyed_and_not_kept(tmp_path: Path) -> None:
    async with serving(tmp_path, store="") as live:
        assert not (await live.set_status("a", "down")).kept
        assert ids(await live.decide()) == ["b", "c"]
    async with serving(tmp_path, store="") as live:
        assert ids(await live.decide()) == ["a", "b", "c"]


async def test_loading_by_hand_says_what_serves(live: Live) -> None:
    first = await live.reload()
    assert not first.changed
    assert first.catalog_version == (await live.decide()).decision.catalog_version
    versions = [first.catalog_version]

    async def is_told() -> bool:
        """The change of the files may have been seen a moment before."""
        live.file.write_text(CATALOG.replace("600", str(600 + len(versions))))
        answer = await live.reload()
        assert answer.catalog_version not in versions
        assert (await live.decide()).decision.catalog_version == answer.catalog_version
        versions.append(answer.catalog_version)
        return answer.changed

    await until(is_told)
    answers = await asyncio.gather(*(live.reload() for _ in range(3)))
    assert {(answer.catalog_version, answer.changed) for answer in answers} == {(versions[-1], False)}


async def test_what_is_no_catalogue_is_refused_with_its_problems(live: Live) -> None:
    version = (await live.reload()).catalog_version
    live.file.write_text(BAD)
    answers = await asyncio.gather(*(failure(live.reload()) for _ in range(2)))
    assert {(code, reason) for code, reason, _ in answers} == {(grpc.StatusCode.FAILED_PRECONDITION, "CATALOG_INVALID")}
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await live.reload()
    assert "catalog.yaml:2: default_policy" in str(caught.value.details())
    assert (await live.decide()).decision.catalog_version == version
    live.file.write_text(BAD + "- {policy_id: eu}\n" * 2000)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await live.reload()
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    live.file.write_text(CATALOG)
    assert (await live.reload()).catalog_version == version


def test_the_role_is_for_local_callers_alone() -> None:
    flags = ("serve", "--local-admin", "--insecure", "--listen", "127.0.0.1:0", "--listen", "0.0.0.0:0")
    done = CliRunner().invoke(main, [*flags, "--store", "none"])
    assert done.exit_code == 2
    assert "--local-admin is for loopback" in done.stderr


def test_a_status_survives_a_kill_and_a_restart(serve: Start, tmp_path: Path) -> None:
    """Of what was answered with `kept`, no decision after it is without."""
    (tmp_path / "catalog.yaml").write_text(CATALOG)
    arguments = ("--catalog", str(tmp_path / "catalog.yaml"), "--store", f"sqlite:{tmp_path}/router.db")
    expected = ["a", "b", "c"]
    for status, end in (("down", signal.SIGKILL), ("", signal.SIGKILL), ("maintenance", signal.SIGTERM), (None, None)):
        server = serve(*arguments, "--local-admin")
        router, catalog = server.router, server.catalog
        assert ids(router.Decide(pb.DecideRequest())) == expected
        if status is None or end is None:
            break
        message = catalog_pb.SetEndpointStatusRequest(endpoint_id="a", status=status, reason="disk")
        assert catalog.SetEndpointStatus(message).kept
        expected = ["b", "c"] if status else ["a", "b", "c"]
        assert ids(router.Decide(pb.DecideRequest())) == expected
        server.stop(end)
    assert catalog.ListEndpoints(catalog_pb.ListEndpointsRequest()).endpoints[0].by_hand.reason == "disk"


async def test_what_has_left_the_catalogue_can_be_given_back(live: Live) -> None:
    await live.set_status("a", "down")
    await live.serve(CATALOG.replace("endpoint_id: a,", "endpoint_id: another,"))
    assert (await failure(live.set_status("a", "up")))[0] is grpc.StatusCode.NOT_FOUND
    back = await live.set_status("a", "")
    assert back.kept
    assert not back.HasField("endpoint")
    await live.serve(CATALOG)
    assert ids(await live.decide()) == ["a", "b", "c"]
    assert (await failure(live.set_status("never there", "")))[0] is grpc.StatusCode.NOT_FOUND
