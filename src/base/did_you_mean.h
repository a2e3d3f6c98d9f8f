// What somebody may have meant by a name that there is not.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sardonyx::base {

// "did you mean `fold-pad` or `fold-weights`?": up to three of `known` that differ from `name` in a
// few letters, or have it as a part, the nearest first. Empty where none is near.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

}  // namespace sardonyx::base
