"""Workflows in Python: `from duetime import workflow`.

`builder` has the workflow, `steps` its steps and the operator `>>`, `references` what a step may
use before its value is known, and `runs` a run that was submitted. `Workflow.definition` returns
the JSON that the API takes: nothing here decides what runs.
"""
