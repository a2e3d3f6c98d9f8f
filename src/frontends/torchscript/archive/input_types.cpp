#include "frontends/torchscript/archive/input_types.h"

#include <algorithm>
#include <cctype>

#include "base/diagnostic.h"

namespace sardonyx::torchscript {

using Kind = InputType::Kind;

void refuse_input(const std::string& what) {
  base::fail("SX1122", what,
             "say what each input is: --input x:float32[batch,3,224,224] (a name is a dimension "
             "that varies), --input n:int, --input n=3, --input 'state:(float32[n], [int64[]])'");
}

namespace {

constexpr int kDeepest = 64;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  NamedInputType parse() {
    NamedInputType made;
    const std::size_t colon = text_.find(':'), equal = text_.find('=');
    const std::size_t end = std::min(colon, equal);
    if (end == text_.npos) refuse_input("'" + std::string(text_) + "' says nothing of an input");
    made.name = text_.substr(0, end);
    at_ = end + 1;
    if (equal < colon) {
      // Bare: it ends where the argument does.
      if (peek() == '"') {
        made.type = type();
      } else {
        made.type.kind = Kind::kConstant;
        made.type.element = text_.substr(at_);
        at_ = text_.size();
      }
    } else {
      made.type = type();
    }
    skip_spaces();
    if (at_ != text_.size()) fail("ends in '" + std::string(text_.substr(at_)) + "'");
    return made;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    refuse_input("'" + std::string(text_) + "' " + what);
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  char peek() {
    skip_spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) fail("lacks its '" + std::string(1, wanted) + "'");
  }

  InputType type() {
    if (++depth_ > kDeepest) fail("is nested too deep");
    InputType made;
    if (take('(')) {
      made.kind = Kind::kTuple;
      items(made, ')');
    } else if (take('[')) {
      made.kind = Kind::kList;
      items(made, ']');
    } else if (take('{')) {
      made.kind = Kind::kDict;
      items(made, '}');
    } else if (take('=')) {
      made.kind = Kind::kConstant;
      made.element = word();
    } else if (take('$')) {
      made.kind = Kind::kWeight;
      made.element = word();
    } else if (peek() == '"') {
      made.kind = Kind::kText;
      made.element = quoted();
    } else {
      plain(made);
    }
    --depth_;
    return made;
  }

  void items(InputType& made, char end) {
    while (!take(end)) {
      if (!made.items.empty()) {
        expect(',');
        if (take(end)) return;
      }
      if (made.kind == Kind::kTuple) item_name(made);
      if (made.kind == Kind::kDict) {
        made.keys.push_back(key());
        expect(':');
      }
      made.items.push_back(type());
    }
  }

  // "left:", where the tuple's items have names.
  void item_name(InputType& made) {
    skip_spaces();
    const std::size_t end = text_.find_first_of(",:()[]{}\" =", at_);
    if (end == text_.npos || text_[end] != ':' || end == at_) return;
    made.names.push_back(word());
    expect(':');
  }

  InputType key() {
    InputType made;
    made.kind = peek() == '"' ? Kind::kText : Kind::kConstant;
    made.element = peek() == '"' ? quoted() : word();
    return made;
  }

  void plain(InputType& made) {
    made.element = word();
    if (made.element == "int") made.kind = Kind::kInt;
    if (made.element == "float") made.kind = Kind::kFloat;
    if (made.element == "double") made.kind = Kind::kDouble;
    if (made.element == "None") made.kind = Kind::kConstant;
    if (made.element == "bool" && peek() != '[') made.kind = Kind::kBool;
    if (made.kind != Kind::kTensor || !take('[')) return;
    while (!take(']')) {
      if (!made.dims.empty()) expect(',');
      made.dim_is_quoted.push_back(peek() == '"');
      made.dims.push_back(made.dim_is_quoted.back() ? quoted() : word());
    }
    if (take('@')) suffix(made);
  }

  void suffix(InputType& made) {
    if (peek() == '[') return layout(made);
    constexpr std::string_view kDouble = "double";
    if (!text_.substr(at_).starts_with(kDouble)) fail("has an unknown suffix");
    at_ += kDouble.size();
    made.has_wide_parts = true;
    if (take('@')) layout(made);
  }

  // "[5:1,4:5]"
  void layout(InputType& made) {
    expect('[');
    while (!take(']')) {
      if (!made.example_sizes.empty()) expect(',');
      made.example_sizes.push_back(word());
      expect(':');
      made.example_strides.push_back(word());
    }
    if (made.example_sizes.size() != made.dims.size())
      fail("says of other dimensions how they lie");
  }

  // Up to what ends a name or a number.
  std::string word() {
    skip_spaces();
    const std::size_t end = std::min(text_.find_first_of(",:()[]{}\" ", at_), text_.size());
    if (end == at_) fail("lacks a name at its place " + std::to_string(at_));
    const std::string_view found = text_.substr(at_, end - at_);
    at_ = end;
    return std::string(found);
  }

  // With \" and \\ in it.
  std::string quoted() {
    expect('"');
    std::string made;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      made += text_[at_++];
    }
    if (at_ == text_.size()) fail("lacks its '\"'");
    ++at_;
    return made;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

NamedInputType parse_input_type(std::string_view text) { return Parser(text).parse(); }

}  // namespace sardonyx::torchscript
