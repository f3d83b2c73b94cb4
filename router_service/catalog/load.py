"""Load: the files of a catalogue become its content, or every problem of every file at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from router_service.catalog import names
from router_service.catalog.circuits import read_circuits
from router_service.catalog.compose import compose
from router_service.catalog.content import Content
from router_service.catalog.files import read_files
from router_service.catalog.form import ENDPOINTS, MODELS, POLICIES, SECTIONS, SETTINGS, WORKLOADS
from router_service.catalog.located import CatalogInvalid, Located, in_order
from router_service.catalog.settings import Settings, read_settings
from router_service.catalog.written import Written, gather
from router_service.domain.endpoint import Endpoint
from router_service.domain.fields import read_fields
from router_service.domain.policy import Policy
from router_service.domain.problems import InvalidValue, Problem
from router_service.domain.workload import Workload

_MISSING_CURES = {
    (ENDPOINTS.name, "model"): "name its model; to overlay an endpoint of an earlier file, repeat its endpoint_id",
}
_DEFAULTS = {**MODELS.defaults, **ENDPOINTS.defaults}
_EMPTY_CURES = {
    ENDPOINTS.name: "list at least one: an empty catalogue refuses every request",
    POLICIES.name: "list at least one: every request is decided under a policy",
}

__all__ = ["CatalogInvalid", "Loaded", "Located", "load", "load_written"]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A content, and where each of its entries was written, by name."""

    content: Content
    files: tuple[str, ...]
    models: Mapping[str, Written]
    endpoints: Mapping[str, Written]
    policies: Mapping[str, Written]
    workloads: Mapping[str, Written]


def load(path: Path) -> Content:
    """The content of a file, or of a folder's *.yaml and *.yml files in the order of their names.

    A later file overlays the models and endpoints of earlier ones, key by key. Raises CatalogInvalid.
    """
    return load_written(path).content


def load_written(path: Path) -> Loaded:
    """The same, with the places of everything. Raises CatalogInvalid."""
    found: list[Located] = []
    data = read_files(path, found)
    unread = bool(found)
    documents = [one for file, text in data.items() if (one := compose(file, text, found)) is not None]
    # What a file that cannot be read may hold is not called missing.
    complete = not unread and len(documents) == len(data)
    reading = _Reading(found, complete)
    settings = read_settings(documents, found)
    listed = {section.name: gather(section, documents, found) for section in SECTIONS}
    facts = reading.models(listed[MODELS.name], settings)
    endpoints = reading.endpoints(listed[ENDPOINTS.name], facts)
    policies = reading.policies(listed[POLICIES.name])
    workloads = reading.workloads(listed[WORKLOADS.name])
    thresholds = read_circuits(documents, found)
    if complete:
        found += names.dangling_default(settings, [one.name for one in listed[POLICIES.name]])
        found += list(_missing(path, settings, listed, found))
    if found:
        raise CatalogInvalid(in_order(found, data))
    content = Content(
        currency=settings.value("currency"),
        endpoints=tuple(sorted(endpoints, key=lambda one: one.endpoint_id.encode())),
        policies=tuple(sorted(policies, key=lambda one: one.policy_id.encode())),
        default_policy=settings.value("default_policy"),
        pool_names=tuple(settings.pool_names),
        workloads=tuple(sorted(workloads, key=lambda one: one.place)),
        thresholds=thresholds,
    )
    by_name = ({one.name: one for one in listed[section.name]} for section in SECTIONS)
    return Loaded(content, tuple(data), *by_name)


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads entries into values; what is wrong with them is added to `found`."""

    found: list[Located]
    complete: bool

    def models(self, listed: list[Written], settings: Settings) -> dict[str, dict[str, object]]:
        """What the endpoints of each model inherit, as raw values."""
        facts: dict[str, dict[str, object]] = {}
        aliases: dict[str, tuple[str, ...]] = {}
        for written in listed:
            own = written.raw(self.found)
            raw = {**MODELS.defaults, **own}
            values, problems = read_fields(MODELS.fields, raw)
            self._report(written, own, problems)
            if written.name:
                facts[written.name] = {name: value for name, value in raw.items() if name != MODELS.key}
                aliases[written.name] = values.get("aliases", ())
        by_slug = {one.name: one for one in listed if one.name}
        self.found.extend(names.clashes(by_slug, aliases, settings))
        return facts

    def endpoints(self, listed: list[Written], facts: Mapping[str, Mapping[str, object]]) -> list[Endpoint]:
        """The endpoints, each with its model's facts where it states none of its own."""
        read = []
        for written in listed:
            own = written.raw(self.found)
            slug = MODELS.fields["model"].reader.read(own.get("model") or "", "", [])
            inherited = facts.get(slug, MODELS.defaults)
            if slug and slug not in facts and self.complete:
                self.found.append(names.dangling_model(written, slug, facts))
            try:
                read.append(Endpoint.read({**ENDPOINTS.defaults, **inherited, **own}))
            except InvalidValue as invalid:
                # A model's own problems were reported where they stand.
                elsewhere = inherited.keys() - own.keys()
                self._report(written, own, [one for one in invalid.problems if _root(one) not in elsewhere])
        return read

    def policies(self, listed: list[Written]) -> list[Policy]:
        """The policies."""
        read = []
        for written in listed:
            own = written.raw(self.found)
            try:
                policy = Policy.read(own)
                self.found.extend(names.unknown_zone(written, policy.time_zone))
                read.append(policy)
            except InvalidValue as invalid:
                self._report(written, own, invalid.problems)
        return read

    def workloads(self, listed: list[Written]) -> list[Workload]:
        """The workloads, of which no two count as the same version of one."""
        read = []
        for written in listed:
            own = written.raw(self.found)
            try:
                read.append(Workload.read(own))
            except InvalidValue as invalid:
                self._report(written, own, invalid.problems)
        self.found.extend(names.same_versions(listed, {one.label: one.place for one in read}))
        return read

    def _report(self, written: Written, own: Mapping[str, object], problems: Iterable[Problem]) -> None:
        for problem in problems:
            name = _root(problem)
            if name in own:
                emptied = own[name] is None and name in _DEFAULTS
                cure = f"remove the key, or write {problem.cure}" if emptied else problem.cure
            elif self.complete or name in written.section.keys:
                cure = _MISSING_CURES.get((written.section.name, name), problem.cure)
            else:
                continue
            self.found.append(written.located(Problem(problem.field, problem.message, cure)))


def _root(problem: Problem) -> str:
    return problem.field.partition("[")[0]


def _missing(
    path: Path, settings: Settings, listed: Mapping[str, list[Written]], found: list[Located]
) -> Iterator[Located]:
    """What must be somewhere and is nowhere; what is there and malformed was reported as that."""
    malformed = {_root(one.problem) for one in found}
    if not settings.value("currency") and "currency" not in malformed:
        yield Located(str(path), 0, Problem("currency", "missing", f"set {SETTINGS['currency'].about}"))
    for name, cure in _EMPTY_CURES.items():
        if not listed[name] and name not in malformed:
            yield Located(str(path), 0, Problem(name, "none", cure))
