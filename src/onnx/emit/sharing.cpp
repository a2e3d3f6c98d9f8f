#include "onnx/emit/sharing.h"

#include <fmt/format.h>

#include <algorithm>

#include "onnx/gen/op.h"
#include "onnx/operators/traits.h"

namespace sardonyx::onnx {
namespace {

void append_bytes(std::string& key, const void* data, std::size_t size) {
  key.append(static_cast<const char*>(data), size);
}

template <typename T>
void append_list(std::string& key, const std::vector<T>& values) {
  key += std::to_string(values.size());
  append_bytes(key, values.data(), values.size() * sizeof(T));
}

// False where equal content cannot be told or does not mean the same.
bool append_attribute(std::string& key, const Attribute& attribute) {
  key += attribute.name;
  key += static_cast<char>(attribute.data.index());
  if (const auto* number = std::get_if<std::int64_t>(&attribute.data))
    append_bytes(key, number, sizeof(*number));
  else if (const auto* real = std::get_if<float>(&attribute.data))
    append_bytes(key, real, sizeof(*real));
  else if (const auto* dtype = std::get_if<DType>(&attribute.data))
    append_bytes(key, dtype, sizeof(*dtype));
  else if (const auto* text = std::get_if<std::string>(&attribute.data))
    key += fmt::format("{}:{}", text->size(), *text);
  else if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&attribute.data))
    append_list(key, *ints);
  else if (const auto* floats = std::get_if<std::vector<float>>(&attribute.data))
    append_list(key, *floats);
  else if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute.data))
    for (const std::string& one : *texts) key += fmt::format("{}:{}", one.size(), one);
  else if (const auto* tensor = std::get_if<std::shared_ptr<const Tensor>>(&attribute.data)) {
    if (*tensor == nullptr) return false;  // a reference, or a file that does not say it
    const Tensor& t = **tensor;
    if (!t.strings.empty() || !t.contiguous() || t.byte_count() > 256) return false;
    key += static_cast<char>(t.dtype);
    append_list(key, t.dims);
    if (t.data != nullptr) append_bytes(key, t.data, static_cast<std::size_t>(t.byte_count()));
  } else {
    return false;  // bodies
  }
  return true;
}

}  // namespace

std::string sharing_key(const Operator& op, std::span<const Value> inputs,
                        std::span<const Attribute> attributes, std::size_t outputs) {
  if (op.random || op.id == Op::kIdentity) return {};
  std::string key;
  const auto id = static_cast<std::uint32_t>(op.id);
  append_bytes(key, &id, sizeof(id));
  append_bytes(key, &outputs, sizeof(outputs));
  std::vector<std::uint32_t> numbers;
  for (const Value input : inputs) numbers.push_back(input ? input->id : ~std::uint32_t{0});
  if (has_trait(op.id, Trait::kCommutes)) std::ranges::sort(numbers);
  append_bytes(key, numbers.data(), numbers.size() * sizeof(std::uint32_t));
  for (const Attribute& attribute : attributes)
    if (!append_attribute(key, attribute)) return {};
  return key;
}

}  // namespace sardonyx::onnx
