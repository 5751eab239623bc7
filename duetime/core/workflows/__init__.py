"""Workflows: graphs of steps, each of which is a task.

`definition` says what a workflow is, `run` what one execution of it has reached. `advance` decides
which steps start and when a run is over, `retry` what runs again, and `maps` which items of a map
start. All of it is pure: `duetime.engine.workflows` reads and writes.
"""
