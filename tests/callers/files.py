"""Callers files for tests, and tokens whose SHA-256 they hold."""

from __future__ import annotations

from pathlib import Path

from router_service.callers.tokens import digest_of

EXAMPLE = """\
callers:
- {caller: gateway, sans: [gateway.internal, "spiffe://prod/gateway"], roles: [decide, report], policies: [eu, strict],
   default_policy: strict, workloads: [chat], reports_for: [auditor]}
- {caller: auditor, roles: [read], policies: ["*"]}
- {caller: ops@example.com, roles: [admin, read], policies: [eu], stateless: true}
tokens:
- {sha256: 9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08, caller: auditor, note: until the audit,
   expires_at: 2027-01-31}
- {sha256: 60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752, caller: auditor}
"""
"""Every key that there is. The tokens are `test` and `test2`."""


def token_of(caller: str) -> str:
    """The token of a caller of tests."""
    return f"rs_{caller}_0123456789abcdef0123456789abcdef"


def entry(caller: str, **facts: str) -> str:
    """The line of a token."""
    return (
        "- {"
        + ", ".join(f"{k}: {v}" for k, v in {"sha256": digest_of(token_of(caller)), "caller": caller, **facts}.items())
        + "}\n"
    )


def written(folder: Path, text: str, name: str = "callers.yaml") -> Path:
    """A file of this text."""
    path = folder / name
    path.write_text(text)
    return path
