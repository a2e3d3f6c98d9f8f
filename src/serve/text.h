// Small texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::serve {

inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// What stands between the separators, without space around it; empty parts are left out.
inline std::vector<std::string_view> parts(std::string_view text, char separator) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    if (const std::string_view part = trimmed(text.substr(0, end)); !part.empty())
      found.push_back(part);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return found;
}

// As text of HTML.
inline std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace sardonyx::serve
