"""The world: two real services on one real store, with a clock that can be stepped and connections that can be cut."""

from __future__ import annotations

import asyncio
import itertools
import math
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2_grpc

from router_service.v1.catalog_service_pb2_grpc import CatalogServiceStub
from router_service.v1.router_service_pb2_grpc import RouterServiceStub
from tests.chaos.cutter import Cutter
from tests.chaos.spells import Spells
from tests.store.redis_server import RedisServer

START_S = 90
MISSING = "libfaketime is not installed (apt-get install faketime), so clocks are not stepped"
_LIBRARIES = "/usr/lib/*/faketime/libfaketimeMT.so.1"
# Where a channel is lost, the next call finds out soon.
_CHANNEL = [("grpc.initial_reconnect_backoff_ms", 50), ("grpc.max_reconnect_backoff_ms", 200)]


def faketime() -> str | None:
    """The library that steps clocks; None where it is missing, which in CI is a failure."""
    found = next((str(one) for one in Path("/").glob(_LIBRARIES.lstrip("/"))), None)
    if found is None and os.environ.get("CI"):
        raise RuntimeError(MISSING)
    return found


class NotStarted(Exception):
    """An instance ended before it served, with an exit code and what it said."""

    def __init__(self, code: int | None, log: str) -> None:
        super().__init__(f"an instance did not start ({code}):\n{log}")
        self.code = code


@dataclass
class Door:
    """One way to reach an instance."""

    channel: grpc.aio.Channel

    def __post_init__(self) -> None:
        self.router = RouterServiceStub(self.channel)
        self.catalog = CatalogServiceStub(self.channel)
        self.health = health_pb2_grpc.HealthStub(self.channel)


@dataclass(eq=False)
class Instance:
    """One process from its start to its end; times by the monotonic clock."""

    number: int
    process: subprocess.Popen[bytes]
    log: Path
    target: str = ""
    born: float = math.inf
    leaving_at: float = math.inf
    killed_at: float = math.inf
    code: int | None = None
    cutter: Cutter = field(default_factory=Cutter)
    channels: list[grpc.aio.Channel] = field(default_factory=list)

    async def reach(self) -> None:
        """Opens both of its doors: the straight one, and the one that is cut."""
        await self.cutter.open(self.target)
        for target in (self.target, self.cutter.target):
            self.channels.append(grpc.aio.insecure_channel(target, options=_CHANNEL))
        self.straight, self.cut = map(Door, self.channels)
        self.born = time.monotonic()

    def memory(self) -> int:
        """Its resident memory, in MiB; 0 where it has ended."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return 0
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found[1]) // 1024 if found else 0

    async def end(self, number: signal.Signals) -> int:
        """Ends it; its exit code."""
        now = time.monotonic()
        self.leaving_at = min(self.leaving_at, now)
        if number is signal.SIGKILL:
            self.killed_at = now
        self.process.send_signal(number)
        self.code = await asyncio.to_thread(self.process.wait, START_S)
        return self.code

    async def close(self) -> None:
        """Lets go of what speaks to it."""
        for channel in self.channels:
            await channel.close()
        await self.cutter.close()


@dataclass(frozen=True)
class Call:
    """When a call was under way, and with whom."""

    instance: Instance
    begun: float
    ended: float
    through_cutter: bool = False


class World:
    """All processes of a run, in a folder of its own."""

    def __init__(self, folder: Path, kind: str) -> None:
        """`kind` is `redis` or `sqlite`."""
        self.folder, self.kind = folder, kind
        self.catalogue = folder / "catalogue"
        self.instances: list[Instance] = []
        self.past: list[Instance] = []
        self.store_spells, self.clock_spells = Spells(), Spells()
        self.emptied_at = -math.inf
        self.library = faketime()
        self.offset_s = 0
        self._numbers = itertools.count()
        self.redis: RedisServer | None = None
        if kind == "redis":
            (folder / "redis").mkdir()
            self.redis = RedisServer(folder / "redis")
            self.redis.start()

    @property
    def url(self) -> str:
        """The store of all instances."""
        return f"redis://127.0.0.1:{self.redis.port}/0" if self.redis else f"sqlite:{self.folder}/router.db"

    @property
    def now(self) -> int:
        """What the clocks of the instances say, in ms."""
        return int((time.time() + self.offset_s) * 1000)

    def step(self, offset_s: int) -> None:
        """Sets the clocks of all instances, running and to come, so far off."""
        self.clock_spells.moment()
        self.offset_s = offset_s
        other = self.folder / "clock.new"
        other.write_text(f"{offset_s:+d}\n")
        other.rename(self.folder / "clock")

    async def start(self) -> Instance:
        """One more instance, which answers when this returns. Raises NotStarted."""
        number = next(self._numbers)
        log = self.folder / f"instance-{number}.log"
        process = self._spawn(log)
        instance = Instance(number, process, log)
        self.past.append(instance)
        limit = time.monotonic() + START_S
        while not (found := re.search(r"^listening on (\S+)", log.read_text(), re.MULTILINE)):
            if process.poll() is not None or time.monotonic() > limit:
                raise NotStarted(process.poll(), log.read_text())
            await asyncio.sleep(0.05)
        instance.target = found[1]
        await instance.reach()
        self.instances.append(instance)
        return instance

    def _spawn(self, log: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "router_service.cli", "serve", "--local-admin", "--log-level", "warning"]
        options = ("--listen", "127.0.0.1:0", "--catalog", str(self.catalogue), "--store", self.url)
        with log.open("wb") as file:
            return subprocess.Popen([*command, *options], stderr=file, env=self._environment())

    def leave(self, instance: Instance) -> None:
        """Nobody is to ask it any more."""
        instance.leaving_at = time.monotonic()
        self.instances.remove(instance)

    async def lose_store(self, seconds: float, *, how: str) -> None:
        """The store is lost for so long: `kill` or `stop` of a server, `empty` too, or the `lock` of a file."""
        with self.store_spells.one():
            if self.redis is None:
                with closing(sqlite3.connect(self.folder / "router.db", timeout=5, isolation_level=None)) as db:
                    db.execute("BEGIN EXCLUSIVE")
                    await asyncio.sleep(seconds)
            elif how == "stop":
                self.redis.send(signal.SIGSTOP)
                await asyncio.sleep(seconds)
                self.redis.send(signal.SIGCONT)
            else:
                await asyncio.to_thread(self.redis.stop)
                if how == "empty":
                    shutil.rmtree(self.folder / "redis" / "appendonlydir")
                await asyncio.sleep(seconds)
                await asyncio.to_thread(self.redis.start)
                if how == "empty":
                    self.emptied_at = time.monotonic()

    async def close(self) -> None:
        """Ends all that is left, by force."""
        for instance in self.past:
            if instance.process.poll() is None:
                instance.process.kill()
                instance.process.wait()
            await instance.close()
        if self.redis is not None:
            self.redis.stop()

    def _environment(self) -> dict[str, str]:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("ROUTER_SERVICE_")}
        if self.library is not None:
            environment |= {
                "LD_PRELOAD": self.library,
                "FAKETIME_TIMESTAMP_FILE": str(self.folder / "clock"),
                "FAKETIME_CACHE_DURATION": "1",
                "FAKETIME_DISABLE_SHM": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                "DONT_FAKE_MONOTONIC": "1",
                "NO_FAKE_STAT": "1",
            }
        return environment
