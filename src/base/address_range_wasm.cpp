// WebAssembly has no addresses without memory: these are of pages that nobody touches.
#include <algorithm>

#include "base/address_range.h"
#include "base/page_memory.h"

namespace sardonyx::base {

AddressRange::AddressRange(std::size_t size)
    : size_(std::max(size, std::size_t{1})), data_(allocate_pages(size_)) {}

AddressRange::~AddressRange() { free_pages(data_, size_); }

}  // namespace sardonyx::base
