// Known strings, and data-dependent messages.
#include <algorithm>
#include <cctype>
#include <string>

#include "frontends/torchscript/recording/body.h"
#include "frontends/torchscript/recording/builtins.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;

namespace {

constexpr std::string_view kSpaces = " \t\n\r\f\v";

// The text that is known, at a position; null for anything else.
const std::string* known_text(const Operands& operands, std::size_t position) {
  if (position >= operands.positional.size()) return nullptr;
  const AbstractValue& datum = operands.positional[position];
  return datum.kind == Kind::kString && !datum.is_message ? &datum.text : nullptr;
}

std::optional<AbstractValue> text_of(GraphRecorder&, const Operands& operands) {
  const AbstractValue& value = operands.at(0);
  if (value.kind == Kind::kString) return value;
  if (value.kind == Kind::kDevice) return AbstractValue::of_text(value.text);
  if (value.kind == Kind::kNone) return AbstractValue::of_text("None");
  const bool is_constant = !value.value && value.expr.known() && value.expr.is_constant();
  if (value.kind == Kind::kInt && is_constant)
    return AbstractValue::of_text(std::to_string(value.expr.value()));
  if (value.kind == Kind::kBool && is_constant)
    return AbstractValue::of_text(value.expr.is(0) ? "False" : "True");
  return AbstractValue::of_message(description(value));
}

// "{}_{}".format(a, b). What programs format are messages that nobody sees, most often.
std::optional<AbstractValue> format(GraphRecorder& recorder, const Operands& operands) {
  const std::string* pattern = known_text(operands, 0);
  std::string text;
  bool is_message = !pattern || operands.op != "aten::format";
  std::size_t at = 0, next = 1;
  while (pattern && at < pattern->size()) {
    const std::size_t brace = std::min(pattern->find("{}", at), pattern->size());
    text += pattern->substr(at, brace - at);
    at = brace + 2;
    if (brace == pattern->size() || next >= operands.positional.size()) continue;
    const AbstractValue part = *text_of(recorder, {operands.op, {operands.positional[next++]}, {}});
    is_message = is_message || part.is_message;
    text += part.text;
  }
  return is_message ? AbstractValue::of_message(text) : AbstractValue::of_text(text);
}

std::optional<AbstractValue> join(GraphRecorder&, const Operands& operands) {
  const std::string* separator = known_text(operands, 0);
  const AbstractValue* parts = operands.find(1, "values");
  if (!separator || !parts || parts->kind != Kind::kList) return std::nullopt;
  AbstractValue joined = AbstractValue::of_text("");
  for (std::size_t i = 0; i < parts->held->items.size(); ++i) {
    joined.text += (i == 0 ? "" : *separator) + parts->held->items[i].text;
    joined.is_message = joined.is_message || parts->held->items[i].is_message;
  }
  return joined;
}

}  // namespace

std::optional<AbstractValue> count_in_text(const Operands& operands) {
  const std::string *text = known_text(operands, 0), *part = known_text(operands, 1);
  if (!text || !part || part->empty() || operands.positional.size() > 2) return std::nullopt;
  std::int64_t times = 0;
  for (std::size_t at = text->find(*part); at != text->npos;
       at = text->find(*part, at + part->size()))
    ++times;
  return AbstractValue::of_int(times);
}

std::optional<AbstractValue> split_text(const Operands& operands) {
  const std::string* text = known_text(operands, 0);
  const std::string* separator = known_text(operands, 1);
  if (!text || operands.positional.size() > 2) return std::nullopt;
  std::vector<AbstractValue> parts;
  std::size_t at = 0;
  while (separator && !separator->empty()) {
    const std::size_t end = std::min(text->find(*separator, at), text->size());
    parts.push_back(AbstractValue::of_text(text->substr(at, end - at)));
    if (end == text->size()) return AbstractValue::of_items(Kind::kList, std::move(parts));
    at = end + separator->size();
  }
  while ((at = text->find_first_not_of(kSpaces, at)) != text->npos) {
    const std::size_t end = std::min(text->find_first_of(kSpaces, at), text->size());
    parts.push_back(AbstractValue::of_text(text->substr(at, end - at)));
    at = end;
  }
  return AbstractValue::of_items(Kind::kList, std::move(parts));
}

namespace {

template <int (*letter)(int)>
std::optional<AbstractValue> mapped(GraphRecorder&, const Operands& operands) {
  const std::string* text = known_text(operands, 0);
  if (!text) return std::nullopt;
  std::string made = *text;
  for (char& each : made) each = static_cast<char>(letter(static_cast<unsigned char>(each)));
  return AbstractValue::of_text(made);
}

template <int (*letter)(int)>
std::optional<AbstractValue> all_of(GraphRecorder&, const Operands& operands) {
  const std::string* text = known_text(operands, 0);
  if (!text) return std::nullopt;
  return AbstractValue::of_bool(!text->empty() && std::ranges::all_of(*text, [](char each) {
    return letter(static_cast<unsigned char>(each)) != 0;
  }));
}

template <bool at_start, bool at_end>
std::optional<AbstractValue> strip(GraphRecorder&, const Operands& operands) {
  const std::string* text = known_text(operands, 0);
  const std::string* given = known_text(operands, 1);
  if (!text) return std::nullopt;
  const std::string letters = given ? *given : std::string(kSpaces);
  std::string made = *text;
  if (at_end) made.erase(made.find_last_not_of(letters) + 1);
  if (at_start) made.erase(0, std::min(made.find_first_not_of(letters), made.size()));
  return AbstractValue::of_text(made);
}

template <bool at_start>
std::optional<AbstractValue> has_affix(GraphRecorder&, const Operands& operands) {
  const std::string *text = known_text(operands, 0), *affix = known_text(operands, 1);
  if (!text || !affix || operands.positional.size() > 2) return std::nullopt;
  return AbstractValue::of_bool(at_start ? text->starts_with(*affix) : text->ends_with(*affix));
}

std::optional<AbstractValue> find(GraphRecorder&, const Operands& operands) {
  const std::string *text = known_text(operands, 0), *part = known_text(operands, 1);
  if (!text || !part) return std::nullopt;
  const auto bound = [&](std::size_t position, std::size_t otherwise) {
    const AbstractValue* given = operands.find(position, position == 2 ? "start" : "end");
    if (!given || given->is_none() || !given->expr.is_constant()) return otherwise;
    const std::int64_t size = static_cast<std::int64_t>(text->size()), value = given->expr.value();
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(value < 0 ? value + size : value, 0, size));
  };
  std::size_t at = text->find(*part, bound(2, 0));
  if (at != text->npos && at + part->size() > bound(3, text->size())) at = text->npos;
  return AbstractValue::of_int(at == text->npos ? -1 : static_cast<std::int64_t>(at));
}

std::optional<AbstractValue> replace(GraphRecorder&, const Operands& operands) {
  const std::string *text = known_text(operands, 0), *old = known_text(operands, 1),
                    *made = known_text(operands, 2);
  if (!text || !old || !made || old->empty() || operands.positional.size() > 3) return std::nullopt;
  std::string result = *text;
  for (std::size_t at = result.find(*old); at != result.npos;
       at = result.find(*old, at + made->size()))
    result.replace(at, old->size(), *made);
  return AbstractValue::of_text(result);
}

std::optional<AbstractValue> ordinal(GraphRecorder&, const Operands& operands) {
  const std::string* text = known_text(operands, 0);
  if (!text || text->size() != 1) return std::nullopt;
  return AbstractValue::of_int(static_cast<unsigned char>(text->front()));
}

}  // namespace

AbstractValue length_of_message(GraphRecorder& recorder, const AbstractValue& message) {
  if (message.text.empty() || message.text.find('%') != std::string::npos)
    refuse("the length of a data-dependent string");
  const symbolic::Expr letters = fresh_size(recorder.pool());
  recorder.pool().constrain(letters, symbolic::Range{.low = 1});
  return AbstractValue::of_int(letters);
}

void add_text_builtins(BuiltinTable& table) {
  const std::pair<std::string_view, Builtin> rows[] = {
      {"aten::str", text_of},
      {"aten::format", format},
      {"aten::percentFormat", format},
      {"aten::join", join},
      {"aten::upper", mapped<std::toupper>},
      {"aten::lower", mapped<std::tolower>},
      {"aten::isdigit", all_of<std::isdigit>},
      {"aten::isalpha", all_of<std::isalpha>},
      {"aten::isspace", all_of<std::isspace>},
      {"aten::strip", strip<true, true>},
      {"aten::lstrip", strip<true, false>},
      {"aten::rstrip", strip<false, true>},
      {"aten::startswith", has_affix<true>},
      {"aten::endswith", has_affix<false>},
      {"aten::find", find},
      {"aten::replace", replace},
      {"aten::ord", ordinal},
  };
  for (const auto& [name, function] : rows) table.emplace(name, function);
}

}  // namespace sardonyx::torchscript
