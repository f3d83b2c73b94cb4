"""Names across a whole catalogue: each means one thing, and what is named exists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rapidfuzz import fuzz
from rapidfuzz.process import extractOne

from router_service.catalog.located import Located
from router_service.catalog.settings import Settings
from router_service.catalog.written import Written
from router_service.domain import words
from router_service.domain.problems import Problem

_CLOSE = 60  # per cent of likeness from which on a name may be meant


def dangling_model(endpoint: Written, slug: str, slugs: Iterable[str]) -> Located:
    """The problem of an endpoint whose model is not listed."""
    cure = suggestion(slug, slugs) or "list it under models"
    return endpoint.located(Problem("model", f'"{slug}" is no model of this catalogue', cure))


def dangling_default(settings: Settings, policies: Iterable[str]) -> Iterator[Located]:
    """The problem of a `default_policy` that is no policy."""
    if "default_policy" in settings.one:
        policy_id, file, line = settings.one["default_policy"]
        known = list(policies)
        if policy_id not in known:
            cure = suggestion(policy_id, known) or "name one of the policies"
            yield Located(file, line, Problem("default_policy", f'"{policy_id}" is no policy here', cure))


def unknown_zone(policy: Written, time_zone: str) -> Iterator[Located]:
    """The problem of a policy whose `time_zone` this machine's table of zones does not have."""
    try:
        ZoneInfo(time_zone or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        problem = Problem("time_zone", f'"{time_zone}" is no time zone', "use an IANA name such as Europe/Berlin")
        yield policy.located(problem)


def same_versions(workloads: Iterable[Written], places: Mapping[str, str]) -> Iterator[Located]:
    """Versions of one workload that no order tells apart, such as `1.2` and `1-02`; `places` are those of each name."""
    first: dict[str, Written] = {}
    for workload in workloads:
        place = places.get(workload.name, workload.name)
        other = first.setdefault(place, workload)
        if other.name != workload.name:
            message = f"the same numbers as {other.name} ({_at(other, 'version')}), so that neither is the newer one"
            yield workload.located(Problem("version", message, "give one of the two another version"))


def clashes(
    models: Mapping[str, Written], aliases: Mapping[str, Iterable[str]], settings: Settings
) -> Iterator[Located]:
    """Slugs, aliases and pool names that mean more than one thing; `aliases` are those of each slug."""
    pool_names = words.POOL_NAMES | settings.pool_names.keys()
    for slug, model in models.items():
        if slug in pool_names:
            yield model.located(Problem("model", f'"{slug}" stands for the whole pool', "use another slug"))
    owners: dict[str, str] = {}
    for slug, own in aliases.items():
        for alias in own:
            what = ""
            if alias in pool_names:
                what = "stands for the whole pool"
            elif alias in models:
                what = "is the slug itself" if alias == slug else f"is the slug of a model ({_at(models[alias])})"
            elif alias in owners:
                what = f"is an alias of {owners[alias]} too ({_at(models[owners[alias]], 'aliases')})"
            else:
                owners[alias] = slug
            if what:
                place = models[slug].place_in("aliases", alias)
                cure = "an id must mean one model: keep it in one place"
                yield models[slug].located(Problem(place, f'"{alias}" {what}', cure))


def suggestion(name: str, known: Iterable[str]) -> str:
    """Which of the known names was probably meant; empty where none is close."""
    close = extractOne(name, sorted(known), scorer=fuzz.ratio, score_cutoff=_CLOSE)
    return f"did you mean {close[0]}?" if close else ""


def _at(written: Written, name: str = "") -> str:
    return ":".join(map(str, written.position(name)))
