"""What SARIF 2.1.0 asks of the objects that Sardonyx writes, property by property.

From the standard, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0", section 3;
its schema says the same: properties it does not name are refused.
"""

from __future__ import annotations

import re
from typing import Any

STRING, INTEGER, BOOLEAN = str, int, bool


def _object(required: str = "", **properties: Any) -> dict[str, Any]:
    return {"required": required.split(), "properties": properties}


MESSAGE = _object("text", text=STRING)
LOCATION = _object(
    physicalLocation=_object(
        artifactLocation=_object(
            uri=re.compile(r"[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]*"), index=INTEGER
        ),
        region=_object(startLine=INTEGER),
    ),
    logicalLocations=[_object(name=STRING, fullyQualifiedName=STRING, kind=STRING)],
)
RULE = _object(
    "id",
    id=STRING,
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    help=MESSAGE,
    properties=_object(tags=[STRING]),
)
RESULT = _object(
    "message",
    ruleId=STRING,
    ruleIndex=INTEGER,
    level=re.compile("none|note|warning|error"),
    message=MESSAGE,
    locations=[LOCATION],
    properties=_object(operator=STRING, node=STRING, contexts=[STRING]),
)
LOG = _object(
    "version runs",
    **{"$schema": STRING},
    version=re.compile(r"2\.1\.0"),
    runs=[
        _object(
            "tool",
            tool=_object(
                "driver", driver=_object("name", name=STRING, version=STRING, rules=[RULE])
            ),
            invocations=[
                _object(
                    "executionSuccessful",
                    executionSuccessful=BOOLEAN,
                    commandLine=STRING,
                    endTimeUtc=re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"),
                )
            ],
            artifacts=[_object(location=_object(uri=STRING))],
            columnKind=re.compile("utf16CodeUnits|unicodeCodePoints"),
            results=[RESULT],
        )
    ],
)


def complaints(value: Any, expected: Any = LOG, at: str = "$") -> list[str]:
    """Where `value` is not as the standard wants it."""
    if isinstance(expected, re.Pattern):
        fits = isinstance(value, str) and expected.fullmatch(value)
        return [] if fits else [f"{at}: {value!r}"]
    if isinstance(expected, type):
        return [] if type(value) is expected else [f"{at}: {value!r} is no {expected.__name__}"]
    if isinstance(expected, list):
        if not isinstance(value, list):
            return [f"{at}: no list"]
        return [c for i, v in enumerate(value) for c in complaints(v, expected[0], f"{at}[{i}]")]
    if not isinstance(value, dict):
        return [f"{at}: no object"]
    found = [f"{at}: lacks {name}" for name in expected["required"] if name not in value]
    for name, inner in value.items():
        if name not in expected["properties"]:
            found.append(f"{at}: has {name}")
        else:
            found += complaints(inner, expected["properties"][name], f"{at}.{name}")
    return found or _references(value, at)


def _references(value: dict[str, Any], at: str) -> list[str]:
    """Indices point at what they name."""
    if "results" not in value:
        return []
    found = []
    rules, artifacts = value["tool"]["driver"]["rules"], value["artifacts"]
    for i, result in enumerate(value["results"]):
        if rules[result["ruleIndex"]]["id"] != result["ruleId"]:
            found.append(f"{at}.results[{i}]: ruleIndex")
        for location in result["locations"]:
            place = location.get("physicalLocation", {}).get("artifactLocation")
            if place and artifacts[place["index"]]["location"]["uri"] != place["uri"]:
                found.append(f"{at}.results[{i}]: artifact index")
    return found
