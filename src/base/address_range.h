// Addresses without memory: of bytes that exist once somebody makes them.
#pragma once

#include <cstddef>

namespace sardonyx::base {

// Nothing else has these addresses while it lives. What reads them ends the process.
class AddressRange {
 public:
  explicit AddressRange(std::size_t size);  // throws std::bad_alloc
  ~AddressRange();
  AddressRange(const AddressRange&) = delete;
  AddressRange& operator=(const AddressRange&) = delete;

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_;
  const std::byte* data_ = nullptr;
};

}  // namespace sardonyx::base
