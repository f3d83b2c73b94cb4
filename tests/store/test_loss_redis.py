"""Redis stopped, killed, full, refusing: lost in time, and found again without a restart."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
import traceback
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import pytest

from router_service.store.interface import Spending, State, StoredTrace, StoreLost, Swapped, Timeouts
from router_service.store.open import open_store
from router_service.store.redis import RedisStore
from tests.store.lost import PATIENT, QUICK, is_well
from tests.store.lost import lost as lost_store
from tests.store.redis_server import RedisServer, free_port
from tests.store.values import DAY, NOW, attempt, report, reservation, trace


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    one = RedisServer(tmp_path)
    one.start()
    yield one
    one.stop()


@contextlib.asynccontextmanager
async def opened(server: RedisServer, user: str = "", *, opens: bool = True) -> AsyncIterator[RedisStore]:
    store = open_store(f"redis://{user}127.0.0.1:{server.port}/0", PATIENT)
    assert isinstance(store, RedisStore)
    try:
        if opens:
            await store.open()
        yield store
    finally:
        await store.close()


def give(store: RedisStore, timeouts: Timeouts) -> None:
    """Another time for each call."""
    store._timeouts = timeouts
    store._quick._timeout_s, store._slow._timeout_s = timeouts.money, timeouts.other


def lost(*words: str) -> pytest.RaisesExc[StoreLost]:
    return lost_store(*words, store="redis 127.0.0.1:")


async def test_closed_or_never_opened(server: RedisServer) -> None:
    async with opened(server, opens=False) as store:
        with lost("closed, or not opened"):
            await store.spending("p", DAY)
        await store.open()
        await is_well(store, "t1")
        await store.close()
        with lost("closed, or not opened"):
            await store.reserve(reservation())
        await store.close()
        await store.open()
        await is_well(store, "t2")


async def test_nobody_there_and_then_somebody(tmp_path: Path) -> None:
    server = RedisServer(tmp_path)
    async with opened(server, opens=False) as store:
        with lost("connecting"):
            await store.open()
        with lost("connecting"):
            await store.reserve(reservation())
        server.start()
        await is_well(store, "t1")
    server.stop()


async def test_a_server_that_hangs_is_lost_in_time_and_found_when_it_goes_on(server: RedisServer) -> None:
    async with opened(server) as store:
        await is_well(store, "t1")
        give(store, QUICK)
        server.send(signal.SIGSTOP)
        begun = time.monotonic()
        results = await asyncio.gather(
            *(store.reserve(reservation(f"lost{n}", 1)) for n in range(200)),
            *(store.report(report(f"lost{n}", attempt())) for n in range(200)),
            return_exceptions=True,
        )
        assert {type(one) for one in results} == {StoreLost}
        assert "no answer" in str(results[0])
        assert time.monotonic() - begun < 10
        begun = time.monotonic()
        for call in (store.trace("t1"), store.write_traces([trace("t2")])):
            with lost("no answer"):
                await call
        assert time.monotonic() - begun < 10
        server.send(signal.SIGCONT)
        give(store, PATIENT)
        begun = time.monotonic()
        await is_well(store, "t3")
        assert time.monotonic() - begun < 10


async def test_a_lost_call_leaves_nothing_behind(server: RedisServer) -> None:
    async with opened(server) as store:
        give(store, Timeouts(money=0.05, other=0.05))
        server.send(signal.SIGSTOP)
        for _ in range(5):
            await asyncio.gather(*(store.reserve(reservation(f"t{n}", 1)) for n in range(200)), return_exceptions=True)
        await asyncio.sleep(0.5)
        assert len(asyncio.all_tasks()) == 1
        assert not any(lane._waiting for lane in (store._quick, store._slow))
        server.send(signal.SIGCONT)


async def test_a_server_that_dies_and_comes_back_has_all_it_had_acknowledged(server: RedisServer) -> None:
    async with opened(server) as store:
        for round_ in range(3):
            await is_well(store, f"t{round_}")
            server.stop()
            for call in (store.reserve(reservation("x", 1)), store.trace("t0"), store.sweep(0, "v", 1)):
                with lost("connecting|closed|reset|reading|writing"):
                    await call
            server.start()
            assert await store.spending("p", DAY) == Spending(2 * (round_ + 1), 0)
            assert await store.trace("t0") is not None


async def test_scripts_are_known_again_when_the_server_forgot_them(server: RedisServer) -> None:
    async with opened(server) as store:
        await is_well(store, "t1")
        server.ask(b"SCRIPT FLUSH")
        results = await asyncio.gather(*(store.reserve(reservation(f"r{n}", 1)) for n in range(20)))
        assert all(one.made for one in results)
        await is_well(store, "t2")


async def test_a_server_whose_memory_is_full(server: RedisServer) -> None:
    async with opened(server) as store:
        await is_well(store, "t1")
        server.ask(b"CONFIG SET maxmemory 1")
        for call in (store.reserve(reservation("t2", 1)), store.report(report("t1", attempt("a2")))):
            with lost("memory is full"):
                await call
        with lost("memory is full"):
            await store.write_traces([trace("t2")])
        assert await store.spending("p", DAY) == Spending(2, 0)
        server.ask(b"CONFIG SET maxmemory 0")
        await is_well(store, "t3")
        assert await store.spending("p", DAY) == Spending(4, 0)


async def test_a_replica_that_takes_no_writes(server: RedisServer) -> None:
    async with opened(server) as store:
        await is_well(store, "t1")
        server.ask(f"REPLICAOF 127.0.0.1 {free_port()}".encode())
        with lost("replica|primary"):
            await store.reserve(reservation("t2", 1))
        server.ask(b"REPLICAOF NO ONE")
        await is_well(store, "t3")


async def test_a_wrong_password_is_lost_and_never_told(server: RedisServer) -> None:
    server.ask(b"CONFIG SET requirepass right-s3cret")
    for user in (":wrong-s3cret@", "someone:wrong-s3cret@"):
        async with opened(server, user, opens=False) as store:
            with lost("refuses the name or password") as caught:
                await store.open()
            assert "s3cret" not in "".join(traceback.format_exception(caught.value)) + repr(store)
    async with opened(server, opens=False) as store:
        with lost("password"):
            await store.open()


async def test_the_right_password_is_a_way_in(server: RedisServer) -> None:
    server.ask(b"CONFIG SET requirepass right-s3cret")
    async with opened(server, ":right-s3cret@") as store:
        await is_well(store, "t1")


async def test_a_user_who_may_do_no_more_than_is_said(server: RedisServer) -> None:
    # docs/stores.md names these rights.
    rights = b"~router:* resetchannels -@all +@read +@write +@scripting +@connection"
    server.ask(b"ACL SETUSER router on >right-s3cret " + rights)
    async with opened(server, "router:right-s3cret@") as store:
        await is_well(store, "t1")
        await store.keep_catalog("v1", b"1")
        assert (await store.swap([State("e/one", 0, b"up")]))[0].made
        assert len(await store.states(0)) == 1
        assert await store.expire(NOW, 10) == 0
        assert (await store.sweep(2 * NOW, "v1", 10)).traces == 1
        server.ask(b"ACL SETUSER router -@write")
        with lost("may not do"):
            await store.reserve(reservation("t2"))


async def test_a_newer_form_is_left_alone(server: RedisServer) -> None:
    server.ask(b"SET router:{meta} 99")
    async with opened(server, opens=False) as store:
        with lost("run the newer version"):
            await store.open()


async def test_nothing_stays_for_ever(server: RedisServer) -> None:
    async with opened(server) as store:
        await is_well(store, "t1")
        await store.write_traces([trace("t2", until_report=True), trace("t3", endpoints=())])
        await store.report(report("t2", attempt()))
        await store.report(report("t4", attempt()))
        await store.reserve(reservation("t5"))
        await store.keep_catalog("v1", b"1")
        await store.swap([State("e/one", 0, b"up")])
        keys = server.ask(b"KEYS *").split(b"\r\n")[2::2]
        assert len(keys) > 12
        for key in keys:
            assert key.startswith(b"router:")
            left = int(server.ask(b"PTTL " + key).strip(b":\r\n"))
            assert 0 < left <= 410 * 24 * 3600 * 1000, key


async def test_states_live_on_where_only_sweeps_come(server: RedisServer) -> None:
    async with opened(server) as store:
        await store.swap([State("e/one", 0, b"disabled")])
        for key in (b"router:{health}:versions", b"router:{health}:bodies"):
            server.ask(b"PEXPIRE " + key + b" 60000")
        await store.sweep(NOW, "v1", 10)
        for key in (b"router:{health}:versions", b"router:{health}:bodies"):
            assert int(server.ask(b"PTTL " + key).strip(b":\r\n")) > 399 * 24 * 3600 * 1000


async def test_versions_go_on_above_what_a_server_forgot(server: RedisServer) -> None:
    async with opened(server) as store:
        changes = [State(f"e/{number}", 0, b"up") for number in range(300)]
        seen = (await store.swap(changes))[-1].state.version
        server.ask(b"FLUSHALL")
        await asyncio.sleep(0.01)
        [again] = await store.swap([State("e/1", seen, b"down")])
        assert again == Swapped(False, State("e/1", 0, b""))
        await store.swap(changes[:1])
        assert [one.key for one in await store.states(seen)] == ["e/0"]


async def test_what_an_older_service_packed_is_read(server: RedisServer) -> None:
    async with opened(server) as store:
        await store.write_traces([trace("t1")])
        pack = msgspec.msgpack.encode
        old = trace("t2")
        body = b"0" + pack(
            ("t2", old.at, old.expires_at, "p", "decided", "v1", old.endpoints, old.request, old.answer, old.context)
        )
        await store._slow.ask(
            ("SET", store._keys.trace("t2"), body),
            ("RPUSH", store._keys.reports("p", "t2"), b"R" + pack((NOW, "p", "accepted"))),
        )
        assert await store.trace("t2") == StoredTrace(old, (report("t2", at=NOW),))
        # And what names no figures and no operation is as it was, for an older one that shares the server.
        assert await store._slow.ask(("GET", store._keys.trace("t1"))) == [body.replace(b"t2", b"t1")]


async def test_connections_are_bounded(server: RedisServer) -> None:
    async with opened(server) as store:
        await asyncio.gather(
            *(store.reserve(reservation(f"t{n}", 1)) for n in range(2000)),
            *(store.trace(f"t{n}") for n in range(2000)),
            *(store.write_traces([trace(f"t{n}")]) for n in range(200)),
        )
        clients = server.ask(b"CLIENT LIST").count(b"name=")
        assert clients <= 9
