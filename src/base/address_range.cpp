#include "base/address_range.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace sardonyx::base {

AddressRange::AddressRange(std::size_t size) : size_(std::max(size, std::size_t{1})) {
  void* const address =
      ::mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<const std::byte*>(address);
}

AddressRange::~AddressRange() { ::munmap(const_cast<std::byte*>(data_), size_); }

}  // namespace sardonyx::base
