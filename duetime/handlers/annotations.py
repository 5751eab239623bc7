"""Annotations as the source code has them: which of them are of JSON's own types."""

import ast

JSON_TYPES = ("Any", "Context", "object", "str", "int", "float", "bool", "list", "dict")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_typed(function: Function) -> bool:
    """Whether a parameter or the result has an annotation that is not of JSON's own types."""
    given = function.args
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    annotations = [parameter.annotation for parameter in parameters if parameter]
    return not all(_is_json_type(one) for one in (*annotations, function.returns))


def _is_json_type(annotation: ast.expr | None) -> bool:
    """The same as duetime.handlers.json_types says of the annotation once it is read."""
    match annotation:
        case None | ast.Constant(value=None):
            return True
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(), attr=name):
            return name in JSON_TYPES
        case ast.Constant(value=str(text)):
            return _is_json_type(_expression(text))
    inside = _inside(annotation)
    return bool(inside) and all(_is_json_type(one) for one in inside)


def _inside(annotation: ast.expr) -> list[ast.expr]:
    """Returns the members of a union, a list or a dict with keys of text."""
    match annotation:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return [left, right]
        case ast.Subscript(value=ast.Name(id="list"), slice=item):
            return [item]
        case ast.Subscript(
            value=ast.Name(id="dict"), slice=ast.Tuple(elts=[ast.Name(id="str"), item])
        ):
            return [item]
    return []


def _expression(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return ast.Constant(value=...)
