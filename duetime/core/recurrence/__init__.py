"""When a schedule fires: cron expressions, rates, zones, daylight saving, exclusions.

`rules` and `codec` are plain values and cost nothing to import. `fire_times` and `told` load
croniter and the zones when they are first asked something, not before.

`language` takes an expression apart, in cron's notation or in EventBridge's; croniter expands the
plain entries of its fields, and everything else is done here.
Candidates are sought on the local calendar and turned into instants last, stretch by stretch of
constant UTC offset, so that a gap or an overlap of the clock is met in one place only.
"""
