// Checkpoints with damaged bytes, from a fixed seed: reading ends in a description of tensors that
// lie within the file, or in a diagnostic. For longer: SARDONYX_FUZZ_SECONDS=60.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <random>

#include "base/diagnostic.h"
#include "frontends/checkpoints/distributed.h"
#include "frontends/checkpoints/files_for_test.h"
#include "frontends/checkpoints/gguf.h"
#include "frontends/checkpoints/safetensors.h"

namespace sardonyx::checkpoints {
namespace {

using Random = std::mt19937;
using Read = std::function<void(std::span<const std::byte>)>;

std::size_t below(Random& random, std::size_t limit) { return limit ? random() % limit : 0; }

std::string damaged(std::string bytes, Random& random) {
  constexpr std::array<std::uint64_t, 7> kNumbers = {0,          1,          1ULL << 31, 0xFFFFFFFF,
                                                     1ULL << 62, 1ULL << 63, ~0ULL};
  for (std::size_t i = 0, count = 1 + below(random, 4); i < count && !bytes.empty(); ++i) {
    const std::size_t at = below(random, bytes.size());
    switch (below(random, 6)) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes.erase(at, 1 + below(random, 9));
        break;
      case 2:
        bytes.insert(at, bytes.substr(below(random, bytes.size()), below(random, 40)));
        break;
      case 3:
        bytes.replace(at, 8, packed(kNumbers.at(below(random, kNumbers.size())), 8));
        break;
      case 4:
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(random, 8));
        break;
      default:
        if (below(random, 4) == 0) bytes.resize(at);
    }
  }
  return bytes;
}

void fuzz(const std::string& good, std::uint32_t seed, const Read& read) {
  read(bytes_of(good));
  const char* const seconds = std::getenv("SARDONYX_FUZZ_SECONDS");
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::milliseconds(
                       static_cast<std::int64_t>((seconds ? std::atof(seconds) : 0.3) * 1000));
  Random random(seed);
  while (std::chrono::steady_clock::now() < end) {
    const std::string bytes = damaged(good, random);
    try {
      read(bytes_of(bytes));
    } catch (const base::Error& error) {
      for (const base::Diagnostic& each : error.diagnostics())
        EXPECT_TRUE(each.code == kDamaged || each.code == "SX2001") << error.what();
    }
  }
}

void expect_inside(const Extent& extent, std::span<const std::byte> file) {
  EXPECT_LE(extent.offset, file.size());
  EXPECT_LE(extent.length, file.size() - extent.offset);
}

TEST(CheckpointFuzz, Safetensors) {
  fuzz(safetensors_for_test(kTwoTensors, 32), 1, [](std::span<const std::byte> file) {
    for (const TensorInFile& tensor : parse_safetensors(file, "m").tensors)
      expect_inside(tensor.extent, file);
  });
}

TEST(CheckpointFuzz, Index) {
  fuzz(R"({"metadata": {"total_size": 4}, "weight_map": {"a": "m-1", "b": "m-2", "c": "m-1"}})", 2,
       [](std::span<const std::byte> file) { (void)parse_shard_index(file, "m"); });
}

TEST(CheckpointFuzz, Gguf) {
  fuzz(small_gguf(), 3, [](std::span<const std::byte> file) {
    for (const GgufTensor& tensor : parse_gguf(file, "m").tensors)
      if (tensor.extent.length > 0) expect_inside(tensor.extent, file);
  });
}

TEST(CheckpointFuzz, DistributedMetadata) {
  const std::string good = metadata_for_test("w", {4, 3}, {{{0, 0}, {1, 3}}, {{1, 0}, {3, 3}}});
  fuzz(good, 4, [](std::span<const std::byte> file) { (void)parse_distributed(file, "m"); });
}

TEST(CheckpointFuzz, DistributedPieces) {
  const std::string good = saved_tensor_for_test({2, 2}, {1, 2}, std::string(16, '\1'));
  fuzz(good, 5, [](std::span<const std::byte> file) {
    const Piece piece{{0, 0}, {2, 2}, "a", {0, file.size()}};
    expect_inside(locate_piece(file, "a", "w", piece).extent, file);
  });
}

}  // namespace
}  // namespace sardonyx::checkpoints
