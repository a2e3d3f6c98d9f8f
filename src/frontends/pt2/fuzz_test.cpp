// Wrong files, made from a right one with a fixed seed: by bytes, by JSON structure and by length.
// Whatever comes, reading ends in a program or in a diagnostic. Run it under the sanitizers, and
// for longer with SARDONYX_FUZZ_SECONDS=60.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>

#include "frontends/pt2/program_for_test.h"
#include "frontends/pt2/pt2.h"
#include "frontends/pt2/state_for_test.h"

namespace sardonyx::pt2 {
namespace {

using Random = std::mt19937;

// Each test stops after this time, wherever it got to.
class Deadline {
 public:
  Deadline() {
    const char* seconds = std::getenv("SARDONYX_FUZZ_SECONDS");
    const double wanted = seconds ? std::atof(seconds) : 1.0;
    end_ = std::chrono::steady_clock::now() +
           std::chrono::milliseconds(static_cast<std::int64_t>(wanted * 1000));
  }
  bool passed() const { return std::chrono::steady_clock::now() > end_; }

 private:
  std::chrono::steady_clock::time_point end_;
};

void read_anything(const std::string& bytes) {
  const FileForTest file(bytes);
  try {
    const auto program = read_pt2(file.path());
    // What was accepted must bear being looked at.
    EXPECT_FALSE(program::to_string(*program).empty());
    for (const program::InputSpec& input : program->inputs) {
      const program::Weight* weight = input.value ? input.value->weight : nullptr;
      if (!weight || !weight->storage->data || weight->storage->size == 0) continue;
      volatile std::byte last = weight->storage->data[weight->storage->size - 1];
      static_cast<void>(last);
    }
  } catch (const base::Error& error) {
    EXPECT_TRUE(error.diagnostics()[0].code.starts_with("SX1")) << error.what();
  }
}

std::size_t below(Random& random, std::size_t limit) { return limit ? random() % limit : 0; }

TEST(Pt2Fuzz, Bytes) {
  const std::string good = program_archive(kModelForTest, kWeightsForTest, kConstantsForTest).str();
  Random random(1);
  const Deadline deadline;
  while (!deadline.passed()) {
    std::string bytes = good;
    for (std::size_t i = 0, count = 1 + below(random, 8); i < count; ++i)
      bytes[below(random, bytes.size())] = static_cast<char>(random());
    if (below(random, 4) == 0) bytes.resize(below(random, bytes.size()));
    read_anything(bytes);
  }
}

// Replaces, doubles, drops or swaps values of the JSON, so that it mostly stays JSON.
std::string mutated(std::string text, Random& random) {
  constexpr const char* kValues[] = {"null",
                                     "true",
                                     "-1",
                                     "0",
                                     "9223372036854775807",
                                     "1e400",
                                     "\"\"",
                                     "\"x\"",
                                     "\"relu\"",
                                     "[]",
                                     "{}",
                                     "[[]]",
                                     "{\"as_none\": true}",
                                     "{\"as_int\": -9223372036854775808}",
                                     "{\"as_tensor\": {\"name\": \"x\"}}",
                                     "{\"as_tensors\": [{\"name\": \"max_1_unused_1\"}]}",
                                     "{\"as_float\": \"NaN\"}",
                                     "{\"as_sym_int\": {\"as_name\": \"mul\"}}"};
  constexpr const char* kEnds = ",]}";
  const std::size_t colon = text.find(": ", below(random, text.size()));
  if (colon == std::string::npos) return text;
  const std::size_t end = text.find_first_of(kEnds, colon);
  if (end == std::string::npos) return text;
  switch (below(random, 4)) {
    case 0:
    case 1:  // another value
      return text.replace(colon + 2, end - colon - 2, kValues[below(random, std::size(kValues))]);
    case 2: {  // a key that becomes another
      const std::size_t quote = text.rfind('"', colon - 1);
      const std::size_t start = quote == 0 ? 0 : text.rfind('"', quote - 1);
      if (start == std::string::npos) return text;
      return text.replace(start, quote - start, "\"as_none");
    }
    default: {  // a value taken from elsewhere
      const std::size_t other = text.find(": ", below(random, text.size()));
      const std::size_t stop =
          other == std::string::npos ? other : text.find_first_of(kEnds, other);
      if (stop == std::string::npos) return text;
      const std::string value = text.substr(other + 2, stop - other - 2);
      return text.replace(colon + 2, end - colon - 2, value);
    }
  }
}

TEST(Pt2Fuzz, Structure) {
  Random random(2);
  const Deadline deadline;
  while (!deadline.passed()) {
    std::string model = kModelForTest;
    std::string weights = kWeightsForTest;
    for (std::size_t i = 0, count = 1 + below(random, 3); i < count; ++i) {
      std::string& target = below(random, 4) == 0 ? weights : model;
      target = mutated(target, random);
    }
    read_anything(program_archive(model, weights, kConstantsForTest).str());
  }
}

TEST(Pt2Fuzz, Pickles) {
  const std::string good = pickled_dictionary(
      pickled_text("fc.weight") + pickled_parameter(pickled_tensor("0")) + pickled_text("row") +
      pickled_tensor("0") + pickled_text("fc.bias") + pickled_tensor("0"));
  Random random(3);
  const Deadline deadline;
  while (!deadline.passed()) {
    std::string pickle = good;
    for (std::size_t i = 0, count = 1 + below(random, 4); i < count; ++i) {
      const std::size_t at = below(random, pickle.size());
      switch (below(random, 3)) {
        case 0:
          pickle[at] = static_cast<char>(random());
          break;
        case 1:  // an instruction of its own, or a piece of another
          pickle.insert(at, pickle.substr(below(random, pickle.size()), below(random, 30)));
          break;
        default:
          pickle.erase(at, 1 + below(random, 5));
      }
      if (pickle.empty()) pickle = ".";
    }
    ArchiveForTest archive;
    archive.add("m/models/model.json", kModelForTest);
    archive.add("m/data/weights/model.pt", saved_state(pickle, floats_for_test(6)).str());
    read_anything(archive.str());
  }
}

TEST(Pt2Fuzz, DeepJson) {
  for (const std::size_t depth : {100u, 2000u, 100000u}) {
    std::string graph;
    for (std::size_t i = 0; i < depth; ++i)
      graph +=
          R"({"as_graph": {"name": "g", "graph": {"tensor_values": {}, "inputs": [], "outputs": [], "nodes": [{"target": "t", "outputs": [], "inputs": [{"name": "", "arg": )";
    const std::size_t at = kModelForTest.find("{\"as_int\": -1}");
    read_anything(program_archive(std::string(kModelForTest).replace(at, 14, graph),
                                  kWeightsForTest, kConstantsForTest)
                      .str());
    for (std::size_t i = 0; i < depth; ++i)
      graph += i == 0 ? "{\"as_none\": true}}]}]}}}" : "}]}]}}}";
    read_anything(program_archive(std::string(kModelForTest).replace(at, 14, graph),
                                  kWeightsForTest, kConstantsForTest)
                      .str());
  }
}

}  // namespace
}  // namespace sardonyx::pt2
