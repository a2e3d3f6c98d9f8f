// A part of a model as a model of its own, to be run apart from the rest.
#pragma once

#include <cstddef>
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

// Splits a model into `stages` models that are run one after another: `stage_of` has the stage of
// each node of the main graph. No node may read what a later stage makes. Inputs and outputs of the
// model come first, in its order; then those that pass from one stage to another, by name. An input
// that no node reads is where the one before it is. What is computed of constants alone, such as a
// dequantized weight, is computed in each stage that reads it. Weights share their data.
std::vector<std::unique_ptr<Model>> split(const Model& model, std::span<const std::size_t> stage_of,
                                          std::size_t stages);

// The stages for split() of a model whose layers are the modules `path`.0, `path`.1 and so on,
// `layers` of them: what no layer is needed for, then `count` groups of layers, then what follows
// the last layer. Nodes of other modules between layers are where their readers are.
std::vector<std::size_t> stages_by_layer(const Model& model, const std::string& path,
                                         std::size_t layers, std::size_t count);

}  // namespace sardonyx::onnx
