"""Whether and where spans go, by OpenTelemetry's own environment variables (docs/operating.md, Traces of calls)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from router_service import __version__

if TYPE_CHECKING:
    from router_service.server.spans import Spans

EXPORTER, DISABLED = "OTEL_TRACES_EXPORTER", "OTEL_SDK_DISABLED"
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
NONE, OTLP, CONSOLE = "none", "otlp", "console"


class TelemetryInvalid(ValueError):
    """Spans were asked for in a way that cannot be; the text has every problem, one a line, with its cure."""


def spans_of(environment: Mapping[str, str]) -> Spans | None:
    """What makes spans, or None where they are off: nobody named an exporter or a collector. Raises TelemetryInvalid.

    Everything else (sampler, resource, batches, headers, certificates) OpenTelemetry's SDK reads by itself.
    """
    wanted = _exporters(environment)
    if environment.get(DISABLED, "").strip().lower() == "true" or not wanted:
        return None
    problems = [
        f"{EXPORTER}: {name} is no exporter of this service; give {OTLP}, {CONSOLE} or {NONE}"
        for name in wanted
        if name not in {OTLP, CONSOLE}
    ]
    problems += [
        f"{name}: {said} is not spoken; give grpc, and the port for it, mostly 4317"
        for name in PROTOCOLS
        if (said := environment.get(name, "grpc")) not in {"", "grpc"}
    ]
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.sdk") is None:
        cure = f"pip install 'router-service[otel]', or remove {EXPORTER} and {ENDPOINTS[1]}"
        problems.append(f"spans are asked for, and the packages that make them are not here: {cure}")
    if problems:
        raise TelemetryInvalid("\n".join(problems))
    return _spans(wanted, environment)


def _exporters(environment: Mapping[str, str]) -> list[str]:
    said = environment.get(EXPORTER, "")
    if not said.strip():
        return [OTLP] if any(environment.get(name) for name in ENDPOINTS) else []
    return [name for one in said.split(",") if (name := one.strip()) and name != NONE]


def _spans(exporters: list[str], environment: Mapping[str, str]) -> Spans:
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - the extra otel
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter  # noqa: PLC0415

    from router_service.server.spans import Spans  # noqa: PLC0415

    own = {SERVICE_VERSION: __version__}
    named = environment.get("OTEL_SERVICE_NAME") or "service.name=" in environment.get("OTEL_RESOURCE_ATTRIBUTES", "")
    if not named:
        own[SERVICE_NAME] = "router-service"
    provider = TracerProvider(resource=Resource.create(own))
    made = {OTLP: OTLPSpanExporter, CONSOLE: ConsoleSpanExporter}
    for name in exporters:
        # A thread of its own sends them: a collector that is slow or away delays no call, and what it misses is lost.
        provider.add_span_processor(BatchSpanProcessor(made[name]()))
    return Spans(provider)
