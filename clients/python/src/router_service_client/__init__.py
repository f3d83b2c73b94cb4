"""Asks a router-service which LLM endpoint a request may go to, and in which order to fall back.

A refusal is an answer and returned (`answer.HasField("refusal")`); what cannot be answered is raised. There is no
default endpoint: where the service gives no answer, the request may go nowhere.
"""

from router_service_client.aio import AsyncRouterClient
from router_service_client.attempts import Try
from router_service_client.classification import Verdict, classify
from router_service_client.client import RouterClient
from router_service_client.errors import (
    EndpointNotListed,
    FieldViolation,
    InvalidRequest,
    LimitExceeded,
    PermissionDenied,
    PolicyNotFound,
    RouterError,
    RouterTimeout,
    RouterUnavailable,
    TraceNotFound,
    Unauthenticated,
    WorkloadNotFound,
)
from router_service_client.execution_key import canonical_json, execution_key
from router_service_client.messages import ReportFields, RouteFields, candidates
from router_service_client.observed import seen_of_exception, seen_of_response
from router_service_client.reports import ReportsLost
from router_service_client.runs import NotAnswered, Run
from router_service_client.runtime import AsyncRuntime, Runtime
from router_service_client.seen import CallFailed, Seen
from router_service_client.v1.endpoint_pb2 import Endpoint
from router_service_client.v1.explanation_pb2 import Explanation
from router_service_client.v1.policy_pb2 import Policy
from router_service_client.v1.report_pb2 import Attempt, Report
from router_service_client.v1.route_pb2 import Candidate, Decision, Refusal, RouteRequest
from router_service_client.v1.router_service_pb2 import (
    DecideResponse,
    ExplainResponse,
    Inline,
    RejectedReport,
    ReportResponse,
    ReportStreamResponse,
)
from router_service_client.v1.trace_pb2 import Trace

__version__ = "0.1.0"

__all__ = [
    "AsyncRouterClient",
    "AsyncRuntime",
    "Attempt",
    "CallFailed",
    "Candidate",
    "DecideResponse",
    "Decision",
    "Endpoint",
    "EndpointNotListed",
    "ExplainResponse",
    "Explanation",
    "FieldViolation",
    "Inline",
    "InvalidRequest",
    "LimitExceeded",
    "NotAnswered",
    "PermissionDenied",
    "Policy",
    "PolicyNotFound",
    "Refusal",
    "RejectedReport",
    "Report",
    "ReportFields",
    "ReportResponse",
    "ReportStreamResponse",
    "ReportsLost",
    "RouteFields",
    "RouteRequest",
    "RouterClient",
    "RouterError",
    "RouterTimeout",
    "RouterUnavailable",
    "Run",
    "Runtime",
    "Seen",
    "Trace",
    "TraceNotFound",
    "Try",
    "Unauthenticated",
    "Verdict",
    "WorkloadNotFound",
    "candidates",
    "canonical_json",
    "classify",
    "execution_key",
    "seen_of_exception",
    "seen_of_response",
]
