"""What is counted of identity: calls that were not let in, loads of its files, and until when the certificate holds."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Gauge

from router_service.server.tallies import Counts

CALLERS, TLS = "callers", "tls"
REASONS = (*("missing", "malformed", "unknown_token", "expired_token", "unknown_certificate", "ambiguous_certificate"),)


class IdentityCounts:
    """All of it, in the registry of a server. A server without callers or certificate has no rows of them."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._unauthenticated = Counts(
            "router_unauthenticated",
            "Calls that were not let in, by what was wrong with their credential.",
            ["reason"],
            begin=[(reason,) for reason in REASONS],
        )
        self._loads = Counts(
            "router_identity_loads",
            "Loads of the callers files and of the TLS files: installed, unchanged or rejected.",
            ["files", "outcome"],
            begin=[(files, outcome) for files in (CALLERS, TLS) for outcome in ("installed", "unchanged", "rejected")],
        )
        self._audit_lost = Counts(
            "router_audit_lost", "Entries that could not be written to the audit log's file.", begin=((),)
        )
        for counts in (self._unauthenticated, self._loads, self._audit_lost):
            registry.register(counts)
        self._rejected = Gauge(
            "router_identity_rejected",
            "1 while these files are not valid and what was read of them before goes on.",
            ["files"],
            registry=registry,
        )
        for files in (CALLERS, TLS):
            self._rejected.labels(files).set(0)
        self._callers = Gauge("router_callers", "Callers that are known; 0 without authentication.", registry=registry)
        self._expires = Gauge(
            "router_tls_certificate_expiry_timestamp_seconds",
            "Until when the server's certificate is valid; 0 without TLS.",
            registry=registry,
        )

    def refused(self, reason: str) -> None:
        """A call was not let in."""
        self._unauthenticated.add((reason,))

    def audit_lost(self) -> None:
        """An entry could not be written to the audit log's file."""
        self._audit_lost.add(())

    def loaded(self, files: str, *, changed: bool) -> None:
        """Files were read and hold."""
        self._loads.add((files, "installed" if changed else "unchanged"))
        self._rejected.labels(files).set(0)

    def rejected(self, files: str) -> None:
        """Files are not valid."""
        self._loads.add((files, "rejected"))
        self._rejected.labels(files).set(1)

    def callers(self, count: int) -> None:
        """So many callers are known."""
        self._callers.set(count)

    def expires(self, at_s: float) -> None:
        """The certificate is valid until then."""
        self._expires.set(at_s)
