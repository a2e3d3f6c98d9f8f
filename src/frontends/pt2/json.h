// Checked access to JSON: what is missing or of another type ends in a diagnostic that names it.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/diagnostic.h"

namespace sardonyx::pt2 {

using Json = simdjson::dom::element;
using JsonObject = simdjson::dom::object;
using JsonArray = simdjson::dom::array;

// Owns what a parsed text points to; elements of it live as long as it does.
class JsonDocument {
 public:
  // `readable` is memory around `text` that may be read as well, or empty. Throws SX1104.
  Json parse(std::span<const std::byte> text, std::span<const std::byte> readable);

 private:
  simdjson::dom::parser parser_;
};

// Throws SX1105: `what` is not as it should be.
[[noreturn]] inline void wrong_shape(std::string_view what, std::string_view expected) {
  base::fail("SX1105", "'" + std::string(what) + "' is not " + std::string(expected));
}

inline JsonObject as_object(Json json, std::string_view what) {
  JsonObject value;
  if (json.get(value) != simdjson::SUCCESS) wrong_shape(what, "an object");
  return value;
}

inline JsonArray as_array(Json json, std::string_view what) {
  JsonArray value;
  if (json.get(value) != simdjson::SUCCESS) wrong_shape(what, "an array");
  return value;
}

inline std::string_view as_text(Json json, std::string_view what) {
  std::string_view value;
  if (json.get(value) != simdjson::SUCCESS) wrong_shape(what, "a string");
  return value;
}

inline std::int64_t as_integer(Json json, std::string_view what) {
  std::int64_t value = 0;
  if (json.get(value) != simdjson::SUCCESS) wrong_shape(what, "an integer of 64 bits");
  return value;
}

inline bool as_flag(Json json, std::string_view what) {
  bool value = false;
  if (json.get(value) != simdjson::SUCCESS) wrong_shape(what, "true or false");
  return value;
}

// JSON has no infinities and no NaN: PyTorch writes them as strings.
double as_number(Json json, std::string_view what);

// A member that is there and not null.
inline std::optional<Json> find_member(JsonObject object, std::string_view key) {
  Json value;
  if (object[key].get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
  return value;
}

inline Json member(JsonObject object, std::string_view key) {
  Json value;
  if (object[key].get(value) != simdjson::SUCCESS)
    base::fail("SX1105", "'" + std::string(key) + "' is missing");
  return value;
}

inline std::string_view text_member(JsonObject object, std::string_view key) {
  return as_text(member(object, key), key);
}
inline JsonObject object_member(JsonObject object, std::string_view key) {
  return as_object(member(object, key), key);
}
inline JsonArray array_member(JsonObject object, std::string_view key) {
  return as_array(member(object, key), key);
}

// A union is an object with one member, whose key is the tag.
struct Tagged {
  std::string_view tag;
  Json value;
};
inline Tagged as_tagged(Json json, std::string_view what) {
  const JsonObject object = as_object(json, what);
  const auto first = object.begin();
  if (first == object.end()) wrong_shape(what, "a tagged value");
  return {first.key(), first.value()};
}

}  // namespace sardonyx::pt2
