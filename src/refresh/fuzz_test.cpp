// Records of a model's weights with damaged values, from a fixed seed: following them ends in
// tensors or in a diagnostic. For longer: SARDONYX_FUZZ_SECONDS=60.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>

#include "base/diagnostic.h"
#include "onnx/graph/recipe.h"
#include "refresh/recipes.h"
#include "refresh/record.h"

namespace sardonyx::refresh {
namespace {

using Random = std::mt19937;

// Every kind of step.
const std::string kRecord = R"JSON({"version": 2, "structure": "0", "program": {},
 "weights": {"w": "float32[16,4]", "b": "float32[16]"}, "tied": {"head": "w"}, "fixed": {},
 "parts": [
  {"op": "Mul", "inputs": ["w", {"literal": "float32[1]", "runs": [[1, "0000003f"]]}],
   "attributes": {}, "outputs": 1, "output": 0},
  {"op": "ReduceSum", "inputs": [{"part": 0}, {"literal": "int64[1]",
   "runs": [[1, "0100000000000000"]]}], "attributes": {"keepdims": 0}, "outputs": 1, "output": 0}],
 "made": {"turned": {"of": "w", "permute": [1, 0]}, "wide": {"of": "b", "shape": [1, 16]},
  "half": {"of": "w", "cast": "float16", "add": 0}, "joined": {"join": ["w", "w"], "axis": 0},
  "turns": {"interleave": "w"},
  "scaled": {"of": "w", "scale": {"literal": "float64[16]", "runs": [[16, "000000000000f03f"]]},
   "inner": 4, "period": 16, "rows": 1},
  "codes": {"of": "w", "blocks": {"layout": 0, "part": 0, "bits": 4, "size": 16,
   "symmetric": true, "search": false, "scale": "float32"}},
  "same": {"of": "b", "same": "b"}, "sum": {"part": 1}}})JSON";

const Tensors& weights() {
  static const std::vector<float> values(64, 0.5F);
  static const Tensors all = [] {
    Tensors made;
    const auto add = [&](const std::string& name, std::vector<std::int64_t> dims) {
      onnx::Tensor tensor;
      tensor.dtype = base::DType::kFloat32;
      tensor.dims = std::move(dims);
      tensor.data = reinterpret_cast<const std::byte*>(values.data());
      made.emplace(name, tensor);
    };
    add("w", {16, 4});
    add("b", {16});
    return made;
  }();
  return all;
}

// How many initializers could be made. The weights have the types that the record has for them, as
// refresh() sees to before.
std::size_t follow(const std::string& text) {
  const Recipes recipes(text);
  for (const auto& [name, type] : recipes.weights()) {
    const auto found = weights().find(name);
    if (found == weights().end() || type != type_text(found->second.dtype, found->second.dims))
      return 0;
  }
  std::size_t made = 0;
  for (const std::string& name : recipes.made()) {
    try {
      const onnx::Tensor tensor = recipes.build(name, weights());
      if (onnx::derivation_of(tensor) != nullptr)
        (void)onnx::computed(tensor);
      else
        (void)bytes_of(tensor);
      ++made;
    } catch (const base::Error& error) {
      EXPECT_TRUE(error.diagnostics()[0].code.starts_with("SX")) << error.what();
    }
  }
  return made;
}

std::size_t below(Random& random, std::size_t limit) { return limit ? random() % limit : 0; }

// Another value in the place of one, or of a list's item.
std::string with_other_value(std::string text, Random& random) {
  constexpr std::array<const char*, 18> kValues = {"null",
                                                   "-1",
                                                   "0",
                                                   "1",
                                                   "3",
                                                   "9223372036854775807",
                                                   "1e400",
                                                   "\"\"",
                                                   "\"w\"",
                                                   "\"b\"",
                                                   "[]",
                                                   "{}",
                                                   "[1, 0]",
                                                   "[0]",
                                                   "true",
                                                   "{\"part\": 0}",
                                                   "{\"part\": 1}",
                                                   "\"float64[4611686018427387904]\""};
  const std::size_t at = text.find_first_of(":,[", below(random, text.size()));
  if (at == std::string::npos) return text;
  const std::size_t end = text.find_first_of(",]}", at + 1);
  if (end == std::string::npos) return text;
  return text.replace(at + 1, end - at - 1, kValues.at(below(random, kValues.size())));
}

std::string damaged(std::string text, Random& random) {
  for (std::size_t i = 0, count = 1 + below(random, 3); i < count && !text.empty(); ++i) {
    const std::size_t at = below(random, text.size());
    switch (below(random, 8)) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + below(random, 20));
        break;
      case 2:  // a digit
        if (const std::size_t digit = text.find_first_of("0123456789", at); digit != text.npos)
          text[digit] = static_cast<char>('0' + below(random, 10));
        break;
      default:
        text = with_other_value(text, random);
    }
  }
  return text;
}

TEST(RecordFuzz, FollowsEveryStep) { EXPECT_EQ(follow(kRecord), 9U); }

TEST(RecordFuzz, EndsInTensorsOrDiagnostics) {
  const char* const seconds = std::getenv("SARDONYX_FUZZ_SECONDS");
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::milliseconds(
                       static_cast<std::int64_t>((seconds ? std::atof(seconds) : 0.5) * 1000));
  Random random(1);
  while (std::chrono::steady_clock::now() < end) {
    const std::string text = damaged(kRecord, random);
    SCOPED_TRACE(text);
    try {
      (void)follow(text);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.diagnostics()[0].code, "SX1820") << error.what();
    }
  }
}

}  // namespace
}  // namespace sardonyx::refresh
