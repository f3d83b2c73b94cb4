"""Entries of a policy's lists that match nothing: why, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from router_service.catalog.names import suggestion
from router_service.domain.policy import Policy
from router_service.domain.problems import Problem
from router_service.domain.text import fold
from router_service.engine.glob import WILDCARD
from router_service.engine.index import Index

# Codes that people write for a country and that are not its own of ISO 3166-1.
_MISTAKEN_CODES = {"UK": "GB", "EL": "GR"}
_COUNTRY_GROUPS = ("EU", "EEA")


def useless_entries(
    index: Index, policy: Policy, without_endpoint: Iterable[str]
) -> Iterator[tuple[str, str, Problem]]:
    """(list, entry, problem) of each entry that matches no endpoint. `without_endpoint` are slugs that have none."""
    explain = {
        "regions": lambda entry: _region(index, entry),
        "provider_allow": lambda entry: _provider(index, entry),
        "provider_deny": lambda entry: _provider(index, entry),
        "model_allow": lambda entry: _model(index, entry, without_endpoint),
        "model_deny": lambda entry: _model(index, entry, without_endpoint),
    }
    for listed in index.sets_of(policy).lists:
        for entry, matched in listed.entries:
            if not matched:
                message, cure = explain[listed.name](entry)
                yield listed.name, entry, Problem("", f'"{entry}" {message}', cure)


def _region(index: Index, entry: str) -> tuple[str, str]:
    code = fold(entry).upper()
    if code in _COUNTRY_GROUPS:
        return "matches nothing: no endpoint is there", "remove it, or list an endpoint there"
    if len(code) == 2 and code.isascii() and code.isalpha():
        right = _MISTAKEN_CODES.get(code)
        cure = f"write {right}, its code of ISO 3166-1" if right else "remove it, or list an endpoint there"
        return "matches nothing: no endpoint is in that country", cure
    regions = {fold(one.region) for one in index.endpoints if one.region}
    cure = suggestion(fold(entry), regions) or "write a country such as DE, or a region id of the catalogue"
    return "matches no region of the catalogue", cure


def _provider(index: Index, entry: str) -> tuple[str, str]:
    providers = {fold(one.provider) for one in index.endpoints if one.provider}
    cure = suggestion(fold(entry), providers) or "write a provider of the catalogue, or remove it"
    return "matches no provider of the catalogue", cure


def _model(index: Index, entry: str, without_endpoint: Iterable[str]) -> tuple[str, str]:
    asked, models = fold(entry), index.models
    resolution = None if WILDCARD in entry else models.resolve(asked)
    if resolution:
        # A deny list accepts what resolves at all, so this is an allow list.
        steps = ", ".join(resolution.steps)
        return (
            f"is {resolution.slug} only approximately ({steps} was cut), which is not enough to allow it",
            f"write {resolution.slug}, or make it an alias of that model",
        )
    if asked in models.pool_names:
        return "names the whole pool, which no entry can match", "write a model, or * for all"
    if asked in without_endpoint:
        return "matches nothing: the model has no endpoint", "list an endpoint of it, or remove the entry"
    known = [name for slug in models.slugs for name in models.names(slug)]
    cure = suggestion(asked, known) or "write a slug or an alias of the catalogue, or remove it"
    return "matches no model of the catalogue", cure
