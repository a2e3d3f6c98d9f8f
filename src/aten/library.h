// The operator library: which translator an operator has.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "aten/call.h"

namespace sardonyx::aten {

using Translator = Outputs (*)(const Call& call, Emit& onnx);

// schema, function.
struct Row {
  // As PyTorch writes it; a test compares it with PyTorch's own. In the complex families the name
  // alone, where a real family has the schema.
  std::string_view schema;
  Translator translate;
};

// A family file defines its rows and hands them out through one function:
//   std::span<const Row> linear_rows() { return kRows; }
// All of these are named in library.cpp.
using Family = std::span<const Row> (*)();

// The translator of "aten::addmm" or "aten::max.dim"; null when there is none.
// Calls that take or give complex tensors look in the complex families only.
Translator find_translator(std::string_view qualified_name, bool complex);

// Every row of the real or of the complex families, for tests.
std::vector<Row> all_rows(bool complex);

}  // namespace sardonyx::aten
