"""The JSON schema of the experiment file, with the parameters of every workload."""

from __future__ import annotations

from typing import Any

from loadstone.spec.model import Experiment

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def experiment_schema() -> dict[str, Any]:
    """JSON Schema, draft 2020-12; made from the models, so it never says less than they do."""
    from loadstone.host.registry import all_known
    from loadstone.targets.registry import TARGETS
    from loadstone.workloads.registry import WORKLOADS

    schema = Experiment.model_json_schema(mode="validation")
    definitions = schema["$defs"]
    definitions["TargetSpec"]["properties"]["engine"]["enum"] = sorted(TARGETS)
    # Names for editors to complete; others are taken as well, and judged when the file is read.
    schema["properties"]["host"]["properties"] = {
        setting.name: {"description": setting.about} for setting in all_known()
    }
    workload = definitions["WorkloadSpec"]
    workload["properties"]["name"]["enum"] = sorted(WORKLOADS)
    workload["allOf"] = []
    for name, cls in sorted(WORKLOADS.items()):
        own = cls.Parameters.model_json_schema(
            mode="validation", ref_template=f"#/$defs/{name}.{{model}}"
        )
        for inner, definition in own.pop("$defs", {}).items():
            definitions[f"{name}.{inner}"] = definition
        definitions[f"{name}.parameters"] = own
        workload["allOf"].append(
            {
                "if": {"properties": {"name": {"const": name}}},
                "then": {"properties": {"parameters": {"$ref": f"#/$defs/{name}.parameters"}}},
            }
        )
    schema["required"] = ["version", *schema["required"]]
    return {"$schema": DIALECT, "title": "Loadstone experiment", **schema}
