"""Simulation: backends that slow down, fail and recover, on virtual time, with this router and with other ways to pick.

Everything in it is drawn from seeds and nothing reads a clock, so that a seed gives the same figures every time.
"""
