// Reading, converting, optimizing and writing in several threads at once; `make threads` runs this
// under the thread sanitizer.
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "sardonyx/sardonyx.h"

namespace sardonyx {
namespace {

const std::string kFiles = "tests/fuzz/corpus/";

std::string exported(const std::string& file, const std::string& runtime) {
  ReadOptions inputs;
  if (file.starts_with("torchscript")) inputs.inputs = {"x:float32[n,3]"};
  ConvertOptions options;
  options.runtime = runtime;
  return serialize(convert(read(kFiles + file, inputs), options), {});
}

std::string optimized(const std::string& file) {
  Model model = read_model(kFiles + file);
  (void)simplify(model, {});
  return serialize(model, {});
}

std::string refused() {
  try {
    (void)read(kFiles + "zip/two");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const std::vector<std::function<std::string()>> kJobs = {
    [] { return exported("pt2/small", "onnxruntime"); },
    [] { return exported("pt2/small", "onnxruntime-cpu"); },
    [] { return exported("torchscript/language", "standard"); },
    [] { return optimized("optimize/shapes"); },
    [] { return optimized("optimize/loop"); },
    refused,
};

TEST(Threads, GiveTheSameBytesAsOneThread) {
  constexpr std::size_t kThreads = 8;
  constexpr std::size_t kRounds = 5;
  std::vector<std::string> results(kThreads * kRounds);
  // Threads before single calls, so that what is made at first use is made by several at once.
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&results, t] {
      for (std::size_t round = 0; round < kRounds; ++round)
        results[t * kRounds + round] = kJobs[(t + round) % kJobs.size()]();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::string> alone;
  for (const auto& job : kJobs) alone.push_back(job());
  for (const std::string& bytes : alone) EXPECT_FALSE(bytes.empty());
  for (std::size_t t = 0; t < kThreads; ++t)
    for (std::size_t round = 0; round < kRounds; ++round)
      EXPECT_EQ(results[t * kRounds + round], alone[(t + round) % kJobs.size()]);
}

}  // namespace
}  // namespace sardonyx
