"""Settings: the top-level keys of all files that are no lists of entries, and where each was written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from router_service.catalog.form import SETTINGS, TOP_LEVEL
from router_service.catalog.located import Located
from router_service.catalog.nodes import Mapping, value_of
from router_service.domain.fields import unknown_field
from router_service.domain.problems import Problem


@dataclass(slots=True)
class Settings:
    """What the files set: for each setting its value and its file and line; pool names one by one."""

    one: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    pool_names: dict[str, tuple[str, int]] = field(default_factory=dict)

    def value(self, name: str) -> str:
        """A setting's value; empty where no file sets it."""
        return self.one[name][0] if name in self.one else ""


def read_settings(documents: Iterable[Mapping], found: list[Located]) -> Settings:
    """The settings of all files; two that disagree, and keys that nobody knows, are added to `found`."""
    settings = Settings()
    for document in documents:
        for name, node in document.values.items():
            line = document.key_lines[name]
            if name not in TOP_LEVEL:
                found.append(Located(document.file, line, unknown_field(name, TOP_LEVEL)))
            elif name in SETTINGS:
                problems: list[Problem] = []
                raw = value_of(node, SETTINGS[name].reader, name, problems)
                value = None if raw in (None, "") else SETTINGS[name].reader.read(raw, name, problems)
                problems += _set(settings, name, value, document.file, line) if value else []
                found.extend(Located(document.file, line, problem) for problem in problems)
    return settings


def _set(settings: Settings, name: str, value: str | tuple[str, ...], file: str, line: int) -> list[Problem]:
    if isinstance(value, tuple):
        for pool_name in value:
            settings.pool_names.setdefault(pool_name, (file, line))
        return []
    value = value.upper() if name == "currency" else value
    before, in_file, in_line = settings.one.setdefault(name, (value, file, line))
    if before == value:
        return []
    return [Problem(name, f'"{value}" here, "{before}" in {in_file}:{in_line}', "a catalogue has one: keep one")]
