"""Envoy's doors by their names, and a catalogue to knock at them with."""

from __future__ import annotations

CHECK = "/envoy.service.auth.v3.Authorization/Check"
PROCESS = "/envoy.service.ext_proc.v3.ExternalProcessor/Process"
LOGS = "/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs"
SERVICES = {method.split("/")[1] for method in (CHECK, PROCESS, LOGS)}
ALL = "a,b,far"
CATALOG = """\
currency: EUR
default_policy: eu
models: [{model: m}]
endpoints:
- {endpoint_id: a, model: m, country: FR, sovereignty: eu-owned, latency_ms: 100, input_price: 1, output_price: 1}
- {endpoint_id: b, model: m, country: DE, sovereignty: eu-hosted, latency_ms: 200, input_price: 2, output_price: 2}
- {endpoint_id: far, model: m, country: US, sovereignty: global, input_price: 3, output_price: 3}
policies:
- {policy_id: eu}
- {policy_id: world, residency: [eu-hosted, global]}
- {policy_id: daily, daily_budget: 100}
workloads:
- {name: chat, version: 1, task: coding, input_tokens: 100, output_tokens: 10}
- {name: chat, version: 2, task: retrieval}
"""
