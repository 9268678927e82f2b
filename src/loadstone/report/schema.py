"""The JSON schema of the report document, from which the pages' types are made.

`python -m loadstone.report.schema > web/document.schema.json` renews the committed file.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from loadstone.report.model.document import ReportDocument


def document_schema() -> dict[str, Any]:
    """The schema of what `--json` prints and the pages read."""
    schema: dict[str, Any] = _as_written(ReportDocument.model_json_schema(mode="serialization"))
    return {"title": "ReportDocument", **schema}


def schema_text() -> str:
    """The schema as it is committed."""
    return json.dumps(document_schema(), indent=1) + "\n"


def _as_written(value: Any) -> Any:
    """Every field required, as all are written; without pydantic's titles, which name no type."""
    if isinstance(value, list):
        return [_as_written(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    schema = {
        key: _as_written(inner)
        for key, inner in value.items()
        if key != "title" or not isinstance(inner, str)
    }
    if "prefixItems" in schema:  # what json2ts reads is the older form of a tuple
        schema["items"] = schema.pop("prefixItems")
    if schema.get("type") == "object" and "properties" in schema:
        schema["required"] = list(schema["properties"])
    return schema


if __name__ == "__main__":
    sys.stdout.write(schema_text())
