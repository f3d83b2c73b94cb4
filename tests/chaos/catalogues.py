"""Random catalogues as files: good versions, known by the hash that answers name them by, and bad ones."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from router_service.catalog.load import load
from router_service.catalog.located import CatalogInvalid
from tests.reference.generate_catalog import random_catalog, random_price
from tests.reference.generate_request import random_policy

Json = dict[str, Any]
DEFAULT_POLICY = "eu"
DEFAULT_RETENTION = "30d"
ZONES = ("UTC", "Europe/Berlin", "Asia/Kathmandu", "America/New_York")
_DEFAULTS: Json = {"kind": "hosted", "status": "up", "model_type": "text", "input_modalities": ["text"]}
BUDGETED = ("busy", "small", "open")


@dataclass(frozen=True)
class Version:
    """A good catalogue as the reference reads it."""

    version: str
    endpoints: dict[str, Json]
    policies: dict[str, Json]


class Book:
    """All versions that were ever good, and the order in which they were put in place."""

    def __init__(self) -> None:
        self.versions: dict[str, Version] = {}
        self._places: list[str] = []

    def know(self, text: str, folder: Path) -> Version | None:
        """The version that a text makes, known from now on; None where it makes none."""
        path = folder / "candidate.yaml"
        path.write_text(text)
        try:
            version = load(path).version()
        except CatalogInvalid:
            return None
        if version not in self.versions:
            self.versions[version] = _read(version, text)
        return self.versions[version]

    def put(self, version: str) -> int:
        """Notes that it is about to be put in place; its number in the order of all."""
        self._places.append(version)
        return len(self._places) - 1

    @property
    def newest(self) -> Version:
        """The one that was put in place last."""
        return self.versions[self._places[-1]]

    def last_place(self, version: str) -> int:
        """The number of the last time it was put in place; -1 where it never was."""
        return max((i for i, one in enumerate(self._places) if one == version), default=-1)


def _read(version: str, text: str) -> Version:
    """A text's raw endpoints and policies, with the facts that a model states for all its endpoints."""
    document = yaml.load(text, yaml.CSafeLoader)
    models = {one["model"]: {"aliases": [], **one} for one in document["models"]}
    endpoints = {}
    for one in document["endpoints"]:
        raw = {**_DEFAULTS, **models[one["model"]], **one}
        if "retires_at" in raw:
            raw["retires_at"] = int(datetime.fromisoformat(raw["retires_at"]).timestamp() * 1000)
        endpoints[raw["endpoint_id"]] = raw
    policies = {one["policy_id"]: {"retention": DEFAULT_RETENTION, **one} for one in document["policies"]}
    return Version(version, endpoints, policies)


class Author:
    """Writes catalogues: each has most endpoints of the one before, with other facts, and policies drawn anew."""

    def __init__(self, rng: random.Random, now: int) -> None:
        self._rng, self._now = rng, now
        self._number = 0
        self._endpoints = self._drawn(rng.randint(12, 24))

    def next(self) -> str:
        """The text of another good catalogue."""
        rng, self._number = self._rng, self._number + 1
        kept = [one for one in self._endpoints if rng.random() > 0.08] or self._endpoints
        for one in kept:
            if rng.random() < 0.15:
                self._change(one)
        self._endpoints = kept + self._drawn(rng.randint(0, 4))
        return self._text()

    def bad(self) -> str:
        """The text of a catalogue with a problem of a random kind, by a small change of a good one."""
        good, rng = self._text(), self._rng
        spoilt = (
            good.replace("sovereignty: global", "sovereignty: galactic", 1) + "\nextra: 1\n",
            good.replace(f"default_policy: {DEFAULT_POLICY}", "default_policy: nobody"),
            good.replace("currency: EUR", "currency: [EUR"),
            good.replace("residency:", "resdiency:", 1) + "\npolicies: 7\n",
            good + good,
            "",
        )
        return rng.choice(spoilt)

    def half_of(self, whole: str) -> str:
        """A beginning of a text as a slow writer leaves it: its policies stand at the end."""
        return whole[: self._rng.randrange(len(whole) // 10, whole.index("\npolicies:"))]

    def _drawn(self, size: int) -> list[Json]:
        drawn = random_catalog(self._rng, size, self._now)
        for one in drawn:
            one["endpoint_id"] = f"{one['endpoint_id']}.{self._number}"
        return [_writable(one) for one in drawn]

    def _change(self, one: Json) -> None:
        rng = self._rng
        one["status"] = rng.choice(("up", "up", "degraded", "down", "maintenance"))
        one["tools"] = rng.random() < 0.7
        one["latency_ms"] = rng.randrange(4000)
        one["input_price"], one["output_price"] = random_price(rng), random_price(rng)

    def _text(self) -> str:
        aliases: dict[str, set[str]] = {}
        for one in self._endpoints:
            aliases.setdefault(one["model"], set()).update(one["aliases"])
        document = {
            "currency": "EUR",
            "default_policy": DEFAULT_POLICY,
            "models": [{"model": slug, "aliases": sorted(names)} for slug, names in aliases.items()],
            "endpoints": [{k: v for k, v in one.items() if k != "aliases"} for one in self._endpoints],
            "policies": self._policies(),
        }
        return yaml.dump(document, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=False)

    def _policies(self) -> list[Json]:
        rng, everywhere = self._rng, ["eu-hosted", "global"]
        policies: list[Json] = [
            {"policy_id": DEFAULT_POLICY},
            {"policy_id": "all", "residency": everywhere, "partner_endpoints": True},
            {"policy_id": "brief", "residency": everywhere, "retention": "0"},
            {"policy_id": "classes", "data_classes": ["personal", "health"], "require_data_class": rng.random() < 0.5},
            {"policy_id": "busy", "residency": everywhere, "daily_budget": rng.choice((500, 2000))},
            {"policy_id": "small", "residency": everywhere, "daily_budget": rng.choice((0.25, 0.75))},
            {"policy_id": "open", "residency": everywhere, "daily_budget": 0.5, "budget_fail_open": True},
        ]
        for one in policies[-3:]:
            one |= {"time_zone": rng.choice(ZONES), "default_reservation": rng.choice((0, 0.01))}
        for number in range(4):
            drawn = random_policy(rng, self._endpoints) | {"policy_id": f"drawn-{number}"}
            policies.append({key: value for key, value in drawn.items() if value is not None})
        return policies


def _writable(endpoint: Json) -> Json:
    """An endpoint as a file may state it: what is not documented is left out, and instants are written."""
    raw = {key: value for key, value in endpoint.items() if value not in (None, "") and key != "suppressed_until"}
    raw["input_modalities"] = raw.get("input_modalities") or ["text"]
    if "retires_at" in raw:
        raw["retires_at"] = datetime.fromtimestamp(raw["retires_at"] // 1000, UTC).isoformat()
    return raw
