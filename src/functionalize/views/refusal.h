// Diagnostics of writes that cannot be expressed: they name the line of the view and of the write.
#pragma once

#include <string>
#include <string_view>

#include "functionalize/views/alias.h"
#include "program/ir/place.h"

namespace sardonyx::functionalize {

using program::diagnostic_at;

// "view.py:12 (forward)", or the captured node's name where the line is not known.
std::string place_of(const program::Source* source, std::string_view node);

[[noreturn]] void refuse_call(const Call& call, std::string_view code, std::string message,
                              std::string help);

// SX1703: the view was written to, and its elements cannot be put back.
[[noreturn]] void refuse_view(const Alias& view, std::string_view why);
// SX1702: several elements of the view share memory and were given different values.
[[noreturn]] void refuse_overlap(const Alias& view);

}  // namespace sardonyx::functionalize
