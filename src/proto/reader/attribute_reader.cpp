#include "proto/reader/attribute_reader.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "base/diagnostic.h"
#include "proto/wire/decoder.h"

namespace sardonyx::proto {
namespace {

using onnx::Attribute;

// Every field that an attribute may have; its type says which one counts.
struct Raw {
  std::string name, reference;
  AttributeType type = AttributeType::kUndefined;
  AttributeType seen = AttributeType::kUndefined;  // by the fields that are there
  float real = 0;
  std::int64_t integer = 0;
  std::string text;
  std::string_view tensor;
  std::vector<float> reals;
  std::vector<std::int64_t> integers;
  std::vector<std::string> texts;
  std::vector<std::string_view> graph, graphs;
  std::string further;  // fields that have no place here
};

void read_value(Decoder& in, Raw& raw) {
  namespace f = field::attribute;
  switch (in.field()) {
    case f::kFloat:
      raw.real = in.real();
      raw.seen = AttributeType::kFloat;
      break;
    case f::kInt:
      raw.integer = in.integer();
      raw.seen = AttributeType::kInt;
      break;
    case f::kString:
      raw.text = in.text();
      raw.seen = AttributeType::kString;
      break;
    case f::kTensor:
      raw.tensor = in.text();
      raw.seen = AttributeType::kTensor;
      break;
    case f::kGraph:
      raw.graph.assign(1, in.text());
      raw.seen = AttributeType::kGraph;
      break;
    case f::kFloats:
      in.reals(raw.reals);
      raw.seen = AttributeType::kFloats;
      break;
    case f::kInts:
      in.integers(raw.integers);
      raw.seen = AttributeType::kInts;
      break;
    case f::kStrings:
      raw.texts.emplace_back(in.text());
      raw.seen = AttributeType::kStrings;
      break;
    case f::kGraphs:
      raw.graphs.push_back(in.text());
      raw.seen = AttributeType::kGraphs;
      break;
    default:
      raw.further += in.whole();
      break;
  }
}

Raw read_fields(std::string_view message) {
  namespace f = field::attribute;
  Raw raw;
  for (Decoder in(message); in.next();) {
    switch (in.field()) {
      case f::kName:
        raw.name = in.text();
        break;
      case f::kReference:
        raw.reference = in.text();
        break;
      case f::kType:
        raw.type = static_cast<AttributeType>(in.integer() & 0xff);
        break;
      default:
        read_value(in, raw);
        break;
    }
  }
  // The first version of the format had no type field.
  if (raw.type == AttributeType::kUndefined) raw.type = raw.seen;
  return raw;
}

Attribute::Data data_of(Raw& raw, DataSource& source) {
  switch (raw.type) {
    case AttributeType::kFloat:
      return raw.real;
    case AttributeType::kInt:
      return raw.integer;
    case AttributeType::kString:
      return std::move(raw.text);
    case AttributeType::kTensor:
      if (!raw.reference.empty()) return std::shared_ptr<const onnx::Tensor>();
      return std::make_shared<const onnx::Tensor>(read_tensor(raw.tensor, source).tensor);
    case AttributeType::kFloats:
      return std::move(raw.reals);
    case AttributeType::kInts:
      return std::move(raw.integers);
    case AttributeType::kStrings:
      return std::move(raw.texts);
    case AttributeType::kGraph:
      return static_cast<onnx::Graph*>(nullptr);
    case AttributeType::kGraphs:
      return std::vector<onnx::Graph*>();
    default:
      // Tensors, sparse tensors and types: only carried through.
      return onnx::Opaque{static_cast<std::int64_t>(raw.type), std::move(raw.further)};
  }
}

}  // namespace

ReadAttribute read_attribute(std::string_view message, DataSource& source) {
  Raw raw = read_fields(message);
  ReadAttribute result;
  result.type = raw.type;
  if (raw.type == AttributeType::kGraph) result.graphs = std::move(raw.graph);
  if (raw.type == AttributeType::kGraphs) result.graphs = std::move(raw.graphs);
  result.attribute.data = data_of(raw, source);
  result.attribute.name = std::move(raw.name);
  result.attribute.reference = std::move(raw.reference);
  if (!std::holds_alternative<onnx::Opaque>(result.attribute.data))
    result.attribute.carried = std::move(raw.further);
  return result;
}

}  // namespace sardonyx::proto
