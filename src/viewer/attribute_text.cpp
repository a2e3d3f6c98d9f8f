#include "viewer/attribute_text.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/dtype.h"

namespace sardonyx::viewer {
namespace {

constexpr std::size_t kMaxEntries = 16;
constexpr std::size_t kMaxLetters = 80;

struct Text {
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(float value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const {
    return "\"" + value.substr(0, kMaxLetters) + (value.size() > kMaxLetters ? "...\"" : "\"");
  }
  std::string operator()(const std::shared_ptr<const onnx::Tensor>& value) const {
    return value == nullptr ? "a tensor"
                            : fmt::format("{}[{}]", base::dtype_name(value->dtype),
                                          fmt::join(value->dims, ", "));
  }
  std::string operator()(const onnx::Graph* /*value*/) const { return "a graph"; }
  std::string operator()(base::DType value) const { return std::string(base::dtype_name(value)); }
  std::string operator()(const onnx::Opaque& /*value*/) const { return "a value of another kind"; }
  template <class Entry>
  std::string operator()(const std::vector<Entry>& values) const {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < values.size() && i < kMaxEntries; ++i)
      texts.push_back((*this)(values[i]));
    if (values.size() > kMaxEntries) texts.emplace_back("...");
    return fmt::format("[{}]", fmt::join(texts, ", "));
  }
};

}  // namespace

std::string attribute_text(const onnx::Attribute& attribute) {
  if (!attribute.reference.empty()) return "@" + attribute.reference;
  return std::visit(Text(), attribute.data);
}

}  // namespace sardonyx::viewer
