"""The scanner: claims the tasks that wake within the horizon, and repairs those that are stuck.

One tick, with the files in order: `scanner.py` runs it. `tick_chain.py` decides whether it yields
to a chain of ticks, `windows.py` which minutes it reads, and `wake_reader.py` reads them.
`pacing.py` spreads overdue work over time, `backed_up_lanes.py` keeps it out of lanes that cannot
keep up, `dispatch.py` claims and sends, and `report.py` holds the counts.
"""
