// Names that rules and passes had before version 0.2. They are accepted for one version.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::passes {

// The name of today for a former name; any other name as it is.
std::string_view current_name(std::string_view name);
std::vector<std::string> current_names(std::vector<std::string> names);

}  // namespace sardonyx::passes
