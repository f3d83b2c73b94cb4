"""The audit log: each action with its caller, before and after; refusals without letting anybody fill the disk."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import socket
from collections import Counter
from pathlib import Path
from typing import Any

import grpc
import pytest

from router_service.server.identity.audit import Audit, AuditInvalid
from router_service.server.identity.repeats import Repeats
from router_service.server.log import make_logger
from router_service.v1 import catalog_service_pb2 as catalog_pb
from tests.server.identity.reasons import reason_of
from tests.server.identity.secured import EVERYBODY, As, bearer, secured
from tests.server.live import NOW, until

Lines = list[dict[str, Any]]


def lines(file: Path) -> Lines:
    """What the file holds; every line is whole."""
    return [json.loads(line) for line in file.read_text().splitlines()]


def told(found: Lines) -> list[tuple[str, ...]]:
    """(caller, action, outcome, error) of each."""
    return [(one["caller"], one["action"], one["outcome"], one.get("error", "")) for one in found]


async def set_status(who: As, endpoint_id: str, status: str, reason: str = "") -> str:
    """OK, or the reason of the refusal."""
    message = catalog_pb.SetEndpointStatusRequest(endpoint_id=endpoint_id, status=status, reason=reason)
    try:
        await who.method("SetEndpointStatus")(message)
    except grpc.aio.AioRpcError as error:
        return reason_of(error)
    return "OK"


async def test_an_action_is_written_before_and_after_with_its_caller(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    async with secured(tmp_path, store="", audit_log=file) as server:
        admin = As(await server.for_tokens(), bearer("admin"))
        assert await set_status(admin, "endpoint-own", "down", "a new disk") == "OK"
        assert await set_status(admin, "endpoint-oth", "down") == "ENDPOINT_NOT_FOUND"
        assert await set_status(admin, "endpoint-own", "asleep") == "INVALID_REQUEST"
        await admin.method("Reload")(catalog_pb.ReloadRequest())
        (tmp_path / "catalog.yaml").write_text("nothing")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await admin.method("Reload")(catalog_pb.ReloadRequest())
        assert caught.value.details() == (
            "the catalogue is not valid, the last good version goes on serving: 1 problems, which its log tells"
        )
        found = lines(file)
    assert told(found) == [
        ("admin", "SetEndpointStatus", "begun", ""),
        ("admin", "SetEndpointStatus", "done", ""),
        ("admin", "SetEndpointStatus", "begun", ""),
        ("admin", "SetEndpointStatus", "failed", "ENDPOINT_NOT_FOUND"),
        ("admin", "SetEndpointStatus", "begun", ""),
        ("admin", "SetEndpointStatus", "failed", "INVALID_REQUEST"),
        ("admin", "Reload", "begun", ""),
        ("admin", "Reload", "done", ""),
        ("admin", "Reload", "begun", ""),
        ("admin", "Reload", "failed", "CATALOG_INVALID"),
    ]
    begun, done = found[:2]
    assert {**begun, "outcome": "done"} == done
    expected = {"endpoint": "endpoint-own", "status": "down", "reason": "a new disk", "at": "2027-01-15T08:00:00.000Z"}
    assert expected.items() <= begun.items()
    assert Counter(one["id"] for one in found).most_common()[-1][1] == 2
    assert file.stat().st_mode & 0o777 == 0o600


async def test_who_is_not_let_in_is_written_once_and_then_counted(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    async with secured(tmp_path, store="", audit_log=file) as server:
        channel = await server.for_tokens()
        read, stranger, nobody = As(channel, bearer("read")), As(channel, bearer("stranger")), As(channel)
        for _ in range(20):
            assert await set_status(read, "endpoint-own", "down", "why") == "ROLE_MISSING"
            assert await set_status(stranger, "endpoint-own", "down") == "UNAUTHENTICATED"
            assert await set_status(nobody, "endpoint-own", "down") == "UNAUTHENTICATED"
        assert told(lines(file)) == [
            ("read", "SetEndpointStatus", "denied", "ROLE_MISSING"),
            ("", "SetEndpointStatus", "denied", "UNAUTHENTICATED"),
        ]
    # What was held back is written in the end, with how often it was.
    found = lines(file)
    assert sorted(one.get("times", 1) for one in found) == [1, 1, 19, 39]
    assert (found[0]["endpoint"], found[0]["reason"]) == ("endpoint-own", "why")
    assert "endpoint" not in found[1]
    assert all(one["peer"].startswith("ipv4:127.0.0.1:") for one in found)


async def test_what_cannot_be_written_is_not_done(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "audit"
    folder.mkdir()
    file = folder / "audit.log"
    async with secured(tmp_path, store="", audit_log=file, log_level="warning", log_format="json") as server:
        everybody = As(await server.for_tokens(), bearer(EVERYBODY))
        capfd.readouterr()
        file.unlink()
        folder.rmdir()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await everybody.method("SetEndpointStatus")(
                catalog_pb.SetEndpointStatusRequest(endpoint_id="endpoint-own", status="down")
            )
        assert (caught.value.code(), reason_of(caught.value)) == (grpc.StatusCode.UNAVAILABLE, "AUDIT_UNAVAILABLE")
        assert str(tmp_path) not in repr(caught.value)
        served = await everybody.method("ListEndpoints")(catalog_pb.ListEndpointsRequest())
        assert {one.status for one in served.endpoints} == {"up"}
        assert server.live.registry.get_sample_value("router_audit_lost_total") == 1
        # The log has its end too, under the id of what was begun.
        said = [one for line in capfd.readouterr().err.splitlines() if (one := json.loads(line))["event"] == "audit"]
        assert told(said) == [
            (EVERYBODY, "SetEndpointStatus", "begun", ""),
            (EVERYBODY, "SetEndpointStatus", "failed", "AUDIT_UNAVAILABLE"),
        ]
        assert len({one["id"] for one in said}) == 1
        folder.mkdir()
        assert await set_status(everybody, "endpoint-own", "down") == "OK"
        assert len(lines(file)) == 2


@pytest.mark.parametrize("kind", ["pipe", "device", "no folder", "socket"])
async def test_what_is_no_file_is_refused_at_the_start_with_its_flag_and_a_cure(tmp_path: Path, kind: str) -> None:
    file = {"device": Path("/dev/full"), "no folder": tmp_path / "nowhere" / "audit.log"}.get(kind, tmp_path / "it")
    why = "No such file or directory" if kind == "no folder" else "not a regular file"
    with socket.socket(socket.AF_UNIX) as listening:
        if kind == "pipe":
            os.mkfifo(file)
        elif kind == "socket":
            listening.bind(str(file))
        with pytest.raises(AuditInvalid, match=f"--audit-log {file}: {why}.*; name a file on a disk"):
            async with asyncio.timeout(10), secured(tmp_path, store="", audit_log=file):
                pass


async def test_of_what_makes_no_sense_what_can_be_read_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    async with secured(tmp_path, store="", audit_log=file) as server:
        channel = await server.for_tokens()
        admin = As(channel, bearer("admin"))
        assert await set_status(admin, "endpoint-own", "asleep", "why\x1b[2J" + "!" * 5000) == "INVALID_REQUEST"
        raw: Any = channel.unary_unary("/router_service.v1.CatalogService/SetEndpointStatus")
        with pytest.raises(grpc.aio.AioRpcError):
            await raw(b"\xff\xff", metadata=admin.metadata)
        found = lines(file)
    assert (found[0]["endpoint"], found[0]["status"]) == ("endpoint-own", "asleep")
    assert found[0]["reason"] == "why\\x1b[2J" + "!" * 192 + "…"
    assert (found[2]["endpoint"], found[2]["status"]) == ("", "(cannot be read)")
    assert [one["outcome"] for one in found] == ["begun", "failed"] * 2


async def test_a_line_that_a_full_disk_cut_off_does_not_spoil_the_next(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    audit = Audit(make_logger("critical", "json"), file, lambda: NOW, lambda: None)
    full = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, full[1]))
    try:
        assert not await audit._written({"reason": "x" * 200})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, full)
    assert file.stat().st_size == 100
    for _ in range(2):
        assert await audit._written({"reason": "y"})
    cut, *whole = file.read_text().splitlines()
    assert cut.endswith("xxx")
    assert [json.loads(line)["reason"] for line in whole] == ["y", "y"]


async def test_the_file_may_be_moved_away_at_any_time(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    async with secured(tmp_path, store="", audit_log=file) as server:
        admin = As(await server.for_tokens(), bearer("admin"))
        await set_status(admin, "endpoint-own", "down")
        file.rename(tmp_path / "audit.log.1")
        await set_status(admin, "endpoint-own", "")
    assert [len(lines(tmp_path / name)) for name in ("audit.log.1", "audit.log")] == [2, 2]
    assert lines(file)[1]["status"] == "(the catalogue's)"


async def test_many_at_once_write_whole_lines(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    async with secured(tmp_path, store="", audit_log=file) as server:
        admin = As(await server.for_tokens(), bearer("admin"))
        reasons = [f"{number} " + "x" * 200 for number in range(30)]
        await asyncio.gather(*(set_status(admin, "endpoint-own", "down", one) for one in reasons))
    assert Counter(one["reason"] for one in lines(file)) == dict.fromkeys(reasons, 2)


async def test_without_a_file_it_is_in_the_log_alone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async with secured(tmp_path, store="", log_level="warning", log_format="json") as server:
        await set_status(As(await server.for_tokens(), bearer("admin")), "endpoint-own", "down")
    said = [one for line in capfd.readouterr().err.splitlines() if (one := json.loads(line))["event"] == "audit"]
    assert told(said) == [("admin", "SetEndpointStatus", "begun", ""), ("admin", "SetEndpointStatus", "done", "")]


async def _holds(held: bool) -> bool:
    return held


async def test_what_repeats_is_told_with_its_number_and_then_anew() -> None:
    written: Lines = []

    async def write(entry: dict[str, Any]) -> None:
        written.append(entry)

    repeats = Repeats(write, pause_s=0.05)
    for number in range(5):
        await repeats.tell("a", {"kind": "a", "number": number})
    await repeats.tell("b", {"kind": "b"})
    assert written == [{"kind": "a", "number": 0}, {"kind": "b"}]
    await until(lambda: _holds(len(written) == 3))
    assert written[2] == {"kind": "a", "number": 4, "times": 4}
    await until(lambda: _holds(not repeats._pauses))
    await repeats.tell("a", {"kind": "a", "number": 9})
    assert written[3:] == [{"kind": "a", "number": 9}]
    await repeats.close()


async def test_kinds_beyond_those_told_apart_are_one() -> None:
    written: Lines = []

    async def write(entry: dict[str, Any]) -> None:
        written.append(entry)

    repeats = Repeats(write, pause_s=60)
    for number in range(3000):
        await repeats.tell(number, {"number": number})
    assert len(written) == 1025
    await repeats.close()
    assert written[-1] == {"number": 2999, "times": 3000 - 1025}
