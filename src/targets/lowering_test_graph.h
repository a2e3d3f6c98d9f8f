// A model for tests of what lowering emits.
#pragma once

#include <string_view>

#include "onnx/emit/emit_test_graph.h"
#include "targets/lowering.h"

namespace sardonyx::targets {

struct LoweringGraph : onnx::GraphToEmitInto<Lowering> {
  explicit LoweringGraph(std::int64_t opset = 20, std::string_view target = "onnxruntime")
      : GraphToEmitInto(*find_target(target), LowerOptions{.opset = opset}) {}
};

}  // namespace sardonyx::targets
