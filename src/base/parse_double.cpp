#include "base/parse_double.h"

#include <charconv>
#include <limits>
#include <locale>
#include <sstream>
#include <string>

namespace sardonyx::base {

std::optional<double> read_real(std::string_view text) {
  double number = 0;
#ifdef __cpp_lib_to_chars
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (stop != end || error == std::errc::invalid_argument) return std::nullopt;
  const bool out_of_range = error == std::errc::result_out_of_range;
#else  // libc++ has it from 20 on
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  stream >> std::noskipws >> number;
  const bool out_of_range = stream.fail() && number != 0;  // the largest, or the least
  if ((stream.fail() && !out_of_range) || !(stream.eof() || stream.peek() == EOF))
    return std::nullopt;
#endif
  if (!out_of_range) return number;
  const std::size_t exponent = text.find_first_of("eE");
  const bool small = exponent != std::string_view::npos && text[exponent + 1] == '-';
  const double size = small ? 0.0 : std::numeric_limits<double>::infinity();
  return text.starts_with('-') ? -size : size;
}

}  // namespace sardonyx::base
