// What raising and lowering throw.
#pragma once

#include <utility>
#include <vector>

#include "base/diagnostic.h"

namespace sardonyx::targets {

// All that an opset or a runtime does not support of a model.
class Unsupported : public base::Error {
 public:
  explicit Unsupported(std::vector<base::Diagnostic> diagnostics) : Error(std::move(diagnostics)) {}
};

}  // namespace sardonyx::targets
