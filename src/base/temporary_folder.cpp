#include "base/temporary_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "base/diagnostic.h"

namespace sardonyx::base {

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string name = (parent / "sardonyx-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr)
    fail("SX1601", "cannot make the folder " + name + ": " +
                       (error ? error.message() : std::strerror(errno)));
  path_ = name;
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
