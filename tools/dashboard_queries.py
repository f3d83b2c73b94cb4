"""The PromQL of the dashboard's panels. What is summed over instances is a sum; what they share is a max."""

from __future__ import annotations

JOB = 'job=~"$job"'
POLICY = f'{JOB}, policy=~"$policy"'
ROUTE = f'{POLICY}, route=~"$route"'
TRIED = f'{POLICY}, endpoint=~"$route"'
ENDPOINT = f'{JOB}, endpoint=~"$route"'
DECIDE = 'method=~"Decide|DecideStream"'


def rate(metric: str, labels: str) -> str:
    """How much it grows a second."""
    return f"rate({metric}{{{labels}}}[$__rate_interval])"


def by(label: str, what: str) -> str:
    """Summed by a label."""
    return f"sum by ({label}) ({what})"


def share(part: str, whole: str, label: str = "policy") -> str:
    """A share by a label; 0 where there was none of the part."""
    whole = by(label, whole)
    return f"({by(label, part)} or 0 * {whole}) / {whole}"


def total_share(part: str, whole: str) -> str:
    """The same of all together."""
    return f"(sum({part}) or vector(0)) / sum({whole})"


def quantile(of: float, metric: str, labels: str, label: str = "") -> str:
    """A quantile of a histogram, by a label or of all."""
    return f"histogram_quantile({of}, {by(f'{label}, le' if label else 'le', rate(f'{metric}_bucket', labels))})"


DECISIONS = rate("router_decisions_total", POLICY)
REFUSED = rate("router_decisions_total", f'{POLICY}, outcome!="decided"')
OPERATIONS = rate("router_operations_total", ROUTE)
FALLBACKS = rate("router_operation_fallbacks_total", ROUTE)
ATTEMPTS = rate("router_attempts_total", TRIED)
ANSWERED = rate("router_attempts_total", f'{TRIED}, class=~"success|invalid_response"')
INVALID = rate("router_attempts_total", f'{TRIED}, class="invalid_response"')
COST = rate("router_operation_cost_total", ROUTE)
TAKEN = rate("router_operation_attempts_total", ROUTE)
USED = (
    f"max by (policy) (router_budget_spent{{{POLICY}}} + router_budget_reserved{{{POLICY}}})"
    f" / max by (policy) (router_budget_limit{{{POLICY}}} > 0)"
)


def ended(outcome: str) -> str:
    """Operations that ended so."""
    return rate("router_operations_total", f'{ROUTE}, outcome="{outcome}"')


def within(metric: str) -> str:
    """How much it grew within the time range."""
    return f"sum(increase({metric}{{{JOB}}}[$__range])) or vector(0)"
