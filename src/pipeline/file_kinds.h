// Files of another kind than a command reads, recognized by their first bytes.
#pragma once

#include <cstddef>
#include <span>

namespace sardonyx {

// Throws SX1001 where the bytes are of a kind that another command reads.
void check_is_program(std::span<const std::byte> bytes);
void check_is_model(std::span<const std::byte> bytes);

}  // namespace sardonyx
