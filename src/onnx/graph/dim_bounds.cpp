#include "onnx/graph/dim_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/diagnostic.h"

namespace sardonyx::onnx {
namespace {

using symbolic::Expr;

// PyTorch's own bound of a size that nothing bounds is one less than the largest integer.
constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max() - 1;
constexpr std::string_view kBetween = " <= ";
constexpr std::size_t kMaxShown = 80;  // characters of what a file has

std::string key_of(Expr symbol) { return "sardonyx.dim." + symbol.str(); }

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Nothing for a text that is none of ours.
std::optional<symbolic::Range> range_of(std::string_view text, std::string_view name) {
  symbolic::Range range{0, std::numeric_limits<std::int64_t>::max()};
  if (!text.starts_with(name)) {
    const std::size_t end = text.find(kBetween);
    const auto low = number_of(text.substr(0, end));
    if (end == std::string_view::npos || !low) return std::nullopt;
    range.low = *low;
    text.remove_prefix(end + kBetween.size());
  }
  if (!text.starts_with(name)) return std::nullopt;
  text.remove_prefix(name.size());
  if (text.empty()) return range;
  if (!text.starts_with(kBetween)) return std::nullopt;
  const auto high = number_of(text.substr(kBetween.size()));
  if (!high) return std::nullopt;
  range.high = *high;
  return range;
}

}  // namespace

std::string bounds_text(Expr symbol) {
  const symbolic::Range range = symbolic::range(symbol);
  const std::int64_t presumed = symbol.is_unbacked() ? 0 : 2;
  std::string text = symbol.str();
  if (range.low > presumed) text = fmt::format("{}{}{}", range.low, kBetween, text);
  if (range.high < kUnbounded) text += fmt::format("{}{}", kBetween, range.high);
  return text == symbol.str() ? std::string() : text;
}

void write_bounds(Model& model, Expr symbol) {
  erase_bounds(model, symbol);
  std::string text = bounds_text(symbol);
  if (!text.empty()) model.metadata.emplace_back(key_of(symbol), std::move(text));
}

void erase_bounds(Model& model, Expr symbol) {
  std::erase_if(model.metadata,
                [key = key_of(symbol)](const auto& each) { return each.first == key; });
}

void read_bounds(Model& model, Expr symbol) {
  for (const auto& [key, text] : model.metadata) {
    if (key != key_of(symbol)) continue;
    const auto found = range_of(text, symbol.str());
    const symbolic::Range known = symbolic::range(symbol);
    if (!found || found->low > found->high || found->low > known.high || found->high < known.low) {
      base::fail("SX1019",
                 fmt::format("the model's metadata `{}` is `{}`, which is no range of sizes", key,
                             std::string_view(text).substr(0, kMaxShown)),
                 fmt::format("write it as `1 <= {} <= 64`, or remove it", symbol.str()));
    }
    model.pool->constrain(symbol,
                          {std::max(known.low, found->low), std::min(known.high, found->high)});
  }
}

}  // namespace sardonyx::onnx
