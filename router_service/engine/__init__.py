"""The pure function behind Decide and Explain: same inputs, same output, bit for bit, on every machine."""
