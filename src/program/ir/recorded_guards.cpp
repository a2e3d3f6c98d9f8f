#include "program/ir/recorded_guards.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace sardonyx::program {
namespace {

using symbolic::Binding;
using symbolic::Expr;

constexpr std::array<std::int64_t, 12> kSizes = {2, 3, 4, 5, 7, 8, 16, 33, 64, 100, 1000, 4099};
constexpr std::size_t kMaxRows = 400;
constexpr std::size_t kMaxShown = 5;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "L['x'][0].size()[1]", as it is read from the front.
struct RecordedSize {
  std::string input;  // "x_0", as torch.export names the input
  std::string shown;  // "x[0].shape[1]"
  std::size_t axis = 0;
};

class SizeReader {
 public:
  explicit SizeReader(std::string_view text) : text_(text) {}

  // Nothing where the text does not begin with a size.
  std::optional<RecordedSize> read() {
    RecordedSize size;
    if (!take("L")) return std::nullopt;
    while (take("[")) {
      if (!add_key(size) || !take("]")) return std::nullopt;
    }
    if (size.input.empty() || !take(".size()[")) return std::nullopt;
    const std::string_view axis = digits();
    if (axis.empty() || axis.size() > kMaxDigits || !take("]")) return std::nullopt;
    size.axis = static_cast<std::size_t>(std::stoul(std::string(axis)));
    size.shown += fmt::format(".shape[{}]", axis);
    return size;
  }

  std::size_t place() const { return place_; }

 private:
  static constexpr std::size_t kMaxDigits = 3;

  bool take(std::string_view token) {
    if (!text_.substr(place_).starts_with(token)) return false;
    place_ += token.size();
    return true;
  }

  std::string_view digits() {
    const std::size_t start = place_;
    while (place_ < text_.size() && is_digit(text_[place_])) ++place_;
    return text_.substr(start, place_ - start);
  }

  // The name of a parameter, or the key of a dictionary, or the place in a list.
  bool add_key(RecordedSize& size) {
    const bool is_quoted = take("'");
    std::string_view key;
    if (is_quoted) {
      const std::size_t end = text_.find('\'', place_);
      if (end == std::string_view::npos) return false;
      key = text_.substr(place_, end - place_);
      place_ = end + 1;
    } else {
      key = digits();
    }
    if (key.empty()) return false;
    if (size.input.empty()) {
      size.shown = key;
    } else {
      size.input += '_';
      size.shown += is_quoted ? fmt::format("['{}']", key) : fmt::format("[{}]", key);
    }
    size.input += key;
    return true;
  }

  std::string_view text_;
  std::size_t place_ = 0;
};

// A condition as Python's text, `L['x'].size()[0] > 4`, with a symbol in the place of each size.
struct Condition {
  std::string text;
  std::string shown;
  std::vector<RecordedSize> sizes;  // of the symbols size0, size1, ...
};

// Nothing where it asks anything else, as of types.
std::optional<Condition> read_condition(std::string_view text) {
  Condition condition;
  for (std::size_t place = 0; place < text.size();) {
    SizeReader reader(text.substr(place));
    if (std::optional<RecordedSize> size = reader.read()) {
      condition.text += fmt::format("size{}", condition.sizes.size());
      condition.shown += size->shown;
      condition.sizes.push_back(*std::move(size));
      place += reader.place();
    } else {
      if (text.substr(place).starts_with("L[")) return std::nullopt;
      condition.text += text[place];
      condition.shown += text[place++];
    }
  }
  return condition;
}

// What the program has for the size; unknown where there is no input of that name.
Expr size_in(const Program& program, const RecordedSize& size) {
  for (const InputSpec& input : program.inputs) {
    if (input.kind == InputKind::kUser && input.value != nullptr &&
        input.value->name == size.input && size.axis < input.value->shape.size())
      return input.value->shape[size.axis];
  }
  return {};
}

// Calls `found` with values for `count` symbols until it returns true: all alike first.
template <class Found>
bool any_row(std::size_t count, const Found& found) {
  std::vector<std::int64_t> row(count);
  for (const std::int64_t size : kSizes) {
    std::ranges::fill(row, size);
    if (found(row)) return true;
  }
  std::vector<std::size_t> places(count, 0);
  for (std::size_t tried = 0; tried < kMaxRows; ++tried) {
    for (std::size_t i = 0; i < count; ++i) row[i] = kSizes[places[i]];
    if (found(row)) return true;
    std::size_t last = count;
    while (last > 0 && ++places[last - 1] == kSizes.size()) places[--last] = 0;
    if (last == 0) return false;
  }
  return false;
}

bool may_fail(const Condition& condition, const Program& program) {
  symbolic::Pool pool;
  std::vector<Expr> symbols;  // size0, size1, ...
  std::vector<Expr> held;     // what the program has for them, or they themselves
  std::vector<Expr> free;     // the symbols of these
  for (std::size_t i = 0; i < condition.sizes.size(); ++i) {
    symbols.push_back(pool.symbol(fmt::format("size{}", i)));
    pool.constrain(symbols.back(), {.low = kSizes.front()});
    const Expr size = size_in(program, condition.sizes[i]);
    held.push_back(size.known() ? size : symbols.back());
    for (const Expr each : symbolic::symbols_of(held.back()))
      if (std::ranges::find(free, each) == free.end()) free.push_back(each);
  }
  const Expr asked = symbolic::parse_srepr(pool, condition.text);
  if (!asked.known() || asked.is_constant()) return false;
  return any_row(free.size(), [&](std::span<const std::int64_t> row) {
    std::vector<Binding> known, sizes;
    for (std::size_t i = 0; i < free.size(); ++i) known.push_back({free[i], row[i]});
    for (std::size_t i = 0; i < held.size(); ++i) {
      const std::optional<std::int64_t> size = symbolic::evaluate(held[i], known);
      if (!size || *size < kSizes.front()) return false;
      sizes.push_back({symbols[i], *size});
    }
    return symbolic::evaluate(asked, sizes) == 0;
  });
}

}  // namespace

std::vector<base::Diagnostic> notes_of_recorded_guards(const Program& program) {
  std::vector<std::string> found;
  for (const std::string& text : program.recorded_guards) {
    const std::optional<Condition> condition = read_condition(text);
    if (!condition || std::ranges::find(found, condition->shown) != found.end()) continue;
    try {
      if (may_fail(*condition, program)) found.push_back(condition->shown);
    } catch (const base::Error&) {
      continue;  // no arithmetic of sizes
    }
  }
  if (found.empty()) return {};
  const std::size_t shown = std::min(found.size(), kMaxShown);
  const std::string more =
      found.size() > shown ? fmt::format("; and {} more", found.size() - shown) : "";
  base::Diagnostic note;
  note.code = "SX1015";
  note.severity = base::Severity::kWarning;
  note.message = fmt::format(
      "torch.export recorded that the program holds for sizes with {}{}: what the module computes "
      "of other sizes may not be in the model",
      fmt::join(std::span(found).first(shown), "; "), more);
  note.help = "export the module itself, which keeps branches on sizes, or keep to such sizes";
  return {std::move(note)};
}

}  // namespace sardonyx::program
