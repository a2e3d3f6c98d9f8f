// The host's files are this module's alone, and go with it.
#include <filesystem>
#include <string>

#include "base/new_folder.h"

namespace sardonyx::base {

std::filesystem::path new_folder() {
  static int count = 0;
  std::filesystem::path path = "/tmp/sardonyx-" + std::to_string(++count);
  std::filesystem::create_directories(path);
  return path;
}

}  // namespace sardonyx::base
