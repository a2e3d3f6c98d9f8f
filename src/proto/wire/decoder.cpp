#include "proto/wire/decoder.h"

#include <cstring>
#include <string>

#include <protozero/exception.hpp>
#include <protozero/varint.hpp>

#include "base/diagnostic.h"

namespace sardonyx::proto {
namespace {

[[noreturn]] void corrupt(std::string reason) {
  base::fail("SX1151", "this is no ONNX model, or it is corrupt: " + std::move(reason));
}

}  // namespace

bool Decoder::next() {
  if (pending_) skip();
  if (at_ == end_) return false;
  field_start_ = at_;
  const std::uint64_t tag = varint();
  constexpr std::uint64_t kLargestField = (1U << 29) - 1;
  const std::uint64_t number = tag >> 3;
  if (number == 0 || number > kLargestField) corrupt("a field has an impossible number");
  const auto wire = static_cast<unsigned>(tag & 7);
  if (wire != 0 && wire != 1 && wire != 2 && wire != 5)
    corrupt("field " + std::to_string(number) + " has wire type " + std::to_string(wire));
  field_ = static_cast<std::uint32_t>(number);
  wire_ = static_cast<Wire>(wire);
  pending_ = true;
  return true;
}

std::uint64_t Decoder::varint() {
  try {
    return protozero::decode_varint(&at_, end_);
  } catch (const protozero::exception& error) {
    corrupt(error.what());
  }
}

std::string_view Decoder::take(std::uint64_t size) {
  const auto left = static_cast<std::uint64_t>(end_ - at_);
  if (size > left)
    corrupt("field " + std::to_string(field_) + " ends " + std::to_string(size - left) +
            " bytes beyond what holds it");
  const std::string_view bytes(at_, size);
  at_ += size;
  return bytes;
}

void Decoder::expect(Wire wire) {
  if (wire_ != wire)
    corrupt("field " + std::to_string(field_) + " has wire type " +
            std::to_string(static_cast<unsigned>(wire_)) + " instead of " +
            std::to_string(static_cast<unsigned>(wire)));
  pending_ = false;
}

void Decoder::skip() {
  pending_ = false;
  switch (wire_) {
    case Wire::kVarint:
      varint();
      break;
    case Wire::kFixed64:
      take(8);
      break;
    case Wire::kLengthDelimited:
      take(varint());
      break;
    case Wire::kFixed32:
      take(4);
      break;
  }
}

std::int64_t Decoder::integer() {
  expect(Wire::kVarint);
  return static_cast<std::int64_t>(varint());
}

float Decoder::real() {
  expect(Wire::kFixed32);
  float value;
  std::memcpy(&value, take(4).data(), 4);
  return value;
}

std::string_view Decoder::text() {
  expect(Wire::kLengthDelimited);
  return take(varint());
}

std::string_view Decoder::whole() {
  skip();
  return {field_start_, static_cast<std::size_t>(at_ - field_start_)};
}

void Decoder::integers(std::vector<std::int64_t>& to) {
  if (wire_ != Wire::kLengthDelimited) {
    to.push_back(integer());
    return;
  }
  const std::string_view packed = text();
  Decoder inside(packed);
  while (inside.at_ != inside.end_) to.push_back(static_cast<std::int64_t>(inside.varint()));
}

template <typename Real>
void Decoder::append_reals(std::vector<Real>& to, Wire single) {
  const bool packed = wire_ == Wire::kLengthDelimited;
  if (!packed) expect(single);
  pending_ = false;
  const std::string_view bytes = packed ? take(varint()) : take(sizeof(Real));
  if (bytes.size() % sizeof(Real) != 0)
    corrupt("field " + std::to_string(field_) + " ends within a number");
  if (bytes.empty()) return;
  const std::size_t before = to.size();
  to.resize(before + bytes.size() / sizeof(Real));
  std::memcpy(to.data() + before, bytes.data(), bytes.size());
}

void Decoder::reals(std::vector<float>& to) { append_reals(to, Wire::kFixed32); }
void Decoder::reals(std::vector<double>& to) { append_reals(to, Wire::kFixed64); }

}  // namespace sardonyx::proto
