// The host's files are this module's alone, and go with it.
#include <filesystem>
#include <system_error>

#include "serve/temporary_folder.h"

namespace sardonyx::serve {

TemporaryFolder::TemporaryFolder() : path_("/tmp/models") {
  std::filesystem::create_directories(path_);
}

void TemporaryFolder::remove() noexcept {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace sardonyx::serve
