// Other weights for a model, by the recipes that are recorded in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "onnx/graph/ir.h"
#include "refresh/recipes.h"
#include "refresh/record.h"

namespace sardonyx::refresh {

struct Refreshed {
  std::int64_t initializers = 0;    // that got new data
  std::int64_t bytes = 0;           // of these
  std::vector<std::string> unused;  // tensors of the checkpoint that the model has not
};

// Replaces the weights of a file. The model is written to `out`, by default in its place, and its
// data file next to it; each is the old file but for the bytes of weights. On any error the old
// files are as they were.
// Throws SX1820 (no record, or the model was changed since), SX1821 (names, shapes and types that
// do not fit, all of them), SX1822 (weights that cannot be replaced, all of them), and as reading
// and writing do.
Refreshed refresh(const std::filesystem::path& model, const Tensors& checkpoint,
                  const std::filesystem::path& out = {},
                  const std::function<void(std::int64_t, std::int64_t)>& progress = {});

// The same of a model in memory, which keeps its weights on any error.
Refreshed refresh(onnx::Model& model, const Origins& origins, const Tensors& checkpoint);

}  // namespace sardonyx::refresh
