"""Reads from a request what a decision needs: its body, its headers, and what its caller may name."""
