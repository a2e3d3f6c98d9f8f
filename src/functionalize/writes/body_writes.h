// What bodies of control flow do to the operands that they are given.
#pragma once

#include <cstddef>
#include <vector>

#include "functionalize/views/builder.h"

namespace sardonyx::functionalize {

// A body mutates an operand, by its position.
struct BodyWrite {
  std::size_t position = 0;
  Value* operand = nullptr;
  const Call* write = nullptr;  // in the body
  Value* content = nullptr;     // the call's new output
};

// What depends on data, and so holds after the call as a possibility.
struct PossibleEffects {
  // A result of a body may be one of its operands: they alias after it.
  struct MayShare {
    Value* output = nullptr;
    Value* operand = nullptr;
  };
  // A body may have mutated the operand.
  struct MayWrite {
    Value* operand = nullptr;
    const Call* write = nullptr;
  };
  std::vector<MayShare> shared;
  std::vector<MayWrite> writes;
};

// A body may not mutate the operand.
void refuse_body_write(std::vector<base::Diagnostic>& diagnostics, const Call& call,
                       const program::Graph& body, const BodyWrite& written);

}  // namespace sardonyx::functionalize
