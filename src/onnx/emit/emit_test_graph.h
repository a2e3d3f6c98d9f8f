// A model to emit into, for tests: inputs by shape, and the emitted nodes as text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "onnx/emit/emit.h"

namespace sardonyx::onnx {

template <class Emitter>
struct GraphToEmitInto {
  std::shared_ptr<symbolic::Pool> pool = std::make_shared<symbolic::Pool>();
  Model model{pool};
  Emitter onnx;

  template <class... Options>
  explicit GraphToEmitInto(const Options&... options) : onnx(model, options...) {}

  Value input(std::string name, const Shape& shape, DType dtype = DType::kFloat32) {
    const Value value = model.add_input(model.graph, std::move(name));
    Emit::set_type(value, dtype, shape);
    for (std::size_t i = 0; i < shape.size(); ++i)
      onnx.add_size_source(value, static_cast<std::int64_t>(i), shape[i]);
    return value;
  }

  // "Shape Gather Reshape": the operators in order.
  std::string ops(const Graph* graph = nullptr) const {
    std::string text;
    const Graph* of = graph == nullptr ? model.graph : graph;
    for (const Node* node = of->first; node != nullptr; node = node->next)
      text += (text.empty() ? "" : " ") + node->op_type;
    return text;
  }

  // "float32[batch, 3]".
  static std::string type(Value value) {
    std::string text(base::dtype_name(value.dtype()));
    if (!value.has_rank()) return text;
    text += '[';
    for (std::size_t i = 0; i < value.shape().size(); ++i)
      text += (i > 0 ? ", " : "") +
              (value.shape()[i].known() ? value.shape()[i].str() : std::string("?"));
    return text + ']';
  }
};

// In the canonical IR.
struct TestGraph : GraphToEmitInto<Emit> {
  TestGraph() : GraphToEmitInto(EmitOptions{}) {}
};

}  // namespace sardonyx::onnx
