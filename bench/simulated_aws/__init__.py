"""A deployed stage in virtual time, with AWS's documented limits.

The scanner is the real one: its handler, its ticks, its claims, its pace. It reads and writes a
table, a wake index and lanes that are kept in memory; each call takes the time that it takes on
AWS, and is refused where AWS would throttle it. Event sources and executors are modelled.
"""
