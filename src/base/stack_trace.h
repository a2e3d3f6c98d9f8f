// Where the user wrote what a captured call stands for.
#pragma once

#include <string>
#include <string_view>

#include "base/diagnostic.h"

namespace sardonyx::base {

// The innermost line of a Python stack trace that the user wrote, or else of a library they
// installed; nothing (no file) where all of it is PyTorch's own.
UserLocation user_location(std::string_view stack_trace);

// The stack trace without paths of the machine it was made on: files of installed packages are
// called by what stands behind the folder of packages ("torch/nn/modules/linear.py"), and where
// `all`, the user's own by their names ("model.py").
std::string without_paths(std::string_view stack_trace, bool all);

// "encoder.attn (MultiheadAttention)"; either part may be empty.
std::string module_path(std::string_view path, std::string_view type);

}  // namespace sardonyx::base
