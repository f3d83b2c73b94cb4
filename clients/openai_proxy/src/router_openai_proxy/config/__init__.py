"""The configuration: what its file may say, how it is checked, and the values that it becomes."""
