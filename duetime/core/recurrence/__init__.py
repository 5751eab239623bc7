"""Recurrence: when a schedule fires. Cron expressions, rates, time zones, daylight saving,
exclusions.

`rules` and `codec` are plain values and cheap to import. `fire_times`, `describe` and `dst_notes`
load croniter and the time zones on first use.

`cron_syntax` parses an expression in cron's notation or EventBridge's: `cron_fields` has the
fields, `cron_entries` their entries, `special_days` the entries with L, W and #, `eventbridge` the
dialect of AWS, `cron_suggestions` the advice for an expression that other crons accept. croniter
expands the plain entries. `cron_pattern` and `month_days` search the local calendar; `cron` turns
local times into instants last, stretch by stretch of constant UTC offset (`timezones`), so that a
gap or an overlap of the clock is handled in one place only."""
