"""Upstreams: the endpoints of a catalogue that an Envoy is to have, each with where and by which name it is called."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from router_service.catalog.snapshot import Snapshot
from router_service.domain.addresses import HTTPS, Address, address_of
from router_service.domain.endpoint import Endpoint
from router_service.domain.problems import InvalidValue, Problem
from router_service.edge.choices import CREDENTIAL_HEADERS, Choices
from router_service.engine.bits import positions
from router_service.engine.filters import admitted

DENY, SERVICE = "(deny)", "(router-service)"
"""The clusters that are no endpoint's."""
CLUSTERS_MAX, CLUSTERS_BYTES = 1000, 48 * 1024
"""How many may be listed, in how many bytes: Envoy sends the list with every request, of which 64 KiB are taken."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """One endpoint as Envoy calls it: `name` is its id and its cluster's, `model` what its provider calls the model."""

    name: str
    address: Address
    model: str


@dataclass(frozen=True, slots=True)
class Upstreams:
    """Those of a catalogue, in the order of their ids, and the ids of those that were left out."""

    listed: tuple[Upstream, ...]
    left_out: tuple[str, ...]

    @property
    def hosts(self) -> dict[str, Address]:
        """The places that are called, by the name of each one's credential, in their order."""
        return dict(sorted((credential_of(up.address), up.address) for up in self.listed))


def credential_of(address: Address) -> str:
    """The name of the credential of an address: its host, and its port where that is not the scheme's own.

    One of IPv6 always has its port: without it `[a::b]:1` and `[a::b:1]` would share a credential.
    """
    authority = address.host_and_port if ":" in address.host else address.authority
    return authority.replace("[", "").replace("]", "").replace(":", "_")


def upstreams_of(snapshot: Snapshot, choices: Choices, now: int) -> Upstreams:
    """What the chosen policies admit at the instant `now` (ms). Raises InvalidValue with every problem at once."""
    problems = [*_unknown(snapshot, choices), *_unmatched(snapshot, choices)]
    if problems:
        raise InvalidValue("envoy", problems)
    chosen = choices.policies or tuple(snapshot.policies)
    recorded, bits = snapshot.recorded, 0
    for policy_id in chosen:
        bits |= admitted(recorded, recorded.sets_of(snapshot.policies[policy_id]))
    endpoints = [recorded.endpoints[position] for position in positions(bits)]
    endpoints = [one for one in endpoints if one.retires_at is None or one.retires_at > now]
    addressed = [one for one in endpoints if one.address]
    left_out = tuple(sorted(one.endpoint_id for one in endpoints if not one.address))
    problems += [*_unusable(addressed), *([] if choices.partial else _unaddressed(left_out))]
    if not addressed:
        cure = "give its endpoints an address, or name other policies"
        problems.append(Problem("endpoints", "none that the policies admit has an address", cure))
    if len(addressed) > CLUSTERS_MAX:
        cure = f"choose by --policy, or split the catalogue: at most {CLUSTERS_MAX}"
        problems.append(Problem("endpoints", f"{len(addressed)} are too many for one Envoy", cure))
    size = sum(len(one.endpoint_id.encode()) + 1 for one in addressed)
    if size > CLUSTERS_BYTES:
        cure = f"choose by --policy, split the catalogue, or shorten them: at most {CLUSTERS_BYTES} bytes"
        problems.append(Problem("endpoints", f"their ids have {size} bytes, too many for one Envoy", cure))
    if problems:
        raise InvalidValue("envoy", problems)
    listed = (_upstream(one) for one in sorted(addressed, key=lambda one: one.endpoint_id.encode()))
    return Upstreams(tuple(listed), left_out)


def _upstream(endpoint: Endpoint) -> Upstream:
    address = address_of(endpoint.address)
    if address is None:
        raise ValueError(f"{endpoint.endpoint_id}: {endpoint.address}")
    return Upstream(endpoint.endpoint_id, address, endpoint.upstream_model or endpoint.model)


def _unknown(snapshot: Snapshot, choices: Choices) -> Iterable[Problem]:
    if not choices.policies and not snapshot.content.default_policy:
        cure = f"name the route's own: {', '.join(sorted(snapshot.policies)) or 'there are none'}"
        yield Problem("--policy", "missing, and the catalogue has no default_policy: nothing would be decided", cure)
    workloads = {one.name for one in snapshot.workloads.by_place.values()}
    workloads |= {one.label for one in snapshot.workloads.by_place.values()}
    for option, named, known in (
        ("--policy", choices.policies, set(snapshot.policies)),
        ("--workload", choices.workloads, workloads),
    ):
        for name in named:
            if name not in known:
                yield Problem(option, f'the catalogue has no "{name}"', _known_ones(name, known))
            elif "," in name:
                yield Problem(option, f'"{name}" has a comma, which parts entries of a list', "give it another name")


def _unmatched(snapshot: Snapshot, choices: Choices) -> Iterable[Problem]:
    """What was said of hosts that the catalogue does not have: a credential would silently go elsewhere, or lack."""
    addresses = [found for one in snapshot.recorded.endpoints if (found := address_of(one.address)) is not None]
    names, hosts = {credential_of(one) for one in addresses}, {one.host for one in addresses}
    for name in sorted(choices.open_hosts - names):
        yield Problem("--open", f'the catalogue has no host "{name}"', _known_ones(name, names))
    for pattern in choices.credential_headers:
        if pattern not in CREDENTIAL_HEADERS and not any(fnmatchcase(host, pattern) for host in hosts):
            yield Problem(
                "--credential-header", f'"{pattern}" is no host of the catalogue', _known_ones(pattern, hosts)
            )


def _known_ones(name: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(sorted(known)) or 'none'}"


def _unusable(endpoints: Iterable[Endpoint]) -> Iterable[Problem]:
    for one in endpoints:
        place = f"endpoints[{one.endpoint_id}]"
        if "," in one.endpoint_id or one.endpoint_id in (DENY, SERVICE):
            cure = f"give it another endpoint_id, without a comma, and not {DENY} or {SERVICE}"
            yield Problem(place, "its id can be no cluster's name here", cure)
        address = address_of(one.address)
        if address is not None and address.scheme == HTTPS and address.is_ip:
            cure = "write the host by the name that its certificate has, or http://"
            yield Problem(f"{place}.address", "a certificate is checked by a name", cure)
        if not (one.upstream_model.isascii() and one.upstream_model.isprintable()):
            yield Problem(
                f"{place}.upstream_model", "it holds more than printable ASCII", "write the provider's own id"
            )


def _unaddressed(left_out: Iterable[str]) -> Iterable[Problem]:
    cure = "write address: https://…, or say --partial to leave out endpoints that have none"
    return (Problem(f"endpoints[{endpoint_id}].address", "missing", cure) for endpoint_id in left_out)
