"""What commands print with `--json`, compared with docs/json.md."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema

SCHEMAS = json.loads(
    re.findall(
        r"```json\n(.*?)```",
        (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8"),
        re.DOTALL,
    )[0]
)


def told(text: str, schema: str) -> dict[str, Any]:
    """JSON on standard output, as docs/json.md says it is."""
    result: dict[str, Any] = json.loads(text)
    jsonschema.validate(result, {"$defs": SCHEMAS["$defs"], "$ref": f"#/$defs/{schema}"})
    return result
