"""The plain reference implementation of the routing decision, written from decision.md alone."""
