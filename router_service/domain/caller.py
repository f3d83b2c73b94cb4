"""Caller: who asks, and what that one may (docs/security.md)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from router_service.domain.fields import Field, Table, read_fields, table
from router_service.domain.problems import InvalidValue, Problem
from router_service.domain.readers import Each, Flag, Text, Word

DECIDE, REPORT, READ, ADMIN = "decide", "report", "read", "admin"
ROLES = (DECIDE, REPORT, READ, ADMIN)
EVERY = "*"
LOCAL_ID = "local"
"""The one caller of a server without authentication."""

CALLER_ID = Text(
    pattern="[A-Za-z0-9][A-Za-z0-9._@/:+-]*",
    pattern_cure="use letters, digits and . _ @ / : + -, and begin with a letter or a digit",
)
FIELDS: Table = table(
    Field("caller", CALLER_ID, "the id of the caller, which traces and the audit log have", required=True),
    Field("sans", Each(Text()), "subject alternative names of its certificates: DNS names, URIs such as spiffe://…"),
    Field("roles", Each(Word(ROLES), least=1), f"what it may: {', '.join(ROLES)}", required=True),
    Field("policies", Each(Text(), least=1), "the policies that it may name; * alone is every one", required=True),
    Field("default_policy", Text(), "the policy of its requests that name none, in place of the catalogue's"),
    Field(
        "workloads",
        Each(Text(folded=True), least=1),
        "the workloads that it may name, without their versions; * alone, or nothing, is every one",
    ),
    Field(
        "reports_for",
        Each(Text(), least=1),
        "callers on whose decisions it may report beside its own; * alone is every one",
    ),
    Field("stateless", Flag(), "whether it may bring its own candidates and policy to a server with --stateless"),
)


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks. Found once a call and handed on with every request; a set that is None is every one."""

    caller: str
    roles: frozenset[str]
    policies: frozenset[str] | None = None
    default_policy: str = ""
    workloads: frozenset[str] | None = None
    reports_for: frozenset[str] | None = frozenset()
    stateless: bool = False
    sans: tuple[str, ...] = ()

    @classmethod
    def read(cls, raw: Mapping[str, object]) -> Caller:
        """The caller that `raw` describes by the names of `FIELDS`. Raises InvalidValue with every problem at once."""
        values, problems = read_fields(FIELDS, raw)
        if values.get("caller") == LOCAL_ID:
            cure = "give it another id"
            problems.append(Problem("caller", f'"{LOCAL_ID}" is the caller of a server without authentication', cure))
        for name in ("policies", "workloads", "reports_for"):
            if name in values:
                values[name] = _every_or_named(name, values[name], problems)
        named, default = values.get("policies"), values.get("default_policy", "")
        if default and named is not None and default not in named:
            problems.append(
                Problem(
                    "default_policy", f'"{default}" is not among its policies', "add it to policies, or name another"
                )
            )
        if problems:
            raise InvalidValue(str(raw.get("caller") or "caller"), problems)
        return cls(**{**values, "roles": frozenset(values["roles"])})

    def may_use(self, policy_id: str) -> bool:
        """Whether a policy is its own, wherever it is named. There need be none of that name."""
        return self.policies is None or policy_id in self.policies

    def may_name(self, workload: str) -> bool:
        """Whether a workload, `name` or `name@version`, is its own. There need be none of that name."""
        return self.workloads is None or workload.partition("@")[0] in self.workloads

    def may_report_for(self, decided_for: str) -> bool:
        """Whether it may report on decisions that were made for a caller; those of a local one are nobody's own."""
        if decided_for in ("", LOCAL_ID, self.caller):
            return True
        return self.reports_for is None or decided_for in self.reports_for


def _every_or_named(name: str, listed: tuple[str, ...], problems: list[Problem]) -> frozenset[str] | None:
    if EVERY not in listed:
        return frozenset(listed)
    if len(listed) > 1:
        cure = f'write {name}: ["{EVERY}"], or remove the {EVERY}'
        problems.append(Problem(name, f"{EVERY} is every one, and others stand beside it", cure))
    return None


def local_caller(*, admin: bool) -> Caller:
    """The caller of a server without authentication: every policy, and every role but, unless it is given, admin."""
    roles = frozenset(ROLES) if admin else frozenset(ROLES) - {ADMIN}
    return Caller(caller=LOCAL_ID, roles=roles, reports_for=None, stateless=True)


LOCAL = local_caller(admin=False)
