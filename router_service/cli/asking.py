"""Asks a catalogue in this process or a running server, by the same messages, so that both show the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from router_service.asks import Answer, Explained, InvalidRequest, Unanswerable
from router_service.catalog.load import CatalogInvalid, load
from router_service.catalog.served import Served
from router_service.catalog.slices import unhurried
from router_service.catalog.snapshot import Snapshot
from router_service.cli.options import ServerUnreachable, UsageProblem, example_catalog, is_said, raw_request
from router_service.domain.caller import LOCAL
from router_service.domain.meanings import Instant
from router_service.domain.problems import InvalidValue, Problem
from router_service.domain.request import RouteRequest, Stated
from router_service.router import Router
from router_service.server.app import wall_clock
from router_service.wire.answer import decide_response
from router_service.wire.client import Client, Rejected, Unreachable
from router_service.wire.credentials import NO_CREDENTIALS, Credentials, Unprotected
from router_service.wire.messages import DecideRequest, DecideResponse, ExplainRequest, ExplainResponse
from router_service.wire.read import AskReader
from router_service.wire.write import explain_form, write_request

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Asked:
    """Whom to ask and what, as the flags say."""

    catalog: Path | None
    server: str | None
    timeout: float
    policy: str
    now: str | None
    request: dict[str, Any]
    data_class: str = ""
    operation_id: str = ""
    workload: str = ""
    credentials: Credentials = NO_CREDENTIALS

    def decide(self) -> DecideResponse:
        """The answer of Decide. Raises UsageProblem or ServerUnreachable."""
        message = DecideRequest(**self._asked(), request=write_request(self._raw()))
        if not self._asks_server:
            # Without a server nothing is taken: what an explanation says is what would be decided.
            told = self._explained(message)
            answer = Answer(told.explanation.result, "", told.catalog_version, told.now)
            return DecideResponse.FromString(decide_response(answer, ""))
        return self._called(lambda client: client.decide(message))

    def explain(self) -> ExplainResponse:
        """The answer of Explain. Raises UsageProblem or ServerUnreachable."""
        message = ExplainRequest(**self._asked(), request=write_request(self._raw()))
        if not self._asks_server:
            told = self._explained(message)
            return ExplainResponse.FromString(asyncio.run(unhurried(explain_form(told, ""), pause_s=0)))
        return self._called(lambda client: client.explain(message))

    def _asked(self) -> dict[str, Any]:
        """What is asked beside the request."""
        return {
            "policy_id": self.policy,
            "workload": self.workload,
            "data_class": self.data_class,
            "operation_id": self.operation_id,
        }

    @property
    def _asks_server(self) -> bool:
        """A catalogue that is named goes before a server that only the environment names."""
        return self.server is not None and (is_said("server") or not is_said("catalog"))

    def _raw(self) -> dict[str, Any]:
        """The request's fields, found to make sense."""
        raw = raw_request(self.request)
        try:
            # What its workload states may be missing here.
            (Stated if self.workload else RouteRequest).read(raw)
        except InvalidValue as invalid:
            flags = (f"--{problem.field.replace('_', '-')}" for problem in invalid.problems)
            lines = [
                str(Problem(name, one.message, one.cure)) for name, one in zip(flags, invalid.problems, strict=True)
            ]
            raise UsageProblem("\n".join(lines)) from None
        return raw

    def _explained(self, message: DecideRequest | ExplainRequest) -> Explained:
        """Asks a router of this process over the catalogue."""
        path = self.catalog or example_catalog()
        if self.catalog is None:
            click.echo("No --catalog and no --server given: using the bundled example catalogue.", err=True)
        now = self._instant()
        try:
            router = Router(Served(Snapshot.of(load(path), now)), lambda: now)
            return asyncio.run(router.explain(LOCAL, AskReader().read(message)))
        except CatalogInvalid as invalid:
            raise UsageProblem("\n".join(str(problem) for problem in invalid.problems)) from None
        except InvalidRequest as invalid:
            raise UsageProblem("\n".join(map(str, invalid.problems))) from None
        except Unanswerable as error:
            raise UsageProblem(str(error)) from None

    def _called(self, call: Callable[[Client], _Answer]) -> _Answer:
        """Asks the server."""
        if (self.catalog is not None and is_said("catalog")) or self.now is not None:
            raise UsageProblem("--server has its own catalogue and clock: leave out --catalog and --now")
        try:
            with Client(str(self.server), self.timeout, self.credentials) as client:
                return call(client)
        except Unreachable as error:
            raise ServerUnreachable(str(error)) from None
        except (Rejected, Unprotected) as error:
            raise UsageProblem(str(error)) from None

    def _instant(self) -> int:
        if self.now is None:
            return wall_clock()
        problems: list[Problem] = []
        now = Instant().read(self.now, "--now", problems)
        if now is None:
            raise UsageProblem("\n".join(map(str, problems)))
        return int(now)
