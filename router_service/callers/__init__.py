"""Callers: the file that says who may call, by which credentials, and what each may."""
