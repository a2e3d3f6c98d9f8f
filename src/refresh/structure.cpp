#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

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

// Values of the main graph have their names. Those of bodies are numbered as they come: a body that
// is read has other names, and copies of constants.
class Structure {
 public:
  std::string of(const onnx::Model& model) {
    for (const onnx::Function& function : model.functions) add(function);
    add_nodes(*model.graph, 0);
    for (const onnx::ValueInfo* output : model.graph->outputs) add(output, 0);
    return fmt::format("{:016x}", hash_.value());
  }

 private:
  void add(const onnx::Function& function) {
    hash_.add(function.domain);
    hash_.add(function.name);
    hash_.add(function.overload);
    if (function.body != nullptr) add_body(*function.body, 1);
  }

  void add_body(const onnx::Graph& body, int depth) {
    hash_.add("(");
    for (const onnx::ValueInfo* input : body.inputs) number(input);
    add_nodes(body, depth);
    for (const onnx::ValueInfo* output : body.outputs) add(output, depth);
    hash_.add(")");
  }

  void add_nodes(const onnx::Graph& graph, int depth) {
    for (const onnx::Node* node = graph.first; node != nullptr; node = node->next)
      if (!node->is(onnx::Op::kConstant)) add(*node, depth);
  }

  void add(const onnx::Node& node, int depth) {
    hash_.add(node.op_type);
    hash_.add(node.domain);
    std::size_t count = node.inputs.size();
    while (count > 0 && node.inputs[count - 1] == nullptr) --count;
    for (std::size_t i = 0; i < count; ++i) add(node.inputs[i], depth);
    hash_.add("->");
    for (const onnx::ValueInfo* output : node.outputs) {
      if (output == nullptr) continue;
      if (depth == 0)
        hash_.add(output->name);
      else
        number(output);
    }
    for (const onnx::Attribute& each : node.attributes) add(each, depth);
  }

  void number(const onnx::ValueInfo* value) { numbers_.emplace(value, numbers_.size()); }

  void add(const onnx::ValueInfo* value, int depth) {
    if (value == nullptr) return hash_.add("");
    if (const auto found = numbers_.find(value); found != numbers_.end())
      return hash_.add(std::uint64_t{found->second});
    if (depth > 0 && value->constant != nullptr)
      return hash_.add(type_text(value->constant->dtype, value->constant->dims));
    hash_.add(value->name);
  }

  void add(const onnx::Attribute& attribute, int depth) {
    // An element type is an integer in a file.
    if (const auto* type = std::get_if<base::DType>(&attribute.data))
      return add({attribute.name, static_cast<std::int64_t>(*type), {}}, depth);
    hash_.add(attribute.name);
    hash_.add(attribute.data.index());
    std::visit([&](const auto& data) { add_data(data, depth); }, attribute.data);
  }

  void add_data(std::int64_t number, int /*depth*/) {
    hash_.add(static_cast<std::uint64_t>(number));
  }
  void add_data(float number, int /*depth*/) {
    hash_.add(std::uint64_t{std::bit_cast<std::uint32_t>(number)});
  }
  void add_data(const std::string& text, int /*depth*/) { hash_.add(text); }
  void add_data(const std::shared_ptr<const onnx::Tensor>& tensor, int /*depth*/) {
    if (tensor == nullptr) return;
    hash_.add(type_text(tensor->dtype, tensor->dims));
    if (tensor->dtype == base::DType::kString || tensor->missing) return;
    const std::vector<std::byte> bytes = bytes_of(*tensor);
    hash_.add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  void add_data(onnx::Graph* body, int depth) {
    if (body != nullptr) add_body(*body, depth + 1);
  }
  void add_data(base::DType type, int /*depth*/) { hash_.add(static_cast<std::uint64_t>(type)); }
  void add_data(const onnx::Opaque& /*data*/, int /*depth*/) {}
  template <typename T>
  void add_data(const std::vector<T>& all, int depth) {
    for (const T& each : all) add_data(each, depth);
  }

  Hash hash_;
  std::unordered_map<const onnx::ValueInfo*, std::size_t> numbers_;
};

}  // namespace

std::string structure_of(const onnx::Model& model) { return Structure().of(model); }

std::string type_text(base::DType dtype, const std::vector<std::int64_t>& dims) {
  return fmt::format("{}[{}]", base::dtype_name(dtype), fmt::join(dims, ","));
}

}  // namespace sardonyx::refresh
