#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mutators.h"

namespace sardonyx::fuzz {
namespace {

constexpr std::size_t kRoom = 64;    // bytes that a field may grow by
constexpr int kDeepest = 12;         // messages in each other that are looked into
constexpr unsigned kLengthKind = 2;  // protobuf's wire type of bytes, texts and messages

// Takes a variable-length number from the front of `bytes`.
std::optional<std::uint64_t> take_number(std::string_view& bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    number |= static_cast<std::uint64_t>(byte & 0x7FU) << (7 * i);
    if ((byte & 0x80U) != 0) continue;
    bytes.remove_prefix(i + 1);
    return number;
  }
  return std::nullopt;
}

std::string number_text(std::uint64_t number) {
  std::string text;
  for (; number > 0x7F; number >>= 7) text += static_cast<char>(0x80 | (number & 0x7F));
  return text += static_cast<char>(number);
}

struct Field {
  std::uint64_t tag = 0;  // number and wire type
  std::string content;    // without its length

  std::string str() const {
    const bool has_length = tag % 8 == kLengthKind;
    return number_text(tag) + (has_length ? number_text(content.size()) : "") + content;
  }
};

std::optional<Field> take_field(std::string_view& bytes) {
  Field field;
  const auto tag = take_number(bytes);
  if (!tag || *tag < 8) return std::nullopt;
  field.tag = *tag;
  std::uint64_t size = 0;
  switch (*tag % 8) {
    case 0: {
      std::string_view rest = bytes;
      if (!take_number(rest)) return std::nullopt;
      size = bytes.size() - rest.size();
      break;
    }
    case 1:
      size = 8;
      break;
    case kLengthKind: {
      const auto length = take_number(bytes);
      if (!length) return std::nullopt;
      size = *length;
      break;
    }
    case 5:
      size = 4;
      break;
    default:
      return std::nullopt;
  }
  if (size > bytes.size()) return std::nullopt;
  field.content = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return field;
}

// Empty where the bytes are no message.
std::vector<Field> fields_of(std::string_view bytes) {
  std::vector<Field> fields;
  while (!bytes.empty()) {
    auto field = take_field(bytes);
    if (!field) return {};
    fields.push_back(std::move(*field));
  }
  return fields;
}

class Change {
 public:
  explicit Change(unsigned seed) : chance_(seed) {}

  std::string in(std::string_view bytes, int depth) {
    std::vector<Field> fields = fields_of(bytes);
    if (fields.empty()) return mutated(std::string(bytes), kRoom);
    const std::size_t at = chance_() % fields.size();
    Field& field = fields[at];
    const auto place = fields.begin() + static_cast<std::ptrdiff_t>(at);
    switch (chance_() % 16) {
      case 0:
        fields.erase(place);
        break;
      case 1:
        fields.insert(place, Field(field));
        break;
      case 2:
        std::swap(field, fields[chance_() % fields.size()]);
        break;
      case 3:
        field.tag = 8 * (1 + chance_() % 30) + field.tag % 8;
        break;
      default:
        if (field.tag % 8 == kLengthKind) {
          field.content = depth < kDeepest ? in(field.content, depth + 1)
                                           : mutated(std::move(field.content), kRoom);
        } else if (field.tag % 8 == 0) {
          field.content = number_text(number());
        } else {
          field.content[chance_() % field.content.size()] = static_cast<char>(chance_());
        }
    }
    std::string text;
    for (const Field& each : fields) text += each.str();
    return text;
  }

 private:
  // Small ones, which types and dimensions are, and those at which arithmetic overflows.
  std::uint64_t number() {
    const unsigned bits = chance_() % 65;
    const std::uint64_t edge = bits == 64 ? 0 : std::uint64_t{1} << bits;
    return chance_() % 2 == 0 ? chance_() % 30 : edge - chance_() % 2;
  }

  std::minstd_rand chance_;
};

}  // namespace

std::string mutate_message(std::string_view bytes, unsigned seed) {
  if (bytes.empty()) return {};
  return Change(seed).in(bytes, 0);
}

}  // namespace sardonyx::fuzz
