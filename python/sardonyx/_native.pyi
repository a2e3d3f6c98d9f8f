from typing import Any

version: str
oldest_opset: int
default_opset: int
newest_opset: int

class Program:
    @property
    def notes(self) -> str: ...
    def user_output_names(self, inputs: list[str], outputs: list[str]) -> list[str]: ...

class Model:
    @property
    def node_count(self) -> int: ...
    @property
    def inputs(self) -> list[tuple[str, str, list[int | str | None] | None]]: ...
    @property
    def outputs(self) -> list[tuple[str, str, list[int | str | None] | None]]: ...
    @property
    def opsets(self) -> dict[str, int]: ...

def walk(exported_program: Any, dim_names: dict[str, str]) -> Program: ...
def read(path: str) -> Program: ...
def convert(
    program: Program,
    *,
    opset: int,
    input_names: list[str],
    output_names: list[str],
    optimize: bool,
    standard_runtime: bool,
    mutations_as_outputs: bool,
    stop_after: str,
) -> Model: ...
def read_model(path: str) -> Model: ...
def optimize(model: Model, *, stop_after: str) -> list[str]: ...
def write(
    model: Model,
    path: str,
    *,
    external_data: bool | None,
    include_initializers: bool,
    keep_initializers_as_inputs: bool,
) -> None: ...
def serialize(
    model: Model, *, include_initializers: bool, keep_initializers_as_inputs: bool
) -> bytes: ...
def weight_names(model: Model) -> list[str]: ...
def apply_weights(model: Model, tensors: dict[str, Any]) -> list[str]: ...
