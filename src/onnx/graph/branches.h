// Two models as the branches of one.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "onnx/graph/ir.h"

namespace sardonyx::onnx {

// A model that has the inputs of both and `condition`, a tensor [1] of bool, and the outputs of
// `otherwise`: it runs `then` where the condition holds. Weights that both have are there once.
// `kept`: for outputs that `then` lacks, the inputs that it hands out instead; `otherwise` looks at
// none of them, so that they may be of any size along their axis `grown` (nothing may be there
// yet). Sizes that both call alike are taken for the same. SX1001 where types or ranks do not go
// together.
std::unique_ptr<Model> in_branches(const Model& then, const Model& otherwise,
                                   const std::string& condition,
                                   const std::map<std::string, std::string>& kept,
                                   std::optional<std::size_t> grown = {});

}  // namespace sardonyx::onnx
