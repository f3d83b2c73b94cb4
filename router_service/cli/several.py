"""`router-service serve --workers N`: what several workers cannot do, and the plan of their supervisor."""

from __future__ import annotations

import sys

import click

from router_service.catalog.aside import loader
from router_service.cli.options import UsageProblem
from router_service.server.drain import FLUSH_S
from router_service.server.listen import Address, hosts_of
from router_service.server.settings import Settings
from router_service.server.workers.plan import Plan, Port
from router_service.server.workers.seat import PLACEHOLDER

_MARGIN_S = 10.0  # for a worker to begin and to end


def check(workers: int, settings: Settings) -> None:
    """Says what cannot be and what will not be shared. Raises UsageProblem with all of the former."""
    problems = [
        problem for one in settings.addresses if one.path is not None and (problem := _of_socket(workers, one.text))
    ]
    if settings.health is not None and settings.health.path is not None:
        problems += [problem] if (problem := _of_socket(workers, settings.health.text)) else []
    if workers > 1 and sys.platform != "linux":
        problems.append("--workers: several processes share a port on Linux alone; start one server a core instead")
    if workers > 1 and settings.store is None and settings.local_admin:
        problems.append(
            "--local-admin with --workers and without a store: a status set by hand would reach one worker alone;"
            " give --store"
        )
    if problems:
        raise UsageProblem("\n".join(problems))
    if workers > 1 and settings.store is None:
        click.echo(
            "No store: each of the workers has circuits, observed figures and statuses by hand of its own, "
            "and there are no budgets, reports and traces.",
            err=True,
        )


def _of_socket(workers: int, text: str) -> str:
    """What is wrong with a Unix socket for so many workers."""
    if workers > 1 and PLACEHOLDER not in text:
        return (
            f"{text}: several workers cannot listen on one Unix socket; give each its own, "
            f"such as unix:/run/router-{PLACEHOLDER}.sock, or listen on a port"
        )
    if workers == 1 and PLACEHOLDER in text:
        return f"{text}: {PLACEHOLDER} stands for the number of a worker; say --workers, or write a path without it"
    return ""


def plan(workers: int, settings: Settings) -> Plan:
    """What a supervisor is to do. Raises AddressError."""
    admin = settings.admin
    return Plan(
        workers=workers,
        command=(sys.executable, "-m", "router_service.cli", *sys.argv[1:]),
        loader=tuple(loader(settings.catalog)),
        listen=tuple(_port(one) for one in settings.addresses),
        health=None if settings.health is None else _port(settings.health),
        admin=None if admin is None else (admin.host, admin.port),
        catalog=str(settings.catalog),
        drain_s=settings.drain_delay_s + settings.grace_s + FLUSH_S + _MARGIN_S,
        log_level=settings.log_level,
        log_format=settings.log_format,
    )


def _port(address: Address) -> Port:
    hosts = () if address.path is not None else tuple(hosts_of(address))
    return Port(address.text, hosts, address.port)
