"""The AWS infrastructure of Duetime: one module for each box of the architecture.

`stage.py` has every setting, `context.py` reads them from cdk.json, `bundle.py` builds the code of
the functions, `stack.py` wires the boxes in the order in which a task passes through them. Nothing
here calls AWS.
"""
