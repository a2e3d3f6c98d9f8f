#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>

#include "onnx/gen/op.h"
#include "refresh/record.h"

namespace sardonyx::refresh {
namespace {

// FNV-1a.
class Hash {
 public:
  void add(std::string_view text) {
    for (const char each : text) add_byte(static_cast<unsigned char>(each));
    add_byte(0xff);  // in no UTF-8
  }
  void add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8)
      add_byte(static_cast<unsigned char>(number >> shift));
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3ULL; }

  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

void add(Hash& hash, const onnx::Attribute& attribute) {
  hash.add(attribute.name);
  hash.add(attribute.data.index());
  const auto number = [&](auto each) {
    if constexpr (std::is_same_v<decltype(each), float>)
      hash.add(std::uint64_t{std::bit_cast<std::uint32_t>(each)});
    else
      hash.add(static_cast<std::uint64_t>(each));
  };
  // Tensors and bodies are left out: the latter have names of their own once they are read.
  if (const auto* one = std::get_if<std::int64_t>(&attribute.data)) number(*one);
  if (const auto* one = std::get_if<float>(&attribute.data)) number(*one);
  if (const auto* one = std::get_if<std::string>(&attribute.data)) hash.add(*one);
  if (const auto* all = std::get_if<std::vector<std::int64_t>>(&attribute.data))
    for (const std::int64_t each : *all) number(each);
  if (const auto* all = std::get_if<std::vector<float>>(&attribute.data))
    for (const float each : *all) number(each);
}

void add(Hash& hash, const onnx::Node& node) {
  hash.add(node.op_type);
  hash.add(node.domain);
  std::size_t count = node.inputs.size();
  while (count > 0 && node.inputs[count - 1] == nullptr) --count;
  for (std::size_t i = 0; i < count; ++i)
    hash.add(node.inputs[i] == nullptr ? std::string_view() : node.inputs[i]->name);
  hash.add("->");
  for (const onnx::ValueInfo* output : node.outputs)
    if (output != nullptr) hash.add(output->name);
  for (const onnx::Attribute& each : node.attributes) {
    // An element type is an integer in a file.
    if (const auto* type = std::get_if<base::DType>(&each.data))
      add(hash, {each.name, static_cast<std::int64_t>(*type), {}});
    else
      add(hash, each);
  }
}

}  // namespace

std::string structure_of(const onnx::Model& model) {
  Hash hash;
  for (const onnx::Node* node = model.graph->first; node != nullptr; node = node->next)
    if (!node->is(onnx::Op::kConstant)) add(hash, *node);
  for (const onnx::ValueInfo* output : model.graph->outputs) hash.add(output->name);
  return fmt::format("{:016x}", hash.value());
}

std::string type_text(base::DType dtype, const std::vector<std::int64_t>& dims) {
  return fmt::format("{}[{}]", base::dtype_name(dtype), fmt::join(dims, ","));
}

}  // namespace sardonyx::refresh
