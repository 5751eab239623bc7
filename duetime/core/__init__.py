"""The rules of Duetime: statuses, times, wakes, leases, retries.

Nothing here reads a clock, draws a random number, knows an environment variable or imports
anything but the standard library (and croniter, in `recurrence` alone). A rule takes what it
needs and returns a value that says what is to be done; a role does it.
"""
