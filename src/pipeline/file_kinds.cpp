#include "pipeline/file_kinds.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/diagnostic.h"

namespace sardonyx {
namespace {

constexpr std::string_view kZip = "PK\x03\x04";
constexpr std::string_view kGguf = "GGUF";
constexpr std::string_view kHdf5 = "\x89HDF";

bool starts_with(std::span<const std::byte> bytes, std::string_view mark) {
  return bytes.size() >= mark.size() &&
         std::ranges::equal(bytes.first(mark.size()), mark, {}, {},
                            [](char each) { return static_cast<std::byte>(each); });
}

// A header of JSON behind its length.
bool is_safetensors(std::span<const std::byte> bytes) {
  constexpr std::uint64_t kLongestHeader = 100'000'000;
  if (bytes.size() < 9 || bytes[8] != std::byte{'{'}) return false;
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | static_cast<std::uint64_t>(bytes[static_cast<std::size_t>(i)]);
  return length > 1 && length <= kLongestHeader;
}

// A ModelProto begins with its IR version, then has a producer's name, an opset or a graph.
bool is_onnx(std::span<const std::byte> bytes) {
  constexpr std::string_view kNext = "\x12\x1a\x22\x2a\x32\x3a\x42\x72";
  return bytes.size() > 3 && bytes[0] == std::byte{0x08} && bytes[1] < std::byte{0x20} &&
         kNext.find(static_cast<char>(bytes[2])) != std::string_view::npos;
}

void check_is_no_checkpoint(std::span<const std::byte> bytes) {
  const char* kind = is_safetensors(bytes)       ? "safetensors"
                     : starts_with(bytes, kGguf) ? "GGUF"
                     : starts_with(bytes, kHdf5) ? "HDF5"
                                                 : nullptr;
  if (kind == nullptr) return;
  base::fail("SX1001", std::string("this is a file of weights (") + kind + "), without a graph",
             "`sardonyx hf FOLDER` exports a checkpoint of Hugging Face from its folder");
}

}  // namespace

void check_is_program(std::span<const std::byte> bytes) {
  check_is_no_checkpoint(bytes);
  if (!is_onnx(bytes)) return;
  base::fail("SX1001", "this is an ONNX model, not a program of PyTorch",
             "`sardonyx optimize` and `sardonyx inspect` read ONNX models");
}

void check_is_model(std::span<const std::byte> bytes) {
  check_is_no_checkpoint(bytes);
  if (!starts_with(bytes, kZip)) return;
  base::fail("SX1001", "this is an archive of PyTorch (.pt2, .pt), not an ONNX model",
             "`sardonyx convert` makes an ONNX model of it");
}

}  // namespace sardonyx
