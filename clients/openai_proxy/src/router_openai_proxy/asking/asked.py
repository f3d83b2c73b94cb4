"""A request as the service is asked about it: what its body holds, joined with what its headers and its caller say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from router_openai_proxy.asking.chat import Chat, read_chat
from router_openai_proxy.asking.router_headers import STRUCTURED, TEXT_MAX, Headers, read_headers
from router_openai_proxy.config.values import Access
from router_openai_proxy.errors import ApiError, Problem, bad_request
from router_service_client import RouteFields

OPERATION_HEADER = "x-client-request-id"
"""The caller's own id of its request, by the name that OpenAI gives it."""

_AS_IT_IS = ("task", "language", "residency", "regions", "max_price", "max_cost")


@dataclass(frozen=True, slots=True)
class Asked:
    """What Decide is given, and the body that the endpoint gets."""

    chat: Chat
    fields: RouteFields
    policy_id: str
    workload: str
    data_class: str
    operation_id: str
    deadline_ms: int | None

    def fields_after(self, gone_ms: int) -> RouteFields:
        """The fields of a decision, so long after the request came. Raises ApiError where its deadline is over."""
        if self.deadline_ms is None:
            return self.fields
        if gone_ms >= self.deadline_ms:
            raise ApiError(504, "deadline_exhausted", "The deadline was over before anything was decided.")
        return {**self.fields, "deadline_ms": self.deadline_ms - gone_ms}


def read_request(body: bytes, headers: Headers, access: Access) -> Asked:
    """What a request asks for. Raises ApiError with every problem at once."""
    chat, said = read_chat(body), read_headers(headers)
    operation_id = headers.get(OPERATION_HEADER, "")
    problems = [*chat.problems, *said.problems]
    if len(operation_id) > TEXT_MAX or not operation_id.isprintable():
        problems.append(Problem(OPERATION_HEADER, f"must have at most {TEXT_MAX} printable characters"))
    if problems:
        raise bad_request(problems)
    policy_id, workload = named(said.said, access)
    deadlines = [one for one in (said.said.get("deadline_ms"), access.deadline_ms) if one is not None]
    return Asked(
        chat=chat,
        fields=_fields(chat, said.said),
        policy_id=policy_id,
        workload=workload,
        data_class=said.said.get("data_class", ""),
        operation_id=operation_id,
        deadline_ms=min(deadlines, default=None),
    )


def named(said: Mapping[str, Any], access: Access) -> tuple[str, str]:
    """The policy and the workload of a request; a client may name those that its access lists. Raises ApiError."""
    policy_id, workload = said.get("policy", access.policy), said.get("workload", access.workload)
    if policy_id and policy_id not in access.policies:
        text = f"x-router-policy may not name {policy_id} here"
        raise ApiError(403, "policy_not_allowed", text, param="x-router-policy")
    # `invoices` allows every version of it.
    if workload and access.workloads.isdisjoint({workload, workload.partition("@")[0]}):
        text = f"x-router-workload may not name {workload} here"
        raise ApiError(403, "workload_not_allowed", text, param="x-router-workload")
    return policy_id, workload


def _fields(chat: Chat, said: Mapping[str, Any]) -> RouteFields:
    """Both may state a need, and what either needs holds; tokens that the caller counted go before the estimate."""
    fields: RouteFields = {
        "model": chat.model,
        "input_tokens": said.get("input_tokens", chat.input_tokens),
        "modalities": sorted({*chat.modalities, *said.get("modalities", ())} or {"text"}),
        "requires_tools": chat.requires_tools or said.get("tools", False),
        "structured_output": max(chat.structured_output, said.get("structured_output", "none"), key=STRUCTURED.index),
    }
    outputs = [one for one in (chat.output_tokens, said.get("output_tokens")) if one is not None]
    if outputs:
        fields["output_tokens"] = max(outputs)
    fields.update({name: said[name] for name in _AS_IT_IS if name in said})  # type: ignore[typeddict-item]
    return fields
