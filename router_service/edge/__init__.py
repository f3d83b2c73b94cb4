"""Configurations of edge proxies, made of a catalogue."""
