"""The WebAssembly build: `make wasm`."""
