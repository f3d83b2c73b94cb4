"""What is kept of decisions, and what is reported of them (docs/reliability.md, Traces and Reports)."""
