"""Check: every problem of the callers files, alone and beside a catalogue, and what can hardly be meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from router_service.callers.book import Callers
from router_service.callers.load import CallersInvalid, Loaded, dangling, load
from router_service.catalog.content import Content
from router_service.catalog.located import Located, in_order
from router_service.domain.problems import Problem


@dataclass(frozen=True, slots=True)
class Report:
    """What is wrong, and what is odd; `callers` is None where nobody could be told."""

    problems: tuple[Located, ...]
    warnings: tuple[Located, ...]
    callers: Callers | None


def check_callers(path: Path, content: Content | None, now: int) -> Report:
    """Loads the files and looks at them, beside the content of a catalogue if there is one; `now` in ms."""
    try:
        loaded = load(path)
    except CallersInvalid as invalid:
        return Report(invalid.problems, (), None)
    problems: tuple[Located, ...] = ()
    if content is not None:
        policies = [policy.policy_id for policy in content.policies]
        workloads = {workload.name: None for workload in content.workloads}
        problems = in_order(dangling(loaded, policies, workloads), loaded.files)
    warnings = [*_without_credential(loaded, now), *_expired(loaded, now)]
    if content is not None:
        warnings += _unused(loaded, content, path)
    return Report(problems, in_order(warnings, loaded.files), loaded.callers)


def _without_credential(loaded: Loaded, now: int) -> Iterator[Located]:
    tokens = loaded.callers.by_token.values()
    showing = {one.caller.caller for one in tokens if one.expires_at is None or one.expires_at > now}
    for caller in loaded.callers.by_id.values():
        if not caller.sans and caller.caller not in showing:
            cure = "list sans of its certificates, or a token of it"
            yield loaded.written[caller.caller].located(
                Problem("", "nobody can call as it: it has no credential", cure)
            )


def _expired(loaded: Loaded, now: int) -> Iterator[Located]:
    for token in loaded.callers.by_token.values():
        if token.expires_at is not None and token.expires_at <= now:
            written = loaded.tokens[token.digest.hex()]
            yield written.located(
                Problem("expires_at", "the token has expired", "remove the entry, or give a new token")
            )


def _unused(loaded: Loaded, content: Content, path: Path) -> Iterator[Located]:
    callers = loaded.callers.by_id.values()
    for policy in content.policies:
        if not any(caller.may_use(policy.policy_id) for caller in callers):
            message = f'no caller may name the policy "{policy.policy_id}"'
            yield Located(str(path), 0, Problem("policies", message, "give it to a caller, or remove the policy"))
