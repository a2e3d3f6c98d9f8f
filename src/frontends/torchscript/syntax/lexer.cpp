#include "frontends/torchscript/syntax/lexer.h"

#include <algorithm>
#include <cctype>

#include "base/diagnostic.h"

namespace sardonyx::torchscript {
namespace {

constexpr std::size_t kDeepestIndent = 200;

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Lexer {
 public:
  Lexer(std::string_view file, std::string_view text) : file_(file), text_(text) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) line();
    while (indents_.size() > 1) close_indent();
    add(Token::Kind::kEnd, at_, {});
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void add(Token::Kind kind, std::size_t offset, std::string text) {
    tokens_.push_back({kind, offset, std::move(text)});
  }
  [[noreturn]] void fail(const std::string& what) const { fail_syntax(file_, text_, at_, what); }

  void line() {
    const std::size_t start = at_;
    while (peek() == ' ') ++at_;
    if (peek() == '\n') {
      ++at_;
      return;
    }
    if (peek() == '#') return skip_comment();
    if (at_ >= text_.size()) return;
    indent(at_ - start);
    while (at_ < text_.size() && (peek() != '\n' || depth_ > 0)) token();
    add(Token::Kind::kNewline, at_, {});
    if (at_ < text_.size()) ++at_;
  }

  void skip_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  void indent(std::size_t width) {
    if (width > indents_.back()) {
      if (indents_.size() >= kDeepestIndent) fail("blocks are nested too deep");
      indents_.push_back(width);
      add(Token::Kind::kIndent, at_, {});
    }
    while (width < indents_.back()) close_indent();
    if (width != indents_.back()) fail("a line is indented as none before it");
  }

  void close_indent() {
    indents_.pop_back();
    add(Token::Kind::kDedent, at_, {});
  }

  void token() {
    const char c = peek();
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '#') {
      skip_comment();
    } else if (starts_name(c)) {
      const std::size_t start = at_;
      while (starts_name(peek()) || is_digit(peek())) ++at_;
      add(Token::Kind::kName, start, std::string(text_.substr(start, at_ - start)));
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
    } else if (c == '"' || c == '\'') {
      string(c);
    } else {
      mark();
    }
  }

  void number() {
    const std::size_t start = at_;
    bool is_real = false;
    while (is_digit(peek())) ++at_;
    if (peek() == '.') {
      is_real = true;
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    const bool is_signed = peek(1) == '-' || peek(1) == '+';
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(is_signed ? 2 : 1))) {
      is_real = true;
      at_ += is_signed ? 2 : 1;
      while (is_digit(peek())) ++at_;
    }
    add(is_real ? Token::Kind::kReal : Token::Kind::kInteger, start,
        std::string(text_.substr(start, at_ - start)));
  }

  void string(char quote) {
    const std::size_t start = at_++;
    std::string value;
    while (peek() != quote) {
      if (at_ >= text_.size() || peek() == '\n') fail("a string has no end");
      if (peek() == '\\') {
        ++at_;
        escape(value);
      } else {
        value += text_[at_++];
      }
    }
    ++at_;
    add(Token::Kind::kString, start, std::move(value));
  }

  void escape(std::string& value) {
    constexpr std::string_view kLetters = "abfnrtv\\'\"";
    constexpr std::string_view kMeaning = "\a\b\f\n\r\t\v\\'\"";
    const char c = peek();
    if (const std::size_t found = kLetters.find(c); c != '\0' && found != kLetters.npos) {
      value += kMeaning[found];
      ++at_;
      return;
    }
    const bool is_hexadecimal = c == 'x';
    if (is_hexadecimal) ++at_;
    const std::size_t digits = is_hexadecimal ? 2 : 3;
    const int base = is_hexadecimal ? 16 : 8;
    int code = 0;
    std::size_t i = 0;
    for (; i < digits; ++i, ++at_) {
      const auto digit = static_cast<unsigned char>(peek());
      const int found = std::isdigit(digit) != 0    ? digit - '0'
                        : std::isxdigit(digit) != 0 ? std::tolower(digit) - 'a' + 10
                                                    : base;
      if (found >= base) break;
      code = code * base + found;
    }
    if (i == 0) fail("a string has an escape that archives do not write");
    value += static_cast<char>(code);
  }

  void mark() {
    const std::size_t start = at_;
    if (text_.substr(at_, 3) == "...") {
      at_ += 3;
      return add(Token::Kind::kMark, start, "...");
    }
    if (text_.substr(at_, 2) == "->") {
      at_ += 2;
      return add(Token::Kind::kMark, start, "->");
    }
    constexpr std::string_view kMarks = "()[]{}:,.=-+";
    if (kMarks.find(peek()) == kMarks.npos) fail("a character that archives do not write");
    const char c = text_[at_++];
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if (c == ')' || c == ']' || c == '}') --depth_;
    if (depth_ < 0) fail("a bracket closes what none opened");
    add(Token::Kind::kMark, start, std::string(1, c));
  }

  std::string_view file_;
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;  // of brackets
  std::vector<std::size_t> indents_ = {0};
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view file, std::string_view text) {
  return Lexer(file, text).run();
}

void fail_syntax(std::string_view file, std::string_view text, std::size_t offset,
                 const std::string& what) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  base::fail("SX1121",
             "the code of the archive is malformed: " + what + " (" + std::string(file) + ":" +
                 std::to_string(line) + ")",
             "save the module again with torch.jit.save");
}

}  // namespace sardonyx::torchscript
