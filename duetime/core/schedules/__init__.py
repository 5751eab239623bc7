"""Schedules: what is expected of them, and what follows.

A schedule is one row. Every step below is a pure function from the schedule as it stands to the
schedule as it is to be, and the row is replaced only if nobody else has replaced it since: its
`revision` counts the writes, its `version` the changes after which occurrences that have not
started may start no more.

`plan` what was asked for; `schedule` where it stands; `ahead` the occurrences that are to be put
now; `changes` create, change, pause, resume, backfill; `overlap` whether an occurrence may start;
`ended` what follows when one is over; `ledger` what became of every expected fire time.
"""
