// A part of a model as a model of its own, to be run apart from the rest.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::onnx {

// The nodes number begin to end - 1 of the main graph. Inputs are the values read that are made
// before, outputs those that are read after, or handed out by the model, and those named in
// `wanted`. Names, types and metadata stay; weights share their data. Functions come along.
std::unique_ptr<Model> extract(const Model& model, std::size_t begin, std::size_t end,
                               std::span<const std::string> wanted = {});

}  // namespace sardonyx::onnx
