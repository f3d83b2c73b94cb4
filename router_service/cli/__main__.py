"""`python -m router_service.cli`."""

from router_service.cli import main

main(prog_name="router-service")
