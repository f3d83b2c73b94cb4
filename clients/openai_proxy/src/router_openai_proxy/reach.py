"""What a policy can reach: its models, and which of its endpoints have no backend here."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from router_service_client import AsyncRouterClient, RouterError
from router_service_client.v1.explanation_pb2 import EndpointExplanation, Explanation

log = logging.getLogger(__name__)

EXCLUDED_MAX, EXCLUDED_BYTES = 1000, 40_000
"""Endpoints that a request can leave out, and the bytes of their ids: the service takes lists of 1024 and messages of
64 KiB."""
FRESH_S = 60.0
TIMEOUT_S = 10.0
"""An explanation of thousands of endpoints takes longer than a decision."""
_REMEMBERED = 256

# An endpoint that nothing else keeps out will be back.
_PASSING = {"status_not_routable", "circuit_open"}


@dataclass(frozen=True, slots=True)
class Reached:
    """What a policy admits: endpoints that have a backend, those that have none, and when that was told."""

    endpoints: tuple[EndpointExplanation, ...] = ()
    without_backend: tuple[str, ...] = ()
    catalog_version: str = ""
    told_at: float = 0.0

    @property
    def left_out(self) -> list[str]:
        """What decisions are told to leave out; nothing, where it is more than they can be told."""
        return [] if self.is_too_much else list(self.without_backend)

    @property
    def is_too_much(self) -> bool:
        """Whether more has no backend than a decision can be told."""
        missing = self.without_backend
        return len(missing) > EXCLUDED_MAX or sum(len(one.encode()) + 3 for one in missing) > EXCLUDED_BYTES


Key = tuple[str, str, str]


class Reach:
    """Asks the service, and remembers for each policy, workload and class of data what it said."""

    def __init__(
        self,
        router: AsyncRouterClient,
        follow: Callable[[str], Awaitable[None]],
        has_backend: Callable[[str], bool],
    ) -> None:
        """`follow` is told the version of the catalogue before `has_backend` is asked about its endpoints."""
        self._router = router
        self._follow = follow
        self._has_backend = has_backend
        self._known: dict[Key, Reached] = {}
        self._asking: dict[Key, asyncio.Task[Reached]] = {}

    async def of(self, policy_id: str, workload: str = "", data_class: str = "") -> Reached:
        """What they reach, a minute old at most. Raises RouterError."""
        key = (policy_id, workload, data_class)
        known = self._known.get(key)
        if known is not None and time.monotonic() - known.told_at < FRESH_S:
            return known
        return await self._ask(key)

    async def left_out(self, policy_id: str, data_class: str) -> list[str]:
        """The endpoints that a decision is to leave out, since nobody here can call them.

        Where the service does not say, none: the loop passes over what it cannot call.
        """
        known = self._known.get((policy_id, "", ""))
        try:
            return (known or await self._ask((policy_id, "", ""), data_class)).left_out
        except RouterError:
            return []

    def seen(self, policy_id: str, catalog_version: str) -> None:
        """A decision was made on this version: what is known of another one is asked again, in the background."""
        known = self._known.get((policy_id, "", ""))
        if known is not None and known.catalog_version != catalog_version:
            _ = self._begin((policy_id, "", ""))

    async def close(self) -> None:
        """Ends what is being asked."""
        for task in list(self._asking.values()):
            task.cancel()
        await asyncio.gather(*self._asking.values(), return_exceptions=True)

    async def _ask(self, key: Key, data_class: str = "") -> Reached:
        return await asyncio.shield(self._begin(key, data_class))

    def _begin(self, key: Key, data_class: str = "") -> asyncio.Task[Reached]:
        task = self._asking.get(key)
        if task is None:
            task = self._asking[key] = asyncio.get_running_loop().create_task(self._explain(key, data_class))
            task.add_done_callback(lambda done: self._ended(key, done))
        return task

    def _ended(self, key: Key, task: asyncio.Task[Reached]) -> None:
        del self._asking[key]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("what policy %s reaches is not known: %s", key[0] or "(the default)", error)

    async def _explain(self, key: Key, data_class: str) -> Reached:
        policy_id, workload, own_class = key
        data_class = own_class or data_class
        answer = await self._router.explain(
            policy_id=policy_id, workload=workload, data_class=data_class, timeout=TIMEOUT_S
        )
        told: Any = getattr(answer.explanation, answer.explanation.WhichOneof("result") or "refusal")
        await self._follow(told.catalog_version)
        reached = self._reached(answer.explanation, told.catalog_version)
        if answer.explanation.endpoints:  # else it was refused before any was looked at
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[key] = reached
            self._tell(policy_id, reached)
        return reached

    def _reached(self, explanation: Explanation, catalog_version: str) -> Reached:
        admitted = [one for one in explanation.endpoints if {rule.reason for rule in one.refused_by} <= _PASSING]
        return Reached(
            endpoints=tuple(one for one in admitted if self._has_backend(one.endpoint_id)),
            without_backend=tuple(
                sorted(one.endpoint_id for one in admitted if not self._has_backend(one.endpoint_id))
            ),
            catalog_version=catalog_version,
            told_at=time.monotonic(),
        )

    @staticmethod
    def _tell(policy_id: str, reached: Reached) -> None:
        missing = reached.without_backend
        policy = policy_id or "(the default)"
        if reached.is_too_much:
            text = "policy %s admits %d endpoints without a backend, more than a decision can be told to leave out: "
            text += "requests fail where all that is decided is among them; give them backends or narrow the policy"
            log.error(text, policy, len(missing))
        elif missing:
            log.info("policy %s: %d endpoints without a backend are left out: %s", policy, len(missing), missing[:20])
        if not reached.endpoints:
            log.error("policy %s admits no endpoint that has a backend here", policy)
