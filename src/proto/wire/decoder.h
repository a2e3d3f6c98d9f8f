// Protobuf's wire format, read without trust: every length is compared with what is left.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sardonyx::proto {

// The fields of one message, in the order they come:
//
//   for (Decoder in(bytes); in.next();) switch (in.field()) {
//     case kName: name = in.text(); break;
//   }
//
// A field that is not read, or comes in another wire type than asked for, is skipped or refused
// (SX1151) respectively.
class Decoder {
 public:
  explicit Decoder(std::string_view message) : at_(message.data()), end_(at_ + message.size()) {}

  // Goes to the next field; false at the end.
  bool next();
  std::uint32_t field() const { return field_; }

  std::int64_t integer();  // int32, int64, bool or an enumeration
  float real();
  std::string_view text();   // string, bytes or a nested message; borrowed
  std::string_view whole();  // the field with its tag, as it stands; borrowed

  // One element of a repeated field or, where they are packed, all of them; added to `to`.
  void integers(std::vector<std::int64_t>& to);
  void reals(std::vector<float>& to);
  void reals(std::vector<double>& to);

 private:
  enum class Wire : std::uint8_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

  std::uint64_t varint();
  std::string_view take(std::uint64_t size);
  void expect(Wire wire);
  void skip();
  template <typename Real>
  void append_reals(std::vector<Real>& to, Wire single);

  const char* at_;
  const char* field_start_ = nullptr;
  const char* end_;
  std::uint32_t field_ = 0;
  Wire wire_ = Wire::kVarint;
  bool pending_ = false;  // the present field's value has not been read
};

}  // namespace sardonyx::proto
