#include "program/ir/dim_names.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "program/ir/naming.h"

namespace sardonyx::program {
namespace {

using symbolic::Expr;

[[noreturn]] void refuse(std::string_view key, const std::string& why) {
  base::fail("SX1001", "no dimension can be named by '" + std::string(key) + "': " + why,
             "name a symbol of the program (s77=batch) or a dynamic dimension of an input "
             "(x:0=batch)");
}

bool is_identifier(std::string_view text) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text.front())) &&
         std::ranges::all_of(text, is_part);
}

// "s77, s27"; "none" where there are none.
std::string listed(const std::vector<Expr>& symbols) {
  std::string text;
  for (const Expr symbol : symbols) text += (text.empty() ? "" : ", ") + std::string(symbol.name());
  return text.empty() ? "none" : text;
}

class NameableSizes {
 public:
  explicit NameableSizes(const Program& program)
      : program_(program), symbols_(program.pool->symbols()) {
    // Front ends also keep the ranges of what the user declared as an expression ("2*s77").
    std::erase_if(symbols_, [](Expr symbol) { return !is_identifier(symbol.name()); });
  }

  // The symbol that a user means.
  Expr operator[](std::string_view key) const {
    const std::size_t colon = key.rfind(':');
    return colon == std::string_view::npos ? symbol(key)
                                           : dim(key, key.substr(0, colon), key.substr(colon + 1));
  }

 private:
  Expr symbol(std::string_view key) const {
    for (const Expr each : symbols_) {
      if (each.name() == key || each.str() == key) return each;
    }
    refuse(key, "the program's symbols are: " + listed(symbols_));
  }

  Expr dim(std::string_view key, std::string_view input, std::string_view axis_text) const {
    const std::vector<Expr>& shape = input_named(key, input).shape;
    std::int64_t axis = 0;
    const char* last = axis_text.data() + axis_text.size();
    const auto [end, problem] = std::from_chars(axis_text.data(), last, axis);
    const auto rank = static_cast<std::int64_t>(shape.size());
    if (problem != std::errc() || end != last || axis < -rank || axis >= rank)
      refuse(key, "the input has " + std::to_string(rank) + " dimensions");
    const Expr size = shape[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)];
    if (size.is_constant()) refuse(key, "the program has it as " + size.str());
    if (!size.is_symbol())
      refuse(key, "it is computed, " + size.str() + "; name " + listed(symbols_of(size)));
    return size;
  }

  const Value& input_named(std::string_view key, std::string_view name) const {
    const std::vector<std::string> names = input_names(program_, {});
    std::string known;
    std::size_t position = 0;
    for (const InputSpec& input : program_.inputs) {
      if (input.kind != InputKind::kUser) continue;
      const std::string& ours = names[position++];
      if (!input.value) continue;
      if (ours == name || input.value->name == name) return *input.value;
      known += (known.empty() ? "" : ", ") + ours;
    }
    refuse(key, "the program's inputs are: " + known);
  }

  const Program& program_;
  std::vector<Expr> symbols_;
};

}  // namespace

DimNames parse_dim_names(std::span<const std::string> texts) {
  DimNames names;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) refuse(text, "it has no name");
    const std::string name = text.substr(equals + 1);
    if (!is_identifier(name)) refuse(text, "'" + name + "' is not an identifier");
    const auto [place, is_new] = names.emplace(text.substr(0, equals), name);
    if (!is_new && place->second != name) refuse(text, "it is named '" + place->second + "' too");
  }
  return names;
}

void name_dims(Program& program, const DimNames& names) {
  const NameableSizes sizes(program);
  std::vector<std::pair<Expr, std::string>> wanted;
  for (const auto& [key, name] : names) {
    const Expr size = sizes[key];
    for (const auto& [other, its_name] : wanted) {
      if (other == size && its_name != name)
        refuse(key, "the same size is named '" + its_name + "' too");
      if (other != size && its_name == name)
        refuse(key, "'" + name + "' names " + std::string(other.name()) +
                        ", which the program does not have equal to it");
    }
    wanted.emplace_back(size, name);
  }
  for (const auto& [size, name] : wanted) program.pool->rename(size, name);
}

}  // namespace sardonyx::program
