"""What a client is answered where there is no answer: by the refusal, the last failure, or why nothing was decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from router_openai_proxy import facts
from router_openai_proxy.errors import ApiError, Problem, bad_request
from router_service_client import (
    Decision,
    InvalidRequest,
    LimitExceeded,
    PolicyNotFound,
    Refusal,
    RouterError,
    RouterUnavailable,
    Run,
    Seen,
    WorkloadNotFound,
    classify,
)
from router_service_client.classification import Verdict

PATIENCE_MS = 60_000
"""A pause up to which an SDK may ask again by itself, where nothing was tried."""

# Statuses and subjects that tell of the proxy's own account, and are nobody else's business.
_OF_THE_ACCOUNT = {401, 402, 403, 407}
_PASSED_ON = ("message", "type", "param", "code")


def error_of_router(error: RouterError) -> ApiError:
    """Nothing was decided, so the request went nowhere."""
    if isinstance(error, InvalidRequest):
        problems = [Problem(_param(one.field), one.description) for one in error.violations]
        return bad_request(problems or [Problem("", str(error))])
    if isinstance(error, PolicyNotFound | WorkloadNotFound):
        code = "policy_not_found" if isinstance(error, PolicyNotFound) else "workload_not_found"
        return ApiError(404, code, str(error))
    if isinstance(error, RouterUnavailable | LimitExceeded):
        text = "The router-service cannot decide now, and without a decision a request may go nowhere."
        return ApiError(503, "router_unavailable", text, final=False)
    # The service does not know this proxy, or allows it too little: no client can do anything about that.
    return ApiError(503, "router_refused", "The router-service did not answer this proxy; its operator's log says why.")


def _param(field: str) -> str:
    """Where a client said what the service calls by the name of a field."""
    name = field.removeprefix("request.").partition("[")[0]
    body = {"model": "model", "input_tokens": "messages", "output_tokens": "max_completion_tokens"}
    return body.get(name) or (f"x-router-{name.replace('_', '-')}" if name else "")


def error_of_refusal(refusal: Refusal, left_out: int) -> ApiError:
    """A refusal, as it is; `left_out` endpoints may serve by the policy and have no backend here."""
    message = refusal.message
    if refusal.code == "all_candidates_excluded" and left_out:
        message += f" This proxy has no backend for {left_out} endpoints of the policy."
    told = facts.refusal_block(refusal)
    wait = refusal.retry_after.ToMilliseconds() if refusal.HasField("retry_after") else None
    return ApiError(
        refusal.http_status,
        refusal.code,
        message,
        param="model" if refusal.code in ("model_not_found", "not_a_text_model", "model_denied") else None,
        final=not refusal.transient or (wait is not None and wait > PATIENCE_MS),
        retry_after_ms=wait,
        block=told,
    )


def error_of_run(run: Run[Any], endpoint_error: bytes | None = None) -> ApiError:
    """A run that was decided and ended without an answer. What was tried was tried as often as it may be.

    `endpoint_error` is what the endpoint said when it gave up in the middle of a stream.
    """
    told = facts.block(run.decision or Decision(), None, run.attempts)
    status, code, message, more = _OUTCOMES.get(run.outcome, _failed)(run)
    if endpoint_error is not None and run.outcome == "ambiguous":
        more = {**_said(endpoint_error), **more}
    return ApiError(
        status,
        more.get("code") or code,
        more.get("message") or message,
        param=more.get("param"),
        kind=more.get("type") or "",
        retry_after_ms=more.get("retry_after_ms"),
        block=told,
    )


_Told = tuple[int, str, str, Mapping[str, Any]]


def _tried(run: Run[Any]) -> str:
    def what(words: list[str]) -> str:
        return " ".join(one for one in words if one) or "no answer"

    return ", ".join(
        f"{one.endpoint_id} ({what([one.failure_class, str(one.status_code or ''), one.error_code])})"
        for one in run.attempts
    )


def _deadline_exhausted(run: Run[Any]) -> _Told:
    tried = f" Tried: {_tried(run)}." if run.attempts else ""
    return 504, "deadline_exhausted", f"No endpoint answered within the deadline.{tried}", {}


def _rejected(run: Run[Any]) -> _Told:
    return 502, "invalid_response", f"No answer passed the checks. Tried: {_tried(run)}.", {}


def _ambiguous(run: Run[Any]) -> _Told:
    text = "The answer broke off, and it is not known what became of the request."
    return 502, "outcome_unknown", f"{text} Tried: {_tried(run)}.", {}


def _cancelled(run: Run[Any]) -> _Told:
    return 499, "cancelled", f"The client went away. Tried: {_tried(run)}.", {}


def _failed(run: Run[Any]) -> _Told:
    if not run.attempts:
        listed = ", ".join(one.endpoint_id for one in run.decision.candidates) if run.decision else ""
        return 503, "no_backend", f"This proxy has no backend for what was decided: {listed}.", {}
    verdict = classify(run.failure) if run.failure is not None else None
    if verdict is not None and run.failure is not None and _is_of_the_request(run.failure, verdict):
        text = f"{run.attempts[-1].endpoint_id} refused the request."
        return verdict.status_code or 400, verdict.error_code or "refused", text, _said(run.failure.body)
    if verdict is not None and verdict.status_code == 429 and verdict.failure_class == "transient":
        waits = [one.retry_after_ms for one in run.attempts if one.HasField("retry_after_ms")]
        text = f"Every endpoint that may serve this request is at its limit. Tried: {_tried(run)}."
        return 429, "rate_limit_exceeded", text, {"retry_after_ms": min(waits, default=None)}
    return 503, "endpoints_failed", f"No endpoint could answer. Tried: {_tried(run)}.", {}


_OUTCOMES: Mapping[str, Callable[[Run[Any]], _Told]] = {
    "deadline_exhausted": _deadline_exhausted,
    "rejected": _rejected,
    "ambiguous": _ambiguous,
    "cancelled": _cancelled,
    "failed": _failed,
}


def _is_of_the_request(failure: Seen, verdict: Verdict) -> bool:
    """Whether the endpoint said what is wrong with the request, so that its words are for the client."""
    status = verdict.status_code or 0
    if failure.kind != "http" or status in _OF_THE_ACCOUNT or not 400 <= status < 600:
        return False
    return verdict.of == "request" or (verdict.failure_class == "incompatible" and status != 404)


def _said(body: object) -> dict[str, Any]:
    """What an error of OpenAI's shape says, as far as it is text."""
    try:
        told = msgspec.json.decode(body) if isinstance(body, bytes | str) else body
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    error = told.get("error", told) if isinstance(told, dict) else None
    if isinstance(error, str):
        return {"message": error}
    if not isinstance(error, dict):
        return {}
    return {name: error[name] for name in _PASSED_ON if isinstance(error.get(name), str)}
