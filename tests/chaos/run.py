"""One run: a world, its callers and its faults for so many seconds, and what is left when all is quiet again."""

from __future__ import annotations

import asyncio
import random
import signal
import tempfile
import time
from pathlib import Path

from tests.chaos import ledger as ledgers
from tests.chaos.asking import Asker
from tests.chaos.catalogues import Author, Book
from tests.chaos.faults import Faults
from tests.chaos.files import Files
from tests.chaos.judge import Judge
from tests.chaos.knowledge import Knowledge
from tests.chaos.ledger import Ledger
from tests.chaos.processes import MISSING, World
from tests.chaos.record import Record
from tests.chaos.reporting import Reporter
from tests.chaos.traffic import Traffic

CALLERS = 6
INSTANCES = 2
# What an instance may hold: its code and libraries, the catalogue's last versions, and the store's caches (64 MB).
MEMORY_MB = 400
QUIET_S = 8


def run(seconds: float, seed: int, kind: str) -> Record:
    """Runs on a store of a kind, `redis` or `sqlite`; what was done, and every violation."""
    with tempfile.TemporaryDirectory(prefix="router-chaos-") as folder:
        return asyncio.run(_run(seconds, seed, kind, Path(folder)))


async def _run(seconds: float, seed: int, kind: str, folder: Path) -> Record:
    record = Record(seed)
    world = World(folder, kind)
    if world.library is None:
        record.fault(MISSING)
    world.step(0)
    rngs = [random.Random(f"{seed} {part}") for part in range(6)]
    book, ledger = Book(), Ledger()
    knowledge = Knowledge(world, book)
    judge = Judge(world, book, knowledge, ledger, record)
    files = Files(Author(rngs[0], world.now), book, folder, lambda good: judge.files(good=good))
    asker = Asker(rngs[1], book)
    reporter = Reporter(rngs[2], world, judge)
    traffic = Traffic(rngs[3], world, judge, asker, reporter)
    faults = Faults(rngs[4], world, judge, files, asker, reporter, longest=max(2.0, seconds / 6))
    try:
        await asyncio.gather(*(world.start() for _ in range(INSTANCES)))
        begun, stop_faults, stop_callers = time.monotonic(), asyncio.Event(), asyncio.Event()
        hands = [asyncio.create_task(faults.hand(*hand, stop_faults)) for hand in faults.hands]
        callers = [asyncio.create_task(traffic.caller(stop_callers)) for _ in range(CALLERS)]
        await _wait(seconds, [*hands, *callers])
        stop_faults.set()
        # The first hand is the one that is at the files, and others may wait for good ones.
        await hands[0]
        await files.swap()
        await asyncio.gather(*hands)
        await faults.give_all_back()
        await _wait(QUIET_S, callers)
        stop_callers.set()
        await asyncio.gather(*callers)
        record.done["seconds"] = round(time.monotonic() - begun)
        await judge.again()
        await _end(world, ledger, record)
    finally:
        await world.close()
    return record


async def _wait(seconds: float, tasks: list[asyncio.Task[None]]) -> None:
    """Waits so long, or until one of the tasks fails, which raises what it failed with."""
    done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    for one in done:
        one.result()


async def _end(world: World, ledger: Ledger, record: Record) -> None:
    """Every instance ends by itself, having written all that it had; then the store is held to the ledger."""
    for instance in list(world.instances):
        memory = instance.memory()
        record.check("memory is bounded", [] if memory < MEMORY_MB else [f"{memory} MB"])
        record.done[f"MB of instance {instance.number}"] = memory
        world.leave(instance)
        code = await instance.end(signal.SIGTERM)
        record.check("a drain ends with exit code 0", [] if code == 0 else [f"{code}: {instance.log.read_text()}"])
    for instance in world.past:
        faults = [line for line in instance.log.read_text().splitlines() if "Traceback" in line or '"fault"' in line]
        record.check("no instance logs a fault", faults[:3])
    record.check("the store agrees with the ledger, to the cent", ledger.audit(ledgers.read(world)))
    record.done["decisions under a budget, in the ledger"] = len(ledger.entries)
