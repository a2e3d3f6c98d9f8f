"""The same as serve.py with FastAPI: uvicorn fastapi_service:app

Needs fastapi and uvicorn; the model is `served.onnx`, which serve.py exports.
"""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, HTTPException
from serve import Model, export

app = FastAPI()
path = Path("served.onnx")
if not path.exists():
    export(path)
model = Model(path)


@app.post("/")
def answer(rows: list[list[float]]) -> list[list[float]]:
    """The model's answers for rows of numbers."""
    try:
        return model(rows)
    except ValueError as error:
        raise HTTPException(400, str(error)) from error
