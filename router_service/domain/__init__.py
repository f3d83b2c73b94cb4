"""Frozen, slotted values of a routing decision, each valid from birth. Imports nothing outside itself."""
