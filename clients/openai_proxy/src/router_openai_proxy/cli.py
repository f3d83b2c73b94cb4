"""The command router-openai-proxy."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from router_openai_proxy import __version__, log
from router_openai_proxy.config.form import schema_text
from router_openai_proxy.config.load import load
from router_openai_proxy.config.problems import BadConfig

LEVELS = ("debug", "info", "warning", "error")


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0, or 2 where the configuration cannot be used."""
    parser = argparse.ArgumentParser(
        prog="router-openai-proxy",
        description="One base URL for OpenAI SDKs; a router-service decides which endpoint answers.",
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="the configuration, YAML")
    parser.add_argument("--check", action="store_true", help="only say what is wrong with the configuration")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of the configuration, for editors")
    parser.add_argument("--log-level", choices=LEVELS, default="info", help="what is logged (default: info)")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    given = parser.parse_args(arguments)
    if given.schema:
        sys.stdout.write(schema_text())
        return 0
    if given.config is None:
        parser.error("--config FILE is needed")
    try:
        config = load(given.config)
    except BadConfig as wrong:
        sys.stderr.write(f"{wrong}\n")
        return 2
    if given.check:
        sys.stdout.write(f"{given.config}: good; {len(config.backends)} backends, on {config.host}:{config.port}\n")
        return 0
    log.set_up(given.log_level)
    # Only here: a check needs no server, and is as fast as one hopes.
    from router_openai_proxy.serve import run  # noqa: PLC0415

    try:
        run(config)
    except OSError as wrong:
        sys.stderr.write(f"cannot listen on {config.host}:{config.port}: {wrong.strerror or wrong}\n")
        return 2
    return 0
