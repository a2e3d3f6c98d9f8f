// Reads the schema text that PyTorch prints and its operator libraries declare.
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "base/diagnostic.h"
#include "base/parse_double.h"
#include "program/schema/coerce.h"
#include "program/schema/schema.h"

namespace sardonyx::program {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

struct NamedKind {
  std::string_view name;
  TypeKind kind;
};

constexpr NamedKind kTypeKinds[] = {
    {"Tensor", TypeKind::kTensor},  {"int", TypeKind::kInt},
    {"SymInt", TypeKind::kInt},     {"bool", TypeKind::kBool},
    {"SymBool", TypeKind::kBool},   {"float", TypeKind::kFloat},
    {"SymFloat", TypeKind::kFloat}, {"Scalar", TypeKind::kNumber},
    {"number", TypeKind::kNumber},  {"complex", TypeKind::kComplex},
    {"str", TypeKind::kString},     {"ScalarType", TypeKind::kDType},
    {"Layout", TypeKind::kLayout},  {"MemoryFormat", TypeKind::kMemoryFormat},
    {"Device", TypeKind::kDevice},  {"Generator", TypeKind::kGenerator},
};

// Types whose parentheses hold other types rather than an alias annotation.
constexpr std::string_view kGenericTypes[] = {"Dict", "Future", "Await", "RRef", "Tuple", "Union"};

class SchemaParser {
 public:
  explicit SchemaParser(std::string_view text) : text_(text) {}

  Schema parse() {
    Schema schema;
    parse_name(schema);
    parse_parameters(schema);
    expect("->");
    parse_returns(schema);
    if (at_ != text_.size()) refuse("text after the end");
    return schema;
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    base::fail("SX1203", "malformed operator schema '" + std::string(text_) +
                             "': " + std::string(what) + " at character " + std::to_string(at_));
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool accept(std::string_view token) {
    skip_spaces();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  void expect(std::string_view token) {
    if (!accept(token)) refuse("expected '" + std::string(token) + "'");
  }

  std::string_view word() {
    skip_spaces();
    const std::size_t start = at_;
    while (is_word(peek())) ++at_;
    if (at_ == start) refuse("expected a name");
    return text_.substr(start, at_ - start);
  }

  void parse_name(Schema& schema) {
    const std::size_t open = text_.find('(');
    if (open == std::string_view::npos) refuse("no parameter list");
    const std::string_view full = text_.substr(0, open);
    const std::size_t colons = full.find("::");
    const std::size_t dot = full.find('.', colons == std::string_view::npos ? 0 : colons);
    schema.name = full.substr(0, dot);
    if (dot != std::string_view::npos) schema.overload = full.substr(dot + 1);
    if (schema.name.empty()) refuse("no operator name");
    at_ = open;
  }

  void parse_parameters(Schema& schema) {
    expect("(");
    bool keyword_only = false;
    for (bool first = true; !accept(")"); first = false) {
      if (!first) expect(",");
      if (accept("...")) continue;  // further positional arguments of any type
      if (accept("*")) {
        keyword_only = true;
        continue;
      }
      Parameter parameter;
      parse_type(parameter.type, parameter.alias);
      parameter.name = word();
      parameter.keyword_only = keyword_only;
      if (accept("=")) parse_default(parameter);
      schema.parameters.push_back(std::move(parameter));
    }
  }

  void parse_returns(Schema& schema) {
    skip_spaces();
    if (peek() != '(') {
      parse_return(schema);
      return;
    }
    expect("(");
    for (bool first = true; !accept(")"); first = false) {
      if (!first) expect(",");
      parse_return(schema);
    }
  }

  void parse_return(Schema& schema) {
    if (accept("...")) return;
    ReturnSpec spec;
    parse_type(spec.type, spec.alias);
    skip_spaces();
    if (is_word(peek())) spec.name = word();
    schema.returns.push_back(std::move(spec));
  }

  void skip_parentheses() {
    int depth = 0;
    do {
      if (at_ == text_.size()) refuse("unbalanced parentheses");
      if (text_[at_] == '(') ++depth;
      if (text_[at_] == ')') --depth;
      ++at_;
    } while (depth > 0);
  }

  TypeKind parse_base_type() {
    skip_spaces();
    if (peek() == '(') {  // a tuple
      skip_parentheses();
      return TypeKind::kAny;
    }
    std::string_view name = word();
    while (peek() == '.') {  // __torch__.torch.classes.rnn.CellParamsBase
      ++at_;
      word();
      name = {};
    }
    for (const std::string_view generic : kGenericTypes) {
      if (name == generic && peek() == '(') skip_parentheses();
    }
    for (const NamedKind& entry : kTypeKinds) {
      if (entry.name == name) return entry.kind;
    }
    return TypeKind::kAny;
  }

  void parse_type(TypeSpec& type, AliasInfo& alias) {
    type.kind = parse_base_type();
    for (;;) {
      if (peek() == '(') {
        parse_alias(alias);
      } else if (peek() == '[') {
        parse_list(type);
      } else if (peek() == '?') {
        ++at_;
        type.optional = true;
      } else {
        return;
      }
    }
  }

  void parse_list(TypeSpec& type) {
    expect("[");
    type.optional_items = type.optional;
    type.optional = false;
    type.fixed_size = 0;
    if (peek() != ']') {
      const std::string_view digits = word();
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), type.fixed_size);
      // PyTorch has none above 6; a huge one would be a list to fill.
      const bool valid = error == std::errc() && end == digits.data() + digits.size();
      if (!valid || type.fixed_size < 1 || type.fixed_size > 64) refuse("bad list length");
    }
    expect("]");
    if (++type.list_depth > 4) refuse("lists nested too deeply");
  }

  // "(a)", "(a!)", "(a -> *)", "(b|a)", "(a! -> a|b)", "(*)"
  void parse_alias(AliasInfo& alias) {
    expect("(");
    const std::size_t end = text_.find(')', at_);
    if (end == std::string_view::npos) refuse("unbalanced parentheses");
    const std::string_view before = text_.substr(at_, text_.substr(0, end).find("->", at_) - at_);
    for (const char c : before.substr(0, end - at_)) {
      if (c == '!') {
        alias.is_write = true;
      } else if (c != ' ') {
        alias.set += c;
      }
    }
    at_ = end + 1;
  }

  void parse_default(Parameter& parameter) {
    Argument value = parse_literal(0);
    const std::string problem = coerce(parameter.type, value);
    if (!problem.empty()) refuse("default of '" + parameter.name + "': " + problem);
    parameter.default_value = std::move(value);
  }

  Argument parse_literal(int depth) {
    skip_spaces();
    if (peek() == '"' || peek() == '\'') return parse_string();
    if (peek() != '[') return parse_plain();
    if (depth > 4) refuse("lists nested too deeply");
    expect("[");
    List items;
    for (bool first = true; !accept("]"); first = false) {
      if (!first) expect(",");
      items.push_back(parse_literal(depth + 1));
    }
    return items;
  }

  std::string parse_string() {
    const char quote = text_[at_++];
    std::string value;
    while (peek() != quote) {
      if (at_ == text_.size()) refuse("unterminated string");
      char c = text_[at_++];
      if (c == '\\' && at_ < text_.size()) c = unescape(text_[at_++]);
      value += c;
    }
    ++at_;
    return value;
  }

  static char unescape(char c) {
    constexpr std::string_view kLetters = "ntfvr";
    constexpr std::string_view kControls = "\n\t\f\v\r";
    const std::size_t i = kLetters.find(c);
    return i == std::string_view::npos ? c : kControls[i];
  }

  // A number or a name: everything up to the next comma or bracket.
  Argument parse_plain() {
    const std::size_t end = std::min(text_.find_first_of(",)]", at_), text_.size());
    const std::string_view token = text_.substr(at_, end - at_);
    at_ = end;
    if (token == "None") return {};
    if (token == "True") return true;
    if (token == "False") return false;
    if (token == "inf") return std::numeric_limits<double>::infinity();
    if (token == "-inf") return -std::numeric_limits<double>::infinity();
    if (token == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (!token.empty() && (is_word(token.front()) && !std::isdigit(token.front())))
      return Enumerator{std::string(token)};
    return parse_number(token);
  }

  Argument parse_number(std::string_view token) {
    const char* const end = token.data() + token.size();
    std::int64_t integer = 0;
    if (const auto result = std::from_chars(token.data(), end, integer);
        result.ec == std::errc() && result.ptr == end) {
      return symbolic::Expr(integer);
    }
    const auto real = base::read_real(token);
    if (!real) refuse("bad default");
    return *real;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string literal(const Argument& argument);

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    constexpr std::string_view kControls = "\n\t\f\v\r\"\\'";
    constexpr std::string_view kLetters = "ntfvr\"\\'";
    const std::size_t i = kControls.find(c);
    if (i != std::string_view::npos) out += '\\';
    out += i == std::string_view::npos ? c : kLetters[i];
  }
  return out + "\"";
}

std::string list_literal(const List& items) {
  std::string text = "[";
  for (const Argument& item : items) {
    if (text.size() > 1) text += ", ";
    text += literal(item);
  }
  return text + "]";
}

// As PyTorch prints a float default: shortest of 17 digits, with a point.
std::string float_literal(double value) {
  char buffer[40];
  const auto result =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 17);
  std::string text(buffer, result.ptr);
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += '.';
  return text;
}

std::string literal(const Argument& argument) {
  if (argument.is_none()) return "None";
  if (const bool* flag = argument.get<bool>()) return *flag ? "True" : "False";
  if (const double* real = argument.get<double>()) return float_literal(*real);
  if (const symbolic::Expr* number = argument.get<symbolic::Expr>()) return number->str();
  if (const std::string* text = argument.get<std::string>()) return quoted(*text);
  if (const List* items = argument.get<List>()) return list_literal(*items);
  if (const Enumerator* name = argument.get<Enumerator>()) return name->name;
  if (const base::DType* dtype = argument.get<base::DType>())
    return std::string(base::dtype_name(*dtype));
  return describe(argument);
}

std::string annotated(const TypeSpec& type, const AliasInfo& alias) {
  std::string text = to_string(type);
  if (alias.set.empty()) return text;
  const std::string annotation = "(" + alias.set + (alias.is_write ? "!)" : ")");
  const std::size_t suffix = std::min(text.find_first_of("[?"), text.size());
  return text.insert(suffix, annotation);
}

}  // namespace

Schema parse_schema(std::string_view text) { return SchemaParser(text).parse(); }

std::string to_string(const Schema& schema) {
  std::string text = schema.qualified() + "(";
  bool keyword_only = false;
  for (const Parameter& parameter : schema.parameters) {
    if (&parameter != schema.parameters.data()) text += ", ";
    if (parameter.keyword_only && !std::exchange(keyword_only, true)) text += "*, ";
    text += annotated(parameter.type, parameter.alias) + " " + parameter.name;
    if (parameter.default_value) text += "=" + literal(*parameter.default_value);
  }
  text += ") -> ";
  const bool single = schema.returns.size() == 1;
  if (!single) text += "(";
  for (const ReturnSpec& spec : schema.returns) {
    if (&spec != schema.returns.data()) text += ", ";
    text += annotated(spec.type, spec.alias);
    if (!spec.name.empty()) text += " " + spec.name;
  }
  return single ? text : text + ")";
}

}  // namespace sardonyx::program
