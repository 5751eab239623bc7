"""The steps of a task, each a conditional write.

Every function is a pure decision that returns a change, or a verdict with a change. The docstring
beside each condition says who may lose the race, and why that is safe.
"""
