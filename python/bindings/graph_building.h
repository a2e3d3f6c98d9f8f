// What Python translators hold: values of the graph that is being built, and the way to add nodes.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aten/call.h"
#include "onnx/emit/emit.h"

namespace sardonyx::bindings {

// One conversion. `onnx` is there while a translator runs, `open` until the conversion ends: after
// it, what Python has kept of it is refused instead of read.
struct Building {
  onnx::Emit* onnx = nullptr;
  bool open = true;

  onnx::Emit& emit() const;
};

struct BuildingValue {
  onnx::Value value;
  std::shared_ptr<Building> building;

  onnx::Value checked() const;
};

struct Emitter {
  std::shared_ptr<Building> building;
};

// The body of an If, Loop or Scan, which becomes an attribute of it.
struct Body {
  onnx::Graph* graph = nullptr;
  std::shared_ptr<Building> building;
};

nanobind::object to_python(onnx::Value value, const std::shared_ptr<Building>& building);
// A value of this conversion; absent for None. Fails with SX1305 for anything else.
onnx::Value from_python(nanobind::handle object, const Building& building);

// A number, or a list of numbers, as a constant. `dtype`: what it is to be; undefined: what
// Python's type says. Fails with SX1305 for anything else.
onnx::Value literal(onnx::Emit& onnx, nanobind::handle object, base::DType dtype);

// An attribute as the operator's definition wants it; `formal` is null where there is none.
onnx::Attribute attribute_of(const std::string& name, nanobind::handle value,
                             const onnx::AttributeFormal* formal);

}  // namespace sardonyx::bindings
