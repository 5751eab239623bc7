"""The schemas of the document, made from the pydantic models."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from duetime.api.openapi.field_texts import FIELD_TEXTS, SAME_FIELDS

REF = "#/components/schemas/{model}"

# Names in the document, where they are not `TaskIn` → `TaskInput`. A released name stays.
_NAMES: Mapping[str, str] = {
    "AnyTaskIn": "TaskInput",
    "BatchBody": "BatchInput",
    "ChangeBody": "ChangeInput",
    "RetryChange": "RetryChangeInput",
    "ScheduleBody": "ScheduleInput",
    "DefinitionBody": "DefinitionInput",
    "RunBody": "RunInput",
    "RenewBody": "RenewInput",
    "ReportBody": "ReportInput",
    "ChildrenBody": "ChildrenInput",
    "DeclaredBody": "DeclaredScheduleInput",
    "SyncBody": "SyncInput",
    "CronIn": "CronRule",
    "RateIn": "RateRule",
    "DelayIn": "DelayRule",
    "DatesIn": "ExcludedDates",
    "DstIn": "DaylightSavingPolicy",
}


class _WithoutTitles(GenerateJsonSchema):
    """Leaves out the titles of fields: they only repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


def schema_name(model: type[BaseModel]) -> str:
    return _document_name(model.__name__)


def ref_to(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": REF.format(model=schema_name(model))}


def make_schemas(models: Sequence[type[BaseModel]]) -> dict[str, Any]:
    """Returns the schema of each model, and of each that it uses, by its name."""
    _, made = models_json_schema(
        [(model, "validation") for model in dict.fromkeys(models)],
        ref_template=REF,
        schema_generator=_WithoutTitles,
    )
    schemas = {_document_name(name): _clean(schema) for name, schema in made["$defs"].items()}
    for name, schema in schemas.items():
        _describe(name, schema)
    return dict(sorted(schemas.items()))


def _document_name(name: str) -> str:
    if name in _NAMES:
        return _NAMES[name]
    return f"{name}put" if name.endswith("In") else name


def _clean(part: Any) -> Any:
    """Renames references, and drops what says nothing: titles of models and defaults of null."""
    if isinstance(part, list):
        return [_clean(item) for item in part]
    if isinstance(part, str) and part.startswith(REF.format(model="")):
        return REF.format(model=_document_name(part.rpartition("/")[2]))
    if not isinstance(part, dict):
        return part
    return {
        name: _clean(value)
        for name, value in part.items()
        if not (name == "title" and isinstance(value, str))
        and not (name == "default" and value is None)
    }


def _describe(name: str, schema: dict[str, Any]) -> None:
    """Adds the texts of the fields. The type of a target or a rule comes first."""
    properties = schema.get("properties", {})
    if "const" in properties.get("type", {}):
        schema["properties"] = {"type": properties["type"], **properties}
    texts = FIELD_TEXTS.get(name) or FIELD_TEXTS.get(SAME_FIELDS.get(name, ""), {})
    for field, described in schema.get("properties", {}).items():
        if field in texts and "description" not in described:
            described["description"] = texts[field]
        elif "description" in described:
            described["description"] = " ".join(described["description"].split())
    if "description" in schema:
        schema["description"] = " ".join(schema["description"].split())
