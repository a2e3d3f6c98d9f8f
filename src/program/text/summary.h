// What `sardonyx inspect` tells of a program in numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/ir/program.h"

namespace sardonyx::program {

struct OperatorCount {
  std::string name;  // "aten::add.Tensor"
  std::size_t count = 0;
};

struct Summary {
  std::vector<OperatorCount> operators;  // most frequent first, then by name; bodies included
  std::size_t calls = 0;
  std::size_t weights = 0;           // tied ones each
  std::int64_t weight_elements = 0;  // of parameters and buffers; tied ones once
  std::int64_t weight_bytes = 0;     // of the storages behind them
  std::size_t mutations = 0;         // outputs that update a buffer or an input
};

Summary summarize(const Program& program);

// "float32[batch, 3] strides [1, batch]", "int s0": its type and what else is known of it.
std::string type_text(const Value& value);

}  // namespace sardonyx::program
