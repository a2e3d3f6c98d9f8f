#include "proto/reader/external_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/diagnostic.h"

namespace sardonyx::proto {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(std::string message) { base::fail("SX1155", std::move(message)); }

std::int64_t number(std::string_view key, std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < 0)
    refuse(fmt::format("external data has the {} '{}'", key, text));
  return value;
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  const auto [left, right] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return left == folder.end();
}

}  // namespace

void ExternalEntry::set(std::string_view key, std::string_view value) {
  if (key == "location") {
    location = value;
  } else if (key == "offset") {
    offset = number(key, value);
  } else if (key == "length") {
    length = number(key, value);
  }
}

BorrowedBytes ExternalData::find(const ExternalEntry& entry, std::int64_t size) {
  if (entry.length && *entry.length != size)
    refuse(fmt::format("external data in '{}' has {} bytes, its tensor takes {}", entry.location,
                       *entry.length, size));
  if (const auto given = given_.find(entry.location); given != given_.end()) {
    if (std::cmp_not_equal(given->second.bytes.size(), size))
      refuse(fmt::format("the data given has {} bytes, its tensor takes {}",
                         given->second.bytes.size(), size));
    return given->second;
  }
  std::shared_ptr<const base::MappedFile> file = open(entry.location);
  const auto file_size = static_cast<std::int64_t>(file->bytes().size());
  if (entry.offset > file_size || size > file_size - entry.offset)
    refuse(fmt::format("external data of {} bytes at {} goes beyond the {} bytes of '{}'", size,
                       entry.offset, file_size, entry.location));
  const std::span<const std::byte> bytes =
      file->bytes().subspan(static_cast<std::size_t>(entry.offset), static_cast<std::size_t>(size));
  return {bytes, std::move(file)};
}

std::shared_ptr<const base::MappedFile> ExternalData::open(const std::string& location) {
  std::shared_ptr<const base::MappedFile>& file = files_[location];
  if (file) return file;
  if (roots_.empty()) refuse("the model has external data, but it was not read from a folder");
  const fs::path path = location;
  const bool climbs =
      std::any_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
  if (location.empty() || location.find('\0') != std::string::npos || path.is_absolute() || climbs)
    refuse(fmt::format("external data must lie in the folder of the model, not at '{}'", location));

  // A link could lead anywhere.
  std::error_code error;
  const fs::path full = roots_.front() / path;
  const fs::path real = fs::canonical(full, error);
  if (error)
    refuse(fmt::format("cannot read the external data '{}': {}", full.string(), error.message()));
  const auto holds_it = [&](const fs::path& root) {
    const fs::path folder = fs::canonical(root, error);
    return !error && is_inside(real, folder);
  };
  if (!std::any_of(roots_.begin(), roots_.end(), holds_it))
    refuse(fmt::format("the external data '{}' is a link that leads out of the folder of the model",
                       full.string()));
  file = std::make_shared<const base::MappedFile>(real.string());
  return file;
}

}  // namespace sardonyx::proto
