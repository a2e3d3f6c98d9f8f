"""Sardonyx without its Python package, by ctypes: by_ctypes.py libsardonyx.so in.onnx out.onnx

Any language that calls C does the same.
"""

from __future__ import annotations

import ctypes
import sys


def load(path: str) -> ctypes.CDLL:
    """The library, with the types of the functions that are used here."""
    library = ctypes.CDLL(path)
    handle, text = ctypes.c_void_p, ctypes.c_char_p
    error = ctypes.POINTER(handle)
    library.sardonyx_read_model.argtypes = [text, error]
    library.sardonyx_read_model.restype = handle
    library.sardonyx_optimize.argtypes = [handle, handle, error]
    library.sardonyx_write.argtypes = [handle, text, handle, error]
    library.sardonyx_node_count.argtypes = [handle]
    library.sardonyx_node_count.restype = ctypes.c_int64
    library.sardonyx_model_free.argtypes = [handle]
    library.sardonyx_error_text.argtypes = [handle]
    library.sardonyx_error_text.restype = text
    library.sardonyx_error_free.argtypes = [handle]
    return library


def main(path: str, source: str, target: str) -> int:
    """Optimizes one model; 0, or 1 after an error."""
    library = load(path)
    error = ctypes.c_void_p()
    model = library.sardonyx_read_model(source.encode(), ctypes.byref(error))
    failed = (
        model is None
        or library.sardonyx_optimize(model, None, ctypes.byref(error))
        or library.sardonyx_write(model, target.encode(), None, ctypes.byref(error))
    )
    if failed:
        print(library.sardonyx_error_text(error).decode(), file=sys.stderr)
        library.sardonyx_error_free(error)
    else:
        print(f"{target}: {library.sardonyx_node_count(model)} nodes")
    library.sardonyx_model_free(model)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
