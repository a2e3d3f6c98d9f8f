#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <new>

#include "base/page_memory.h"

namespace sardonyx::base {
namespace {

constexpr std::uint64_t kWasmPage = 65536;

std::uint64_t whole_pages(std::uint64_t bytes) {
  return (std::max(bytes, std::uint64_t{1}) + kWasmPage - 1) / kWasmPage * kWasmPage;
}

// From their first bytes to their sizes; neighbors are one.
std::map<std::uint64_t, std::uint64_t>& free_parts() {
  static auto* const all = new std::map<std::uint64_t, std::uint64_t>;
  return *all;
}

std::byte* at_address(std::uint64_t address) {
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
}

}  // namespace

std::byte* allocate_pages(std::size_t bytes) {
  const std::uint64_t needed = whole_pages(bytes);
  auto& parts = free_parts();
  // The smallest that is large enough.
  auto best = parts.end();
  for (auto each = parts.begin(); each != parts.end(); ++each)
    if (each->second >= needed && (best == parts.end() || each->second < best->second)) best = each;
  if (best != parts.end()) {
    const auto [address, size] = *best;
    parts.erase(best);
    if (size > needed) parts[address + needed] = size - needed;
    return at_address(address);
  }
  const std::size_t before =
      __builtin_wasm_memory_grow(0, static_cast<std::size_t>(needed / kWasmPage));
  if (before == static_cast<std::size_t>(-1)) throw std::bad_alloc();
  return at_address(before * kWasmPage);
}

void free_pages(const std::byte* memory, std::size_t bytes) noexcept {
  auto& parts = free_parts();
  auto [each, is_new] = parts.emplace(reinterpret_cast<std::uintptr_t>(memory), whole_pages(bytes));
  if (const auto next = std::next(each);
      next != parts.end() && each->first + each->second == next->first) {
    each->second += next->second;
    parts.erase(next);
  }
  if (each == parts.begin()) return;
  if (const auto before = std::prev(each); before->first + before->second == each->first) {
    before->second += each->second;
    parts.erase(each);
  }
}

}  // namespace sardonyx::base
