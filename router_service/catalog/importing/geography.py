"""The region that a model id names, for the clouds that write it into their ids."""

from __future__ import annotations

from router_service.catalog.regions import cloud_of, locate

# Clouds whose path segments name a region (`bedrock/eu-central-1/…`, `azure/eu/…`).
_IN_PATH = frozenset(("aws", "azure"))
# Clouds whose dotted prefix names a geography of inference (`eu.anthropic.…`).
_IN_PREFIX = frozenset(("aws",))


def region_in(model_id: str, provider: str) -> str:
    """The region id inside `model_id`, as written there; empty where it names none.

    A geography in the prefix wins over a region in the path, since the request may be answered
    anywhere in that geography. A segment that no known region has is part of the name.
    """
    cloud = cloud_of(provider)
    *segments, last = model_id.split("/")
    prefix, dot, _ = last.partition(".")
    if cloud in _IN_PREFIX and dot and locate(prefix, provider):
        return prefix
    if cloud in _IN_PATH:
        return next((segment for segment in segments if locate(segment, provider)), "")
    return ""
