"""Load: the files of callers become who may call, or every problem of every file at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from router_service.callers.book import Callers, Token
from router_service.callers.form import CALLERS, SECTIONS, TOKENS
from router_service.catalog import names
from router_service.catalog.compose import Kind, compose
from router_service.catalog.files import read_files
from router_service.catalog.located import Located, in_order
from router_service.catalog.nodes import Mapping as MappingNode
from router_service.catalog.written import Written, gather
from router_service.domain.caller import Caller
from router_service.domain.fields import read_fields, unknown_field
from router_service.domain.problems import InvalidValue, Problem

KIND = Kind("callers file", CALLERS.name)
_Value = TypeVar("_Value")


class CallersInvalid(ValueError):
    """Files that do not say who may call: carries every problem of every file, in the order of files and lines."""

    def __init__(self, problems: Iterable[Located]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


@dataclass(frozen=True, slots=True)
class Loaded:
    """Who may call, and where each caller and each token was written, by its id or its SHA-256."""

    callers: Callers
    files: tuple[str, ...]
    written: Mapping[str, Written]
    tokens: Mapping[str, Written]


def load(path: Path) -> Loaded:
    """The callers of a file, or of a folder's *.yaml and *.yml files in the order of their names.

    A later file overlays the callers of earlier ones, key by key. Raises CallersInvalid.
    """
    found: list[Located] = []
    data = read_files(path, found, "the files of callers")
    documents = [one for file, text in data.items() if (one := compose(file, text, found, KIND)) is not None]
    complete = not found and len(documents) == len(data)
    for document in documents:
        found += _strangers(document)
    written, tokens = gather(CALLERS, documents, found), gather(TOKENS, documents, found)
    known = {one.name for one in written if one.name}
    callers = _read(written, Caller.read, found)
    found += _shared_names(written)
    by_id = {caller.caller: caller for caller in callers}
    shown = _read(tokens, _token, found)
    if complete:
        found += [*_nobodys(tokens, known), *_reports_for_nobody(callers, written, known)]
        if not written and not found:
            found.append(Located(str(path), 0, Problem(CALLERS.name, "none", "list at least one: nobody could call")))
    if found:
        raise CallersInvalid(in_order(found, data))
    made = (Token(bytes.fromhex(one["sha256"]), by_id[one["caller"]], one.get("expires_at")) for one in shown)
    places = [{one.name: one for one in section} for section in (written, tokens)]
    return Loaded(Callers.of(callers, made), tuple(data), *places)


def dangling(loaded: Loaded, policies: Iterable[str], workloads: Iterable[str]) -> Iterator[Located]:
    """What callers name and a catalogue of these policies and workloads does not have."""
    catalogue = {"policies": list(policies), "workloads": list(workloads)}
    for caller in loaded.callers.by_id.values():
        written = loaded.written[caller.caller]
        for field, there in catalogue.items():
            for name in sorted((getattr(caller, field) or frozenset()) - set(there)):
                cure = names.suggestion(name, there) or "name what the catalogue has, or add it there"
                place = written.place_in(field, name)
                yield written.located(Problem(place, f'the catalogue has no "{name}"', cure))


def _strangers(document: MappingNode) -> Iterator[Located]:
    known = {section.name: section for section in SECTIONS}
    for name in document.values:
        if name not in known:
            yield Located(document.file, document.key_lines[name], unknown_field(name, known))


def _read(
    listed: Iterable[Written], read: Callable[[Mapping[str, object]], _Value], found: list[Located]
) -> list[_Value]:
    """The values of entries; what is wrong with them is added to `found`."""
    values = []
    for written in listed:
        try:
            values.append(read(written.raw(found)))
        except InvalidValue as invalid:
            found += [written.located(problem) for problem in invalid.problems]
    return values


def _token(raw: Mapping[str, object]) -> dict[str, Any]:
    values, problems = read_fields(TOKENS.fields, raw)
    if problems:
        raise InvalidValue("token", problems)
    return values


def _shared_names(listed: Iterable[Written]) -> Iterator[Located]:
    """Names of certificates that several callers claim."""
    first: dict[str, Written] = {}
    for written in listed:
        sans: tuple[str, ...] = read_fields(CALLERS.fields, written.raw([]))[0].get("sans", ())
        for san in sans:
            other = first.setdefault(san, written)
            if other is not written:
                file, line = other.position("sans")
                message = f'"{san}" is a name of {other.name or other.place} too ({file}:{line})'
                problem = Problem(written.place_in("sans", san), message, "give each caller certificates of its own")
                yield written.located(problem)


def _reports_for_nobody(callers: Iterable[Caller], listed: Iterable[Written], known: set[str]) -> Iterator[Located]:
    """Callers that report for others that are not listed."""
    places = {one.name: one for one in listed}
    for caller in callers:
        written = places[caller.caller]
        for name in sorted((caller.reports_for or frozenset()) - known):
            cure = names.suggestion(name, known) or "list it under callers, or remove the entry"
            place = written.place_in("reports_for", name)
            yield written.located(Problem(place, f'"{name}" is no caller here', cure))


def _nobodys(tokens: Iterable[Written], known: set[str]) -> Iterator[Located]:
    """Tokens of callers that are not listed."""
    for written in tokens:
        caller = read_fields(TOKENS.fields, written.raw([]))[0].get("caller", "")
        if caller and caller not in known:
            cure = names.suggestion(caller, known) or "list it under callers, or remove the token"
            yield written.located(Problem("caller", f'"{caller}" is no caller here', cure))
