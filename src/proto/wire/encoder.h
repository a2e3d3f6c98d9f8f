// Protobuf's wire format with 64-bit lengths. The same description of a message runs twice: first
// to measure the messages inside it, then to write them, each after its length.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string_view>

#include "proto/wire/stream.h"

namespace sardonyx::proto {

class Encoder {
 public:
  // Measures: body(encoder) is run without writing anything.
  Encoder() = default;

  // Bytes of what was encoded while measuring.
  std::int64_t size() const { return size_; }

  // From here on writes to the stream; the same calls must come again, in the same order.
  void start_writing(Stream& stream) {
    stream_ = &stream;
    next_ = lengths_.begin();
  }
  bool writing() const { return stream_ != nullptr; }

  void integer(std::uint32_t field, std::int64_t value) {
    // Negative numbers take ten bytes, as protobuf's int64 and int32 have it.
    prefixed(field, kVarint, static_cast<std::uint64_t>(value));
  }
  void real(std::uint32_t field, float value);
  void text(std::uint32_t field, std::string_view value);
  // Leaves the field out where the text is empty.
  void optional_text(std::uint32_t field, std::string_view value) {
    if (!value.empty()) text(field, value);
  }

  // Fields that were encoded before.
  void fields(std::string_view encoded) {
    if (writing()) {
      stream_->append(encoded);
    } else {
      size_ += static_cast<std::int64_t>(encoded.size());
    }
  }

  // A nested message; body() encodes its fields.
  template <typename Body>
  void message(std::uint32_t field, const Body& body) {
    if (writing()) {
      prefixed(field, kLengthDelimited, static_cast<std::uint64_t>(*next_++));
      body();
      return;
    }
    lengths_.push_back(0);
    std::int64_t& length = lengths_.back();  // a deque does not move its elements
    const std::int64_t outside = size_;
    size_ = 0;
    body();
    length = size_;
    size_ = outside;
    prefixed(field, kLengthDelimited, static_cast<std::uint64_t>(length));
    size_ += length;
  }

  // A bytes field of `length`; put(stream) writes exactly that many.
  template <typename Put>
  void bytes(std::uint32_t field, std::int64_t length, const Put& put) {
    prefixed(field, kLengthDelimited, static_cast<std::uint64_t>(length));
    if (writing()) {
      put(*stream_);
    } else {
      size_ += length;
    }
  }

 private:
  static constexpr std::uint32_t kVarint = 0;
  static constexpr std::uint32_t kLengthDelimited = 2;
  static constexpr std::uint32_t kFixed32 = 5;
  static constexpr std::size_t kLongestVarint = 10;

  static std::int64_t varint_size(std::uint64_t value) {
    return (static_cast<std::int64_t>(std::bit_width(value | 1)) + 6) / 7;
  }
  static std::byte* put_varint(std::byte* at, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) *at++ = static_cast<std::byte>((value & 0x7f) | 0x80);
    *at++ = static_cast<std::byte>(value);
    return at;
  }
  void prefixed(std::uint32_t field, std::uint32_t wire_type, std::uint64_t value) {
    const std::uint64_t tag = (std::uint64_t{field} << 3) | wire_type;
    if (!writing()) {
      size_ += varint_size(tag) + varint_size(value);
      return;
    }
    std::byte* const start = stream_->reserve(2 * kLongestVarint);
    const std::byte* const end = put_varint(put_varint(start, tag), value);
    stream_->commit(static_cast<std::size_t>(end - start));
  }

  Stream* stream_ = nullptr;
  std::int64_t size_ = 0;
  std::deque<std::int64_t> lengths_;  // of the messages, in the order they begin
  std::deque<std::int64_t>::const_iterator next_;
};

inline void Encoder::real(std::uint32_t field, float value) {
  const std::uint64_t tag = (std::uint64_t{field} << 3) | kFixed32;
  if (!writing()) {
    size_ += varint_size(tag) + 4;
    return;
  }
  std::byte* const start = stream_->reserve(kLongestVarint + 4);
  std::byte* const at = put_varint(start, tag);
  std::memcpy(at, &value, 4);
  stream_->commit(static_cast<std::size_t>(at + 4 - start));
}

inline void Encoder::text(std::uint32_t field, std::string_view value) {
  prefixed(field, kLengthDelimited, value.size());
  if (writing()) {
    stream_->append(value);
  } else {
    size_ += static_cast<std::int64_t>(value.size());
  }
}

}  // namespace sardonyx::proto
