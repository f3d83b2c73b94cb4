"""A store that comes back empty, and no call has failed: what keeps endpoints out is written again."""

from __future__ import annotations

from router_service.health.shared import SharedHealth
from router_service.health.state import phase
from tests.health.events import NOW, seen
from tests.memory_store import MemoryStore


async def test_what_keeps_endpoints_out_is_written_again() -> None:
    store = MemoryStore()
    one = SharedHealth(store)
    await one.set_by_hand("drained", "maintenance", "a new disk", NOW)
    for _ in range(5):
        one.board.observe("failing", seen("failure", NOW), NOW)
    one.board.observe("well", seen("success", NOW), NOW)
    await one.push()
    store.shared.clear()
    await one.push()
    assert not store.shared
    one.again(NOW)
    await one.push()
    other = SharedHealth(store)
    await other.pull()
    by_hand = other.board.health("drained").by_hand
    assert by_hand is not None
    assert (by_hand.status, by_hand.reason) == ("maintenance", "a new disk")
    assert phase(other.board.health("failing"), NOW) == "open"


async def test_the_same_status_set_again_is_written() -> None:
    store = MemoryStore()
    one = SharedHealth(store)
    assert await one.set_by_hand("drained", "maintenance", "", NOW)
    store.shared.clear()
    assert await one.set_by_hand("drained", "maintenance", "", NOW + 1)
    assert store.shared.keys() == {"drained"}


async def test_to_write_it_again_undoes_nothing_of_anothers() -> None:
    store = MemoryStore()
    one, other = SharedHealth(store), SharedHealth(store)
    await one.set_by_hand("e", "down", "", NOW)
    await other.pull()
    await other.set_by_hand("e", "", "", NOW + 1)
    one.again(NOW + 2)
    await one.push()
    await one.pull()
    await other.pull()
    assert one.board.health("e").by_hand is other.board.health("e").by_hand is None
