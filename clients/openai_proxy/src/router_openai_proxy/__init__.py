"""One base URL for OpenAI SDKs; a router-service decides which endpoint answers, and in which order to fall back."""

__version__ = "0.1.0"
