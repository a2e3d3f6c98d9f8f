#include "base/did_you_mean.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace sardonyx::base {
namespace {

constexpr std::size_t kMaxNames = 3;

// How many letters are to be put in, left out or changed: Levenshtein's distance, a row at a time.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  constexpr std::size_t kLongest = 200;  // nobody mistypes more
  if (name.empty() || name.size() > kLongest) return {};
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const std::string_view each : known) {
    const std::size_t letters = distance(name, each);
    const bool is_part = name.size() >= 3 && each.find(name) != std::string_view::npos;
    if (is_part || letters <= std::max<std::size_t>(1, name.size() / 3))
      near.emplace_back(letters, each);
  }
  std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string_view>::first);
  near.resize(std::min(near.size(), kMaxNames));
  std::string names;
  for (std::size_t i = 0; i < near.size(); ++i) {
    if (i > 0) names += i + 1 == near.size() ? " or " : ", ";
    names += '`' + std::string(near[i].second) + '`';
  }
  return names.empty() ? names : "did you mean " + names + "?";
}

}  // namespace sardonyx::base
