#pragma once

#include <filesystem>

namespace sardonyx::base {

// An empty folder in TMPDIR or /tmp, for this user alone. SX1601 where none can be made.
std::filesystem::path new_folder();

}  // namespace sardonyx::base
