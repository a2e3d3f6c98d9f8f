#include "frontends/pt2/json.h"

#include <limits>

namespace sardonyx::pt2 {

double as_number(Json json, std::string_view what) {
  double value = 0;
  if (json.get(value) == simdjson::SUCCESS) return value;
  std::string_view text;
  if (json.get(text) == simdjson::SUCCESS) {
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  }
  wrong_shape(what, "a number");
}

Json JsonDocument::parse(std::span<const std::byte> text, std::span<const std::byte> readable) {
  // simdjson reads a few bytes past the end, which a mapped file mostly has: then nothing is
  // copied.
  const auto* begin = reinterpret_cast<const char*>(text.data());
  const std::byte* end = text.data() + text.size();
  const std::byte* limit = readable.data() + readable.size();
  const bool inside = text.data() >= readable.data() && end <= limit;
  const bool padded = inside && static_cast<std::size_t>(limit - end) >= simdjson::SIMDJSON_PADDING;
  Json root;
  const simdjson::error_code error = parser_.parse(begin, text.size(), !padded).get(root);
  if (error != simdjson::SUCCESS) {
    base::fail("SX1104", std::string("malformed JSON: ") + simdjson::error_message(error),
               "the file was damaged after it was saved: save it again");
  }
  return root;
}

}  // namespace sardonyx::pt2
