"""A way to the server: what is asked at the same time travels together, on a bounded number of connections.

A hundred calls in one pipeline cost a fraction of a hundred commands. Calls of different urgency take different lanes,
so that one that may be long holds up none that must be quick.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any

from hiredis import pack_command
from redis.asyncio import ConnectionPool
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, RedisError, ResponseError

from router_service.store.interface import StoreLost
from router_service.store.redis.reasons import reason
from router_service.store.redis.scripts import Command, in_full

# How many pipelines of a lane may be under way, each on a connection, and how many commands go into one.
CONNECTIONS = 4
TOGETHER = 512


class _Asked:
    """Packed commands, and where their answers go."""

    __slots__ = ("answer", "packed")

    def __init__(self, commands: Sequence[Command]) -> None:
        self.packed = [pack_command(command) for command in commands]
        self.answer: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()

    def fulfil(self, answers: list[Any]) -> None:
        if not self.answer.done():
            self.answer.set_result(answers)

    def fail(self, why: str) -> None:
        if not self.answer.done():
            self.answer.set_exception(StoreLost(why))


class Lane:
    """Has commands done, each pipeline within `timeout_s`. A call that is cancelled before it was sent is not sent."""

    def __init__(self, pool: ConnectionPool, timeout_s: float, secret: str) -> None:
        self._pool: Any = pool
        self._timeout_s, self._secret = timeout_s, secret
        self._waiting: dict[_Asked, None] = {}
        self._senders: set[asyncio.Task[None]] = set()

    async def ask(self, *commands: Command) -> list[Any]:
        """The answers to the commands, which the server takes in this order; others' may come in between.

        Every command must be one that may be sent twice: where a connection breaks, it is sent again on a new one.
        """
        answers = await self._ask(commands)
        if any(isinstance(answer, NoScriptError) for answer in answers):
            answers = await self._ask([in_full(command) for command in commands])
        for answer in answers:
            if isinstance(answer, Exception):
                raise StoreLost(reason(answer, self._secret))
        return answers

    async def close(self) -> None:
        """Ends what is under way, which is lost."""
        senders = list(self._senders)
        for sender in senders:
            sender.cancel()
        await asyncio.gather(*senders, return_exceptions=True)
        for asked in self._waiting:
            asked.fail("closed")
        self._waiting.clear()
        with contextlib.suppress(RedisError, OSError):
            await self._pool.aclose()

    async def _ask(self, commands: Sequence[Command]) -> list[Any]:
        asked = _Asked(commands)
        self._waiting[asked] = None
        if len(self._senders) < CONNECTIONS:
            # It begins when the loop comes round, so all that is asked in this round goes together.
            sender = asyncio.create_task(self._send())
            self._senders.add(sender)
            sender.add_done_callback(self._senders.discard)
        try:
            return await asked.answer
        finally:
            self._waiting.pop(asked, None)

    async def _send(self) -> None:
        while self._waiting:
            together = self._take()
            why = "closed"
            try:
                await self._exchange(together)
            except (RedisError, OSError) as error:
                why = reason(error, self._secret)
            finally:
                for asked in together:
                    asked.fail(why)

    def _take(self) -> list[_Asked]:
        together: list[_Asked] = []
        commands = 0
        for asked in self._waiting:
            commands += len(asked.packed)
            if together and commands > TOGETHER:
                break
            together.append(asked)
        for asked in together:
            del self._waiting[asked]
        return together

    async def _exchange(self, together: list[_Asked]) -> None:
        try:
            await self._exchange_once(together)
        except RedisConnectionError:
            # A connection that the server had closed is found out only when it is used.
            await self._exchange_once([asked for asked in together if not asked.answer.done()])

    async def _exchange_once(self, together: list[_Asked]) -> None:
        async with asyncio.timeout(self._timeout_s):
            connection = await self._pool.get_connection()
            try:
                await connection.send_packed_command([part for asked in together for part in asked.packed])
                for asked in together:
                    asked.fulfil([await _answer(connection) for _ in asked.packed])
            except BaseException:
                # Answers that were not read must not be taken for those of the next.
                await connection.disconnect(nowait=True)
                raise
            finally:
                await self._pool.release(connection)


async def _answer(connection: Any) -> Any:
    try:
        return await connection.read_response()
    except ResponseError as error:
        return error
