"""Reservations, reports' money and spending. All of a policy lives in one slot, so that each step is one script.

The sums are made in Lua, on texts of digits (lua/common.lua).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from router_service.store.interface import (
    GRACE_MS,
    REMEMBERED_MS,
    SPENDING_DAYS,
    Report,
    Reservation,
    Reserved,
    Spending,
    Taken,
)
from router_service.store.packed import pack_attempts, pack_head
from router_service.store.redis.keys import Keys
from router_service.store.redis.lane import Lane
from router_service.store.redis.scripts import DRAW, EXPIRE, REPORT, RESERVE, Command

SPENDING_MS = SPENDING_DAYS * 24 * 3600 * 1000
# How long before a policy is noted again among those that have reservations, in case the note was lost.
_NOTED_MS = 60_000
_NOTED_MAX = 100_000
_EXPIRE_STEP = 64
_DRAW_STEP = 64


class Money:
    """What a policy spends."""

    def __init__(self, lane: Lane, keys: Keys) -> None:
        self._lane, self._keys = lane, keys
        self._noted: dict[str, int] = {}

    async def reserve(self, one: Reservation) -> Reserved:
        keys = self._keys
        commands = self._note(one.policy_id, one.at)
        commands.append(
            RESERVE(
                [
                    keys.ledger(one.policy_id, one.trace_id),
                    keys.spent(one.policy_id, one.day),
                    keys.open(one.policy_id),
                ],
                *(one.day, str(one.amount), str(one.budget), one.expires_at),
                f"{one.day}:{one.amount}:{one.trace_id}",
                *(max(0, one.expires_at - one.at) + REMEMBERED_MS, SPENDING_MS),
            )
        )
        made, settled, reserved = (await self._lane.ask(*commands))[-1]
        if len(commands) > 1:
            self._noted[one.policy_id] = one.at
        return Reserved(bool(made), Spending(int(settled), int(reserved)))

    async def draw(self, lease: str, drawn: Sequence[Reservation]) -> None:
        """Takes reservations out of one that was made before, all of its policy and day."""
        keys = self._keys
        for begin in range(0, len(drawn), _DRAW_STEP):
            step = drawn[begin : begin + _DRAW_STEP]
            policy_id, day = step[0].policy_id, step[0].day
            remembered = max(max(0, one.expires_at - one.at) for one in step) + REMEMBERED_MS
            arguments: list[str | int] = []
            for one in step:
                arguments += [one.trace_id, str(one.amount), one.expires_at]
            ledgers = [keys.ledger(policy_id, one.trace_id) for one in step]
            await self._lane.ask(
                DRAW(
                    [keys.ledger(policy_id, lease), keys.spent(policy_id, day), keys.open(policy_id), *ledgers],
                    *(day, lease, remembered, SPENDING_MS, *arguments),
                )
            )

    def _note(self, policy_id: str, at: int) -> list[Command]:
        """Notes the policy among those that `expire` looks through, before its first reservation is made."""
        if abs(at - self._noted.get(policy_id, -_NOTED_MS)) < _NOTED_MS:
            return []
        if len(self._noted) >= _NOTED_MAX:
            self._noted.clear()
        return [("ZADD", self._keys.policies, "GT", at, policy_id), ("PEXPIRE", self._keys.policies, SPENDING_MS)]

    async def spending(self, policy_id: str, day: str) -> Spending:
        [found] = await self._lane.ask(("HMGET", self._keys.spent(policy_id, day), "settled", "reserved"))
        return Spending(int(found[0] or 0), int(found[1] or 0))

    def report(self, report: Report, day: str) -> Command:
        """The script that takes a report; its answer is read by `taken`."""
        keys = self._keys
        attempts = [part for one in report.attempts for part in (one.attempt_id, str(one.cost), pack_attempts([one]))]
        return REPORT(
            [
                keys.ledger(report.policy_id, report.trace_id),
                keys.reports(report.policy_id, report.trace_id),
                keys.open(report.policy_id),
                keys.spent(report.policy_id, day),
            ],
            *(day, report.trace_id, report.outcome, pack_head(report), REMEMBERED_MS, GRACE_MS, SPENDING_MS),
            *attempts,
        )

    async def due(self, now: int, limit: int) -> list[tuple[str, list[str]]]:
        """Policies with reservations whose time has passed, at most `limit` of all."""
        [policies] = await self._lane.ask(("ZRANGE", self._keys.policies, 0, -1))
        names = [policy.decode() for policy in policies]
        found = await self._lane.ask(
            *(
                ("ZRANGE", self._keys.open(policy), "-inf", now, "BYSCORE", "LIMIT", 0, min(limit, _EXPIRE_STEP))
                for policy in names
            )
        )
        due = []
        for policy, members in zip(names, found, strict=True):
            if members and limit:
                due.append((policy, [member.decode() for member in members[:limit]]))
                limit -= len(due[-1][1])
        return due

    async def expire(self, policy_id: str, members: Sequence[str]) -> int:
        """Settles reservations of a policy; how many were open yet."""
        keys, arguments = [self._keys.open(policy_id)], [str(SPENDING_MS)]
        for member in members:
            day, amount, trace_id = member.split(":", 2)
            keys += [self._keys.ledger(policy_id, trace_id), self._keys.spent(policy_id, day)]
            arguments += [member, amount]
        [settled] = await self._lane.ask(EXPIRE(keys, *arguments))
        return int(settled)

    async def forget(self, now: int) -> None:
        """Policies that have long reserved nothing are looked through no more."""
        await self._lane.ask(("ZREMRANGEBYSCORE", self._keys.policies, "-inf", now - SPENDING_MS))


def supposed_day(at: int) -> str:
    """The day that a reservation most likely was made on; the script says if it was another."""
    return dt.datetime.fromtimestamp(at / 1000, dt.UTC).date().isoformat()


def taken(answer: Sequence[Any]) -> Taken | str:
    """What the script of a report answered: Taken, or the day to ask with again."""
    first, second = answer
    if isinstance(second, bytes):
        return second.decode()
    new = tuple(one.decode() for one in first)
    return Taken(len(new), int(second), new)
