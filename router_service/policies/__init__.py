"""What stands before the engine: data classes, daily budgets, retention (docs/decision.md, Around the decision)."""
