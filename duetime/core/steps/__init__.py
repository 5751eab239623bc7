"""For each step of a task's way, the conditional write that takes it.

Every function is a pure decision that returns a change, or a verdict that holds one. Beside
each condition stands who may lose the race, and why losing it is safe.
"""
