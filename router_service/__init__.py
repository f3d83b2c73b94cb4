"""Decides which LLM endpoint a request may go to, and in which order to fall back."""

__version__ = "0.1.0"
