// Memory for what is as large as files, in the WebAssembly build. Its malloc() rounds up to powers
// of two: a second block of 2 GB does not fit into the 4 GB of its addresses.
#pragma once

#include <cstddef>

namespace sardonyx::base {

// Of pages of 64 KB; those that were never touched hold zeros and cost the host nothing but their
// addresses. Throws std::bad_alloc.
std::byte* allocate_pages(std::size_t bytes);
void free_pages(const std::byte* memory, std::size_t bytes) noexcept;

}  // namespace sardonyx::base
