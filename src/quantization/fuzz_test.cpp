// Files of statistics with damaged bytes, from a fixed seed: reading ends in statistics that are
// written and read again as they are, or in a diagnostic. For longer: SARDONYX_FUZZ_SECONDS=60.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "quantization/statistics.h"

namespace sardonyx::quantization {
namespace {

std::string good_file() {
  Statistics statistics;
  std::vector<float> elements;
  for (int i = 0; i < 600; ++i) elements.push_back(static_cast<float>(i * i % 97) - 40);
  statistics.add("a \"quoted\" name", elements, std::array<std::int64_t, 3>{2, 3, 100}, 1);
  statistics.add("b", elements, std::array<std::int64_t, 1>{600}, -1);
  statistics.count_sample();
  return statistics.to_json();
}

std::string damaged(std::string text, std::mt19937& random) {
  static constexpr std::array kWords = {"-1",   "1e400", "18446744073709551616",
                                        "null", "[",     "{",
                                        "\"",   "0.5",   "ffffffffffffffffffffffffffffffff",
                                        ","};
  for (std::size_t i = 0, count = 1 + random() % 4; i < count && !text.empty(); ++i) {
    const std::size_t at = random() % text.size();
    switch (random() % 5) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + random() % 9);
        break;
      case 2:
        text.insert(at, kWords.at(random() % kWords.size()));
        break;
      case 3:
        text.insert(at, text.substr(random() % text.size(), random() % 60));
        break;
      default:
        if (random() % 4 == 0) text.resize(at);
    }
  }
  return text;
}

TEST(FuzzStatistics, EndsInStatisticsOrADiagnostic) {
  const std::string good = good_file();
  EXPECT_EQ(Statistics::of_json(good).to_json(), good);
  const char* const seconds = std::getenv("SARDONYX_FUZZ_SECONDS");
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::milliseconds(
                       static_cast<std::int64_t>((seconds ? std::atof(seconds) : 0.3) * 1000));
  std::mt19937 random(1);
  while (std::chrono::steady_clock::now() < end) {
    const std::string text = damaged(good, random);
    try {
      const std::string written = Statistics::of_json(text).to_json();
      EXPECT_EQ(Statistics::of_json(written).to_json(), written) << text;
    } catch (const base::Error&) {  // what is damaged is rejected
    }
  }
}

}  // namespace
}  // namespace sardonyx::quantization
