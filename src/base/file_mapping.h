// The bytes of a file in memory, as the system gives them: mapped, or read where nothing is mapped.
// What else a system does for them is declared in mapped_file.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace sardonyx::base {

inline constexpr std::uint64_t kWholeFile = ~std::uint64_t{0};

// The bytes of a file, at most its first `most`, until unmap_file(); none of an empty one. What is
// written to writable ones stays in memory. Throws Error: SX1101, and SX1004 where there are no
// addresses for so many.
std::span<std::byte> map_file(const std::string& path, bool is_writable,
                              std::uint64_t most = kWholeFile);
void unmap_file(std::span<const std::byte> bytes) noexcept;

}  // namespace sardonyx::base
