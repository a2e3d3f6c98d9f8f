// Changes to files that leave the outer format whole: lengths, offsets and checksums fit what was
// changed inside.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sardonyx::fuzz {

// Empty where the bytes are no such file.
using Mutator = std::string (*)(std::string_view bytes, unsigned seed);

// One entry of a zip archive is changed, dropped, doubled or renamed.
std::string mutate_archive(std::string_view bytes, unsigned seed);

// One field of a protobuf message, however deep, is changed, dropped, doubled or moved.
std::string mutate_message(std::string_view bytes, unsigned seed);

// As libFuzzer changes bytes without a format, with room for so many more.
std::string mutated(std::string bytes, std::size_t room);

}  // namespace sardonyx::fuzz
