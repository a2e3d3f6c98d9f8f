"""What symbolic functions are written with."""

from ._translate.scalar_types import JitScalarType
from ._translate.symbolic_arguments import parse_args

__all__ = ["JitScalarType", "parse_args"]
