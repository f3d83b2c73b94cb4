"""The rows of the dashboard below the first: a panel is a few lines of this table."""

from __future__ import annotations

from dashboard_panels import Json, bars, limits, query, series, table, timeline, words
from dashboard_queries import (
    ANSWERED,
    ATTEMPTS,
    COST,
    DECIDE,
    DECISIONS,
    ENDPOINT,
    FALLBACKS,
    INVALID,
    JOB,
    OPERATIONS,
    POLICY,
    REFUSED,
    TAKEN,
    TRIED,
    USED,
    by,
    ended,
    quantile,
    rate,
    share,
)


def ended_share(outcome: str, title: str, about: str, red: float) -> Json:
    """The share of operations that ended so."""
    one = query(share(ended(outcome), OPERATIONS), "{{policy}}")
    return series(title, about, one, unit="percentunit", thresholds=limits(red=red), width=8)


ROWS: dict[str, list[Json]] = {
    "Decisions": [
        series(
            "Decisions by outcome",
            "Decided, or the name of the refusal.",
            query(by("outcome", DECISIONS), "{{outcome}}"),
            unit="reqps",
            stacked=True,
        ),
        series(
            "Refused by policy",
            "Share of a policy's answers that are refusals.",
            query(share(REFUSED, DECISIONS), "{{policy}}"),
            unit="percentunit",
            thresholds=limits(red=0.25),
        ),
        series(
            "Endpoints passed over, by first reason",
            "How many endpoints an average answer leaves out for each reason.",
            query(
                f"{by('reason', rate('router_excluded_endpoints_total', POLICY))}"
                f" / ignoring (reason) group_left () sum({DECISIONS})",
                "{{reason}}",
            ),
            stacked=True,
        ),
        series(
            "Time inside Decide",
            "Quantiles over all instances.",
            *(
                query(quantile(of, "router_rpc_duration_seconds", f"{JOB}, {DECIDE}"), f"p{of * 100:g}")
                for of in (0.5, 0.9, 0.99)
            ),
            unit="s",
            thresholds=limits(red=0.025),
        ),
    ],
    "What came of them": [
        series(
            "Operations by outcome",
            "As reported: how they ended.",
            query(by("outcome", OPERATIONS), "{{outcome}}"),
            unit="reqps",
            stacked=True,
            width=8,
        ),
        series(
            "Answers from a fallback",
            "Share of accepted answers that did not come from the first candidate.",
            query(share(FALLBACKS, ended("accepted")), "{{policy}}"),
            unit="percentunit",
            thresholds=limits(red=0.2),
            width=8,
        ),
        series(
            "Attempts per operation",
            "1 is the first candidate answering at once.",
            query(f"{by('policy', TAKEN)} / {by('policy', OPERATIONS)}", "{{policy}}"),
            width=8,
        ),
        ended_share("deadline_exhausted", "Deadline exhausted", "Share of operations that ran out of time.", 0.05),
        series(
            "Rejected by validation",
            "Share of answers that failed acceptance, whether or not a fallback then gave a good one.",
            query(share(INVALID, ANSWERED), "{{policy}}"),
            unit="percentunit",
            thresholds=limits(red=0.1),
            width=8,
        ),
        ended_share(
            "ambiguous", "Ambiguous outcomes", "Share of operations of which nobody knows whether they were done.", 0.02
        ),
    ],
    "Final routes": [
        table(
            "By policy and final route",
            "The route is the endpoint whose attempt ended the operation; (other) is what has no row of its own.",
            {
                "operations": (by("policy, route", OPERATIONS), "reqps"),
                "accepted": (share(ended("accepted"), OPERATIONS, "policy, route"), "percentunit"),
                "as a fallback": (share(FALLBACKS, OPERATIONS, "policy, route"), "percentunit"),
                "attempts per operation": (f"{by('policy, route', TAKEN)} / {by('policy, route', OPERATIONS)}", "none"),
                "cost per accepted": (
                    f"{by('policy, route', COST)} / {by('policy, route', ended('accepted'))}",
                    "none",
                ),
            },
            ["policy", "route"],
        ),
        series(
            "Latency of answers, p95",
            "Of successful attempts, whole.",
            query(quantile(0.95, "router_attempt_latency_seconds", ENDPOINT, "endpoint"), "{{endpoint}}"),
            unit="s",
        ),
        series(
            "Time to first token, p95",
            "Of successful attempts.",
            query(quantile(0.95, "router_attempt_time_to_first_token_seconds", ENDPOINT, "endpoint"), "{{endpoint}}"),
            unit="s",
        ),
        series(
            "Attempts by class",
            "success, or the class of the failure.",
            query(by("class", ATTEMPTS), "{{class}}"),
            unit="reqps",
            stacked=True,
        ),
        series(
            "Attempts that failed, by endpoint",
            "Share of its attempts.",
            query(
                share(rate("router_attempts_total", f'{TRIED}, class!="success"'), ATTEMPTS, "endpoint"), "{{endpoint}}"
            ),
            unit="percentunit",
        ),
    ],
    "Cost and budgets": [
        series(
            "Cost per accepted response",
            "All attempts of all operations, failed ones too, over the accepted ones; in the catalogue's currency.",
            query(
                f"{by('policy, currency', COST)} / on (policy) group_left () {by('policy', ended('accepted'))}",
                "{{policy}} ({{currency}})",
            ),
        ),
        series(
            "Spent an hour, by final route",
            "At the present pace, in the catalogue's currency.",
            query(f"3600 * {by('route, currency', COST)}", "{{route}} ({{currency}})"),
            stacked=True,
        ),
        bars(
            "Budgets used today",
            "Settled and reserved, of each policy's day. Empty while the store is lost.",
            query(USED, "{{policy}}"),
            unit="percentunit",
            thresholds=limits(0.9, 1),
        ),
        series(
            "Budgets over the day",
            "What is settled and reserved, in the catalogue's currency.",
            query(
                f"max by (policy, currency) (router_budget_spent{{{POLICY}}} + router_budget_reserved{{{POLICY}}})",
                "{{policy}} ({{currency}})",
            ),
        ),
    ],
    "Circuits": [
        timeline(
            "Circuits that were not closed",
            "A gap is a closed circuit; an endpoint without a row was closed all the time.",
            query(f"max by (endpoint) (router_circuit_state{{{ENDPOINT}}})", "{{endpoint}}"),
            words(_1=("half-open", "orange"), _2=("open", "red")),
            limits(1, 2),
        ),
        series(
            "Endpoints by state",
            "Of all that the catalogue has.",
            query(f'max by (state) (router_circuits{{{JOB}, state!="closed"}})', "{{state}}"),
            query(f"max(router_suppressed_endpoints{{{JOB}}})", "paused by their own word"),
        ),
        series(
            "Circuits opened and closed",
            "In each step, by the reports that turned them.",
            query(
                f"sum by (to) (increase(router_circuit_transitions_total{{{ENDPOINT}}}[$__rate_interval]))", "to {{to}}"
            ),
        ),
    ],
    "The service itself": [
        series(
            "Processor",
            "Cores; an instance can use one.",
            query(f"rate(process_cpu_seconds_total{{{JOB}}}[$__rate_interval])", "{{instance}}"),
            thresholds=limits(red=0.85),
            width=8,
        ),
        series(
            "Memory",
            "Resident.",
            query(f"process_resident_memory_bytes{{{JOB}}}", "{{instance}}"),
            unit="bytes",
            width=8,
        ),
        series(
            "Calls",
            "And items of streams, by method and status.",
            query(by("method, code", rate("router_rpc_duration_seconds_count", JOB)), "{{method}} {{code}}"),
            unit="reqps",
            width=8,
        ),
        series(
            "Reports",
            "By what became of them.",
            query(by("result", rate("router_reports_total", JOB)), "{{result}}"),
            unit="reqps",
            width=8,
        ),
        series(
            "Traces",
            "Dropped ones are lost; swept ones were at the end of their retention.",
            query(f"sum({rate('router_traces_dropped_total', JOB)})", "dropped"),
            query(f"sum({rate('router_traces_swept_total', JOB)})", "swept"),
            unit="reqps",
            width=8,
        ),
        series(
            "Endpoints served",
            "By instance.",
            query(f"router_catalog_endpoints{{{JOB}}}", "{{instance}}"),
            width=8,
        ),
        series(
            "Calls not let in",
            "By what was wrong with their credential.",
            query(by("reason", rate("router_unauthenticated_total", JOB)), "{{reason}}"),
            unit="reqps",
            width=8,
        ),
        series(
            "Callers known",
            "By instance; 0 without authentication.",
            query(f"router_callers{{{JOB}}}", "{{instance}}"),
            width=8,
        ),
        series(
            "Time left of the certificate",
            "By instance; new connections get the one that was loaded last.",
            query(
                f"(router_tls_certificate_expiry_timestamp_seconds{{{JOB}}} > 0) - time()",
                "{{instance}}",
            ),
            unit="s",
            width=8,
        ),
    ],
}
