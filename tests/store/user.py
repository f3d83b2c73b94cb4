"""A process of its own that uses a store, until it is done or killed. Writes to a file what it began and what was done.

python -m tests.store.user URL PREFIX FILE NAME HOW_MANY report|reserve|swap
"""

from __future__ import annotations

import asyncio
import os
import sys

import uvloop

from router_service.store.interface import Report, Reservation, State, Timeouts
from router_service.store.open import open_store
from tests.store.values import CENT, DAY, NOW, attempt, report, reservation

AT_ONCE = 16
SHARED = ("e/one", "e/two", "e/three")


def wanted(trace_id: str) -> Reservation:
    return reservation(trace_id, 100, budget=10**30)


def count_of(state: State) -> int:
    """How often a state was counted up."""
    return int(state.body.partition(b" ")[0] or 0)


def counted(state: State, by: str) -> State:
    """The change that counts it up by one."""
    return State(state.key, state.version, f"{count_of(state) + 1} {by}".encode())


def said(trace_id: str) -> Report:
    """Each costs 37."""
    return report(trace_id, attempt("a1", 30), attempt("a2", 7))


async def main(url: str, prefix: str, path: str, name: str, how_many: str, what: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    store = open_store(url, Timeouts(money=30, other=30), prefix)
    await store.open()
    numbers = iter(range(int(how_many)))
    known = {key: State(key, 0, b"") for key in SHARED}

    async def count_up() -> None:
        for number in numbers:
            key = SHARED[number % len(SHARED)]
            os.write(file, f"begun {key} {name}-{number}\n".encode())
            made = False
            while not made:
                before = known[key]
                [swapped] = await store.swap([counted(before, f"{name}-{number}")])
                known[key], made = swapped.state, swapped.made
            os.write(file, f"made {key} {before.version} {swapped.state.version} {count_of(swapped.state)}\n".encode())

    async def use() -> None:
        for number in numbers:
            trace_id = f"{name}-{number}"
            if what == "reserve":
                made = (await store.reserve(reservation(trace_id, CENT, at=NOW, day=DAY))).made
                os.write(file, f"made {trace_id}\n".encode() if made else f"not {trace_id}\n".encode())
                continue
            os.write(file, f"begun {trace_id}\n".encode())
            await store.reserve(wanted(trace_id))
            os.write(file, f"reserved {trace_id}\n".encode())
            await store.report(said(trace_id))
            os.write(file, f"reported {trace_id}\n".encode())

    await asyncio.gather(*(count_up() if what == "swap" else use() for _ in range(AT_ONCE)))
    await store.close()


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))
