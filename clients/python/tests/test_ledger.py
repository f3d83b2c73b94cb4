"""The ledger: once is once, through threads, processes and crashes, in SQLite and in Redis."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
import redis

from router_service_client import execution_key
from router_service_client.ledger import Entry, HasFailed, Ledger, RedisStore, SqliteStore, StillPending, Store
from tests.store.redis_server import RedisServer

KEY = execution_key("order-17", "pay", {"amount": 3})
# Does it, and is killed before it can say so.
CRASH = """
import os, signal, sys
from router_service_client.ledger import Ledger, RedisStore, SqliteStore

def pay():
    with open({done!r}, "a") as done:
        done.write("paid\\n")
    os.kill(os.getpid(), signal.SIGKILL)

Ledger({store}).once({key!r}, pay)
"""


def redis_client(url: str) -> redis.Redis:
    return redis.Redis.from_url(url)


# How a process of its own opens the store.
STORES = {
    "sqlite": "SqliteStore({where!r})",
    "redis": "RedisStore(__import__('redis').Redis.from_url({where!r}))",
}


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.start()
    yield f"redis://127.0.0.1:{server.port}"
    server.stop()


@pytest.fixture(params=["sqlite", "redis"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """The kind of store, and where it is."""
    where = str(tmp_path / "ledger.db") if request.param == "sqlite" else request.getfixturevalue("redis_url")
    return request.param, where


@pytest.fixture
def store(place: tuple[str, str]) -> Iterator[Store]:
    kind, where = place
    if kind == "sqlite":
        with SqliteStore(where) as store:
            yield store
        return
    with closing(redis_client(where)) as client:
        client.flushall()
        yield RedisStore(client)


def test_what_is_completed_is_returned_and_not_run_again(store: Store) -> None:
    ran: list[int] = []
    receipt = {"receipt": "ä", "sum": [1, None]}
    ledger = Ledger(store)

    def pay() -> object:
        ran.append(1)
        return receipt

    for _ in range(3):
        assert ledger.once(KEY, pay) == receipt
    assert ran == [1]
    assert ledger.once("other", lambda: None) is None


def test_what_failed_is_run_again_only_where_that_was_decided(store: Store) -> None:
    ledger = Ledger(store)
    with pytest.raises(ZeroDivisionError):
        ledger.once(KEY, lambda: 1 // 0)
    with pytest.raises(HasFailed, match="it failed before: ZeroDivisionError"):
        ledger.once(KEY, lambda: 1)
    assert ledger.once(KEY, lambda: 1, again=True) == 1
    assert ledger.once(KEY, lambda: 2, again=True) == 1


def test_what_was_interrupted_stays_pending_until_it_is_settled(store: Store) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    ledger = Ledger(store)
    with pytest.raises(KeyboardInterrupt):
        ledger.once(KEY, interrupted)
    for again in (False, True):
        with pytest.raises(StillPending) as raised:
            ledger.once(KEY, lambda: 1, again=again)
    assert (raised.value.key, raised.value.entry) == (KEY, Entry("pending"))
    ledger.settle(KEY, 7)
    assert ledger.once(KEY, lambda: 1) == 7
    with pytest.raises(KeyboardInterrupt):
        ledger.once("other", interrupted)
    ledger.settle("other", failed=True)
    with pytest.raises(HasFailed):
        ledger.once("other", lambda: 1)


def test_a_result_that_is_no_json_was_done_all_the_same(store: Store) -> None:
    ledger = Ledger(store)
    with pytest.raises(TypeError):
        ledger.once(KEY, lambda: {1, 2})
    with pytest.raises(StillPending):
        ledger.once(KEY, lambda: 1)


def test_of_many_at_once_one_runs(store: Store) -> None:
    ran, ledger, begun = [], Ledger(store), threading.Event()

    def slow() -> int:
        ran.append(1)
        begun.wait(5)
        return 5

    def ask(_number: int) -> object:
        try:
            return ledger.once(KEY, slow)
        except StillPending:
            begun.set()
            return None

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(16)))
    assert ran == [1]
    assert 5 in answers
    assert ledger.once(KEY, slow) == 5


def test_a_crash_between_pending_and_completed_never_runs_it_twice(
    place: tuple[str, str], store: Store, tmp_path: Path
) -> None:
    kind, where = place
    done = tmp_path / "done"
    script = CRASH.format(done=str(done), store=STORES[kind].format(where=where), key=KEY)
    crashed = subprocess.run([sys.executable, "-c", script], check=False)
    assert crashed.returncode == -signal.SIGKILL
    again = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert "StillPending" in again.stderr
    assert done.read_text() == "paid\n"
    with pytest.raises(StillPending):
        Ledger(store).once(KEY, lambda: 1)
