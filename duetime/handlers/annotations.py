"""Functions as the source code has them: which annotations are of JSON's own types, and what the
docstring begins with."""

import ast
from types import NoneType
from typing import Any

JSON_TYPES: dict[str, Any] = {
    **{kind.__name__: kind for kind in (object, str, int, float, bool, list, dict)},
    **{"Any": Any, "Context": object},
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


class NotJsonType(ValueError):
    """Raised for an annotation that is not of JSON's own types."""


def is_typed(function: Function) -> bool:
    """Whether a parameter or the result has an annotation that is not of JSON's own types."""
    given = function.args
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    annotations = [parameter.annotation for parameter in parameters if parameter]
    try:
        for annotation in (*annotations, function.returns):
            json_type(annotation)
    except NotJsonType:
        return True
    return False


def first_line(docstring: str | None) -> str | None:
    lines = (docstring or "").split("\n")
    return next((line.strip() for line in lines if line.strip()), None)


def json_type(annotation: ast.expr | None) -> Any:
    """Returns the type that an annotation means. Raises NotJsonType for those that
    duetime.handlers.json_types would not take for a type of JSON once they are read."""
    match annotation:
        case None | ast.Constant(value=None):
            return NoneType if annotation else Any
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(), attr=name) if name in JSON_TYPES:
            return JSON_TYPES[name]
        case ast.Constant(value=str(text)):
            return json_type(expression(text))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return json_type(left) | json_type(right)
        case ast.Subscript(value=ast.Name(id="list"), slice=item):
            return list[json_type(item)]  # type: ignore[misc]
        case ast.Subscript(
            value=ast.Name(id="dict"), slice=ast.Tuple(elts=[ast.Name(id="str"), item])
        ):
            return dict[str, json_type(item)]  # type: ignore[misc]
    raise NotJsonType


def expression(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return ast.Constant(value=...)
