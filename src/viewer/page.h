// A model as a page of its own: search, modules that expand, details of nodes and weights.
#pragma once

#include <span>
#include <string>

#include "onnx/graph/ir.h"
#include "viewer/measures.h"

namespace sardonyx::viewer {

struct Shown {
  const onnx::Model& model;
  std::string title;
  std::string cost = {};  // what `sardonyx inspect --cost --json` prints of it; empty: nothing
};

// HTML that needs nothing else: no network, no files next to it. Of the weights it has names,
// types, sizes and statistics. Whatever the model's texts hold, they stay text.
std::string model_page(const Shown& shown, std::span<const Measure> measures = {});

// Two models side by side, with what differs. Measures are of the first, and may have
// numbers of the second.
std::string comparison_page(const Shown& a, const Shown& b, std::span<const Measure> measures = {});

}  // namespace sardonyx::viewer
