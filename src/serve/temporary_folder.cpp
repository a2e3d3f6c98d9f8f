#include "serve/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "base/diagnostic.h"

namespace sardonyx::serve {

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string name = (parent / "sardonyx-serve-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr)
    base::fail("SX1601", "cannot make the folder " + name + ": " +
                             (error ? error.message() : std::strerror(errno)));
  path_ = name;
}

void TemporaryFolder::remove() noexcept {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace sardonyx::serve
