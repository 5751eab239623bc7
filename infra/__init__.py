"""What `cdk deploy` puts into an account: one module for each box of the architecture.

`stage.py` holds every knob, `bundle.py` makes what the functions run, `stack.py` wires the boxes
in the order in which a task passes through them. Nothing here calls AWS.
"""
