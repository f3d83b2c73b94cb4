"""A way to the server: what is asked at the same time travels together, on a bounded number of connections.

A pipeline for a hundred calls costs the client a tenth of a hundred commands. Calls of different urgency take
different lanes, so that one that may be long holds up none that must be quick.
"""

from __future__ import annotations

import asyncio
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import NoScriptError, RedisError

from router_service.store.interface import StoreLost
from router_service.store.redis.reasons import reason
from router_service.store.redis.scripts import Command, in_full

# How many pipelines of a lane may be under way, each on a connection, and how many commands go into one.
CONNECTIONS = 4
TOGETHER = 512


class _Asked:
    __slots__ = ("answer", "commands")

    def __init__(self, commands: tuple[Command, ...]) -> None:
        self.commands = commands
        self.answer: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()


class Lane:
    """Has commands done. One that is cancelled before it was sent is not sent."""

    def __init__(self, client: Redis, secret: str) -> None:
        self._client, self._secret = client, secret
        self._waiting: dict[_Asked, None] = {}
        self._senders: set[asyncio.Task[None]] = set()

    async def ask(self, *commands: Command) -> list[Any]:
        """The answers to the commands, which the server takes in this order; others' may come in between.

        Every command must be one that may be sent twice: where a connection breaks, it is sent again on a new one.
        """
        answers = await self._ask(commands)
        if any(isinstance(answer, NoScriptError) for answer in answers):
            answers = await self._ask(tuple(in_full(command) for command in commands))
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
            _answer(asked, StoreLost("closed"))
        self._waiting.clear()

    async def _ask(self, commands: tuple[Command, ...]) -> list[Any]:
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
            answers: list[Any] | StoreLost = StoreLost("closed")
            try:
                async with self._client.pipeline(transaction=False) as pipeline:
                    for asked in together:
                        for command in asked.commands:
                            pipeline.execute_command(*command)
                    answers = await pipeline.execute(raise_on_error=False)
            except (RedisError, OSError, TimeoutError, ValueError) as error:
                answers = StoreLost(reason(error, self._secret))
            finally:
                _hand_out(together, answers)

    def _take(self) -> list[_Asked]:
        together: list[_Asked] = []
        commands = 0
        for asked in self._waiting:
            commands += len(asked.commands)
            if together and commands > TOGETHER:
                break
            together.append(asked)
        for asked in together:
            del self._waiting[asked]
        return together


def _hand_out(together: list[_Asked], answers: list[Any] | StoreLost) -> None:
    at = 0
    for asked in together:
        if isinstance(answers, StoreLost):
            _answer(asked, StoreLost(str(answers)))
        else:
            _answer(asked, answers[at : at + len(asked.commands)])
        at += len(asked.commands)


def _answer(asked: _Asked, answer: list[Any] | StoreLost) -> None:
    if asked.answer.done():
        return
    if isinstance(answer, StoreLost):
        asked.answer.set_exception(answer)
    else:
        asked.answer.set_result(answer)
