#include "base/temporary_folder.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "base/new_folder.h"

namespace sardonyx::base {

TemporaryFolder::TemporaryFolder() : path_(new_folder()) {}

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
