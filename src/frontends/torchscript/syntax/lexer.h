// Tokens of an archive's code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::torchscript {

struct Token {
  enum class Kind : std::uint8_t {
    kName,
    kInteger,
    kReal,
    kString,  // text is what it means, without quotes and escapes
    kMark,    // punctuation, operators
    kNewline,
    kIndent,
    kDedent,
    kEnd,
  };

  Kind kind = Kind::kEnd;
  std::size_t offset = 0;
  std::string text;

  bool is(std::string_view mark) const { return kind == Kind::kMark && text == mark; }
  bool is_word(std::string_view word) const { return kind == Kind::kName && text == word; }
};

// Throws SX1121, naming `file` and the line.
std::vector<Token> tokens_of(std::string_view file, std::string_view text);

[[noreturn]] void fail_syntax(std::string_view file, std::string_view text, std::size_t offset,
                              const std::string& what);

}  // namespace sardonyx::torchscript
