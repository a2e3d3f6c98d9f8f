// The host's files are this module's alone, and go with it.
#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/temporary_folder.h"

namespace sardonyx::base {

TemporaryFolder::TemporaryFolder() {
  static int count = 0;
  path_ = "/tmp/sardonyx-" + std::to_string(++count);
  std::filesystem::create_directories(path_);
}

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

void TemporaryFolder::remove() noexcept {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace sardonyx::base
