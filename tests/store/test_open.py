"""From a URL to a store, or to a clear error that keeps a secret."""

from __future__ import annotations

import logging
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from router_service.store.interface import StoreLost
from router_service.store.open import StoreUrlError, open_store
from tests.store.lost import PATIENT, is_well, names
from tests.store.redis_server import RedisServer, free_port

SECRET = "s3cret"  # noqa: S105


async def test_sqlite_by_an_absolute_path(tmp_path: Path) -> None:
    for url in (f"sqlite://{tmp_path}/a.db", f"sqlite:{tmp_path}/b.db", f"SQLITE://{tmp_path}/with%20space.db"):
        store = open_store(url)
        await store.open()
        await is_well(store, "t1")
        await store.close()
        assert store.name == "sqlite"
    assert names(tmp_path) == {"a.db", "b.db", "with space.db"}


async def test_sqlite_by_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.db", "./b.db", "a?b#c%.db"):
        url = "sqlite:" + name.replace("%", "%25").replace("?", "%3f")
        store = open_store(url)
        await store.open()
        await store.close()
    assert names(tmp_path) == {"a.db", "b.db", "a?b#c%.db"}


@pytest.mark.parametrize(
    ("url", "cure"),
    [
        ("", "sqlite:///absolute"),
        ("router.db", "sqlite:///absolute"),
        ("/var/lib/router.db", "sqlite:///absolute"),
        ("sqlite", "sqlite:///absolute"),
        ("sqlite:", "names no file"),
        ("sqlite:///", "names no file"),
        ("sqlite:///folder/", "names no file"),
        ("sqlite://relative.db", "takes no host"),
        ("sqlite://host/path.db", "takes no host"),
        ("sqlite::memory:", "is a file"),
        ("sqlite:///a.db?mode=ro", "takes no options"),
        ("postgres://user:s3cret@host/db", "'postgres' is none of them"),
        ("user:s3cret@host", "none of them"),
        ("redis://", "names no host"),
        ("redis:///0", "names no host"),
        ("redis://:s3cret@host:s3cret/0", "malformed"),
        ("redis://:s3cret@host:99999999/0", "malformed"),
        ("redis://:s3cret@host:6379/0?nonsense=s3cret", "malformed"),
        ("redis://:s3cret@[::1/0", "malformed"),
        ("rediss://:s3cret@host/0?socket_timeout=s3cret", "malformed"),
        ("redis://:s3cret@host/zero", "malformed"),
        ("unix:", "names no"),
    ],
)
def test_any_other_url_is_refused_with_its_cure(url: str, cure: str) -> None:
    with pytest.raises(StoreUrlError, match=cure) as caught:
        open_store(url)
    assert isinstance(caught.value, ValueError)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_prefix_with_braces_is_refused() -> None:
    with pytest.raises(StoreUrlError, match="prefix"):
        open_store("redis://host/0", prefix="a{b}")


async def test_redis_by_its_forms(tmp_path: Path) -> None:
    server = RedisServer(tmp_path, socket=True)
    server.start()
    try:
        for number, url in enumerate((f"redis://127.0.0.1:{server.port}", f"unix://{tmp_path}/socket?db=3")):
            store = open_store(url, PATIENT)
            await store.open()
            await is_well(store, f"t{number}")
            await store.close()
            assert store.name == "redis"
    finally:
        server.stop()


@pytest.mark.parametrize("scheme", ["redis", "rediss"])
async def test_a_password_is_in_no_error_and_no_log(scheme: str, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("redis")
    caplog.set_level(logging.DEBUG)
    store = open_store(f"{scheme}://user:{SECRET}@127.0.0.1:{free_port()}/0")
    with pytest.raises(StoreLost, match=r"redis 127\.0\.0\.1:") as caught:
        await store.open()
    await store.close()
    assert SECRET not in f"{caught.value!r}{caught.value.__cause__}{caplog.text}{store!r}"


def test_redis_is_imported_only_for_redis() -> None:
    code = (
        "import sys\n"
        "from router_service.store.open import open_store\n"
        "open_store('sqlite:some.db')\n"
        "print('redis' in sys.modules)\n"
        "sys.modules['redis'] = None\n"
        "try: open_store('redis://host/0')\n"
        "except ValueError as error: print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "False\nRedis needs the extra `redis`: pip install 'router-service[redis]'\n"
