"""A deployed stage in virtual time, with AWS's documented limits.

The scanner is the real one, with its handler, ticks, claims and pace. It reads and writes a table,
a wake index and lanes in memory. Each call takes as long as on AWS, and is refused where AWS would
throttle it. Event sources and executors are models.
"""
