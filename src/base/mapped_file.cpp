#include "base/mapped_file.h"

#include <utility>

#include "base/file_mapping.h"
#include "base/writable_mapping.h"

namespace sardonyx::base {

MappedFile::MappedFile(std::string path) : MappedFile(std::move(path), kWholeFile) {}

MappedFile::MappedFile(std::string path, std::uint64_t most)
    : path_(std::move(path)), bytes_(map_file(path_, false, most)) {}

MappedFile::~MappedFile() { unmap(); }

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    unmap();
    path_ = std::move(other.path_);
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

void MappedFile::release(std::span<const std::byte> part) const noexcept { release_pages(part); }

void MappedFile::unmap() noexcept { unmap_file(std::exchange(bytes_, {})); }

WritableMapping::WritableMapping(const std::string& path) : bytes_(map_file(path, true)) {}

WritableMapping::~WritableMapping() { unmap_file(bytes_); }

}  // namespace sardonyx::base
