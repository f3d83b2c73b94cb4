"""Effects: every row of the spec's table of failure classes, as data, and what no report can do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from router_service.domain.report import FAILURE_CLASSES, OUTCOMES
from router_service.health.effects import (
    EFFECTS,
    FAILURE,
    INVALID,
    NONE,
    RETRY_AFTER_MAX_MS,
    ROWS,
    SUCCESS,
    SUPPRESSED,
    Effect,
    Seen,
    effect_of,
)
from router_service.health.error_codes import CREDENTIALS, MODEL, QUOTA, RATE, REQUEST, subject_of
from tests.health.events import DEFAULTS, attempt

NEED = 700
REFUSED = Effect(SUPPRESSED, 300_000)
RATE_LIMITED = Effect(SUPPRESSED, 10_000)
DAY = 24 * 3600 * 1000

Case = tuple[str, int | None, dict[str, Any], Effect]

# The rows of docs/reliability.md's table from top to bottom: class, status, whatever else was told, effect.
TABLE: list[Case] = [
    ("", 200, {}, Effect(SUCCESS)),
    ("", None, {}, Effect(SUCCESS)),
    ("transient", None, {}, Effect(FAILURE)),  # refused, unresolvable, TLS, timed out before it was sent
    ("ambiguous", None, {}, Effect(FAILURE)),  # lost after it was sent
    ("ambiguous", 200, {}, Effect(FAILURE)),  # broken off after a part was passed on
    *(("transient", status, {}, Effect(FAILURE)) for status in (408, 425, 500, 502, 503, 504, *range(520, 525), 529)),
    ("transient", 429, {"retry_after_ms": 40_000}, Effect(SUPPRESSED, 40_000)),
    ("transient", 429, {}, RATE_LIMITED),
    ("permanent", 402, {}, REFUSED),
    ("permanent", 429, {"error_code": "insufficient_quota"}, REFUSED),
    ("permanent", 400, {"error_code": "Your credit balance is too low to access the API."}, REFUSED),
    ("permanent", 401, {}, REFUSED),
    ("permanent", 403, {}, REFUSED),
    ("incompatible", 404, {}, REFUSED),
    *(("incompatible", status, {}, Effect(NONE)) for status in (400, 413, 422)),
    *(("permanent", status, {}, Effect(NONE)) for status in (400, 405, 409, 413, 415, 422)),
    ("permanent", 200, {"finish_reason": "content_filter"}, Effect(NONE)),
    *(("permanent", status, {}, Effect(NONE)) for status in (500, 503, 529)),  # x-should-retry: false
    ("invalid_response", 200, {}, Effect(INVALID)),
    ("invalid_response", None, {}, Effect(INVALID)),
]
GRPC: list[Case] = [
    ("", 0, {}, Effect(SUCCESS)),
    *(("transient", code, {}, Effect(FAILURE)) for code in (14, 13, 2, 10)),
    ("transient", 8, {}, RATE_LIMITED),
    ("transient", 8, {"retry_after_ms": 1}, Effect(SUPPRESSED, 1)),
    ("permanent", 8, {}, REFUSED),
    ("ambiguous", 4, {}, Effect(FAILURE)),
    ("permanent", 16, {}, REFUSED),
    ("permanent", 7, {}, REFUSED),
    ("incompatible", 5, {}, REFUSED),
    ("incompatible", 12, {}, REFUSED),
    *((kind, code, {}, Effect(NONE)) for kind in ("permanent", "incompatible") for code in (3, 9, 11)),
    ("", 1, {}, Effect(NONE)),
]
# What the table leaves to the reader.
BETWEEN: list[Case] = [
    ("transient", 503, {"retry_after_ms": 20_000}, Effect(FAILURE, 20_000)),
    ("transient", 429, {"retry_after_ms": 0}, Effect(SUPPRESSED, 0)),
    ("transient", 429, {"retry_after_ms": 2**32 - 1}, Effect(SUPPRESSED, DAY)),
    ("transient", 429, {"error_code": "insufficient_quota"}, REFUSED),  # the code decides before the status
    ("transient", 400, {"error_code": "ThrottlingException"}, RATE_LIMITED),
    ("permanent", 402, {"retry_after_ms": 600_000}, Effect(SUPPRESSED, 600_000)),
    ("permanent", 402, {"retry_after_ms": 1000}, REFUSED),
    ("permanent", 429, {}, REFUSED),
    ("permanent", 429, {"error_code": "dailyQuotaExceeded"}, REFUSED),
    ("transient", 429, {"error_code": "quotaExceeded"}, RATE_LIMITED),  # which may be one of a minute
    ("permanent", 429, {"error_code": "rate_limit_exceeded"}, Effect(NONE)),
    ("permanent", 400, {"error_code": "API_KEY_INVALID"}, REFUSED),
    ("permanent", 400, {"error_code": "model_not_found"}, REFUSED),
    ("permanent", 403, {"error_code": "content_policy_violation"}, Effect(NONE)),
    ("permanent", 404, {}, Effect(NONE)),
    *(("permanent", status, {"error_code": "x_should_retry_false"}, Effect(NONE)) for status in (401, 402, 403, 429)),
    ("incompatible", 400, {"error_code": "context_length_exceeded", "retry_after_ms": 5000}, Effect(NONE)),
    ("", 503, {}, Effect(NONE)),
    ("", 499, {}, Effect(NONE)),
]


@pytest.mark.parametrize(("failure_class", "status", "more", "effect"), [*TABLE, *GRPC, *BETWEEN])
def test_rows(failure_class: str, status: int | None, more: dict[str, Any], effect: Effect) -> None:
    assert effect_of(attempt(failure_class, status, **more), "", NEED, DEFAULTS) == effect


def test_every_row_is_the_first_for_something() -> None:
    def first(case: Case) -> int:
        one = attempt(case[0], case[1], **case[2])
        looked_at = Seen(one, "", NEED, subject_of(one.error_code))
        return next(number for number, row in enumerate(ROWS) if row.matches(looked_at))

    own_time_out: Case = ("transient", None, {"timeout_ms": 100}, Effect(NONE))
    assert {first(case) for case in (*TABLE, *GRPC, *BETWEEN, own_time_out)} == set(range(len(ROWS)))


@pytest.mark.parametrize(
    ("told", "need_ms", "kind"),
    [
        ({"timeout_ms": 100}, 700, NONE),
        ({"timeout_ms": 699}, 700, NONE),
        ({"timeout_ms": 700}, 700, FAILURE),
        ({"timeout_ms": 0}, 700, NONE),
        ({"timeout_ms": 100}, None, FAILURE),
        ({}, 700, FAILURE),
        ({"timeout_ms": 100, "latency_ms": 100}, 700, NONE),
        ({"timeout_ms": 100, "latency_ms": 90}, 700, NONE),
        ({"timeout_ms": 100, "latency_ms": 89}, 700, FAILURE),  # refused before the time was up
        ({"timeout_ms": 100, "status_code": 4}, 700, NONE),
        ({"timeout_ms": 100, "status_code": 504}, 700, FAILURE),
        ({"timeout_ms": 100, "status_code": 200}, 700, FAILURE),
    ],
)
@pytest.mark.parametrize("failure_class", ["transient", "ambiguous"])
def test_a_time_out_shorter_than_the_need_is_the_callers_own(
    failure_class: str, told: dict[str, Any], need_ms: int | None, kind: str
) -> None:
    assert effect_of(attempt(failure_class, **told), "", need_ms, DEFAULTS).kind == kind


def test_a_cancelled_attempt_is_no_success() -> None:
    assert effect_of(attempt(), "cancelled", NEED, DEFAULTS) == Effect(NONE)
    assert effect_of(attempt("", 200), "cancelled", NEED, DEFAULTS) == Effect(SUCCESS)


@pytest.mark.parametrize(
    ("subject", "codes"),
    [
        (QUOTA, "insufficient_quota InsufficientQuota billing_hard_limit_reached project_spend_limit_exceeded"),
        (QUOTA, "exceeded_current_quota_error Arrearage AccountOverdueError BILLING_BALANCE_NOT_ENOUGH"),
        (RATE, "rate_limit_exceeded rate_limit_error ThrottlingException TooManyRequests"),
        (CREDENTIALS, "invalid_api_key API_KEY_INVALID authentication_error"),
        (MODEL, "model_not_found DeploymentNotFound ModelNotExist"),
        (REQUEST, "content_filter context_length_exceeded unsupported_parameter ResponsibleAIPolicyViolation"),
        ("", "server_error overloaded_error invalid_request_error quota billing 1113 € ---"),
    ],
)
def test_codes(subject: str, codes: str) -> None:
    assert {code: subject_of(code) for code in codes.split()} == dict.fromkeys(codes.split(), subject)
    assert subject_of("") == ""


CODES = st.sampled_from(["", "insufficient_quota", "rate_limit_exceeded", "invalid_api_key", "odd", "content_filter"])
MILLISECONDS = st.none() | st.integers(0, 2**32 - 1)


@settings(max_examples=300)
@given(
    st.sampled_from(["", *FAILURE_CLASSES]),
    st.none() | st.integers(0, 999),
    st.fixed_dictionaries(
        {"error_code": CODES, "retry_after_ms": MILLISECONDS, "timeout_ms": MILLISECONDS, "latency_ms": MILLISECONDS}
    ),
    st.sampled_from(["", *OUTCOMES]),
    st.none() | st.integers(0, 10**6),
)
def test_no_report_does_more_than_its_class_may(
    failure_class: str, status: int | None, told: dict[str, Any], outcome: str, need_ms: int | None
) -> None:
    effect = effect_of(attempt(failure_class, status, **told), outcome, need_ms, DEFAULTS)
    allowed = {
        "": (SUCCESS, NONE),
        "transient": (FAILURE, SUPPRESSED, NONE),
        "ambiguous": (FAILURE, NONE),
        "permanent": (SUPPRESSED, NONE),
        "incompatible": (SUPPRESSED, NONE),
        "invalid_response": (INVALID,),
    }
    assert effect.kind in EFFECTS
    assert effect.kind in allowed[failure_class]
    assert 0 <= effect.suppress_for_ms <= RETRY_AFTER_MAX_MS
    assert effect.kind in (SUPPRESSED, FAILURE) or effect.suppress_for_ms == 0
