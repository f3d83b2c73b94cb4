"""Identity: who calls, what that one may, and what is written down of those who change something."""
