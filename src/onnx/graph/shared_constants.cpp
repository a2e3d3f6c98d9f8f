#include "onnx/graph/shared_constants.h"

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mapped_file.h"
#include "onnx/graph/pieces.h"
#include "onnx/graph/recipe.h"

namespace sardonyx::onnx {
namespace {

using Constant = std::shared_ptr<const Tensor>;

bool is_plain(const Tensor& tensor) {
  return tensor.is_materialized() && tensor.contiguous() && tensor.data != nullptr;
}

bool same_pieces(Pieces& pieces, const std::byte* at) {
  std::vector<std::byte> made;
  for (std::size_t piece = 0; piece < pieces.count(); ++piece) {
    made.resize(pieces.size(piece));
    pieces.make(piece, made.data());
    if (std::memcmp(made.data(), at, made.size()) != 0) return false;
    at += made.size();
  }
  return true;
}

bool same_derivation(const Derived& step, const Tensor& source, const std::byte* at) {
  bool same = true;
  step.how->put(step.part, source, [&](std::span<const std::byte> piece) {
    same = same && std::memcmp(piece.data(), at, piece.size()) == 0;
    at += piece.size();
  });
  return same;
}

bool same_elements(const Tensor& tensor, const Tensor& plain) {
  if (is_plain(tensor))
    return tensor.data == plain.data ||
           std::memcmp(tensor.data, plain.data, static_cast<std::size_t>(plain.byte_count())) == 0;
  if (const Derived* step = derivation_of(tensor)) {
    const Tensor& source = *tensor.recipe->source;
    if (const auto pieces = step->how->pieces(step->part, source))
      return same_pieces(*pieces, plain.data);
    return same_derivation(*step, source, plain.data);
  }
  return tensor.data != nullptr && same_pieces(*pieces_of(tensor), plain.data);
}

bool same_type(const Tensor& a, const Tensor& b) { return a.dtype == b.dtype && a.dims == b.dims; }

using Known = std::unordered_map<std::string_view, Constant>;

// What the source has of the same type under another name; null where there is none. What is made
// of a weight has its name, and "_int4" or the like after it.
Constant counterpart(const ValueInfo& value, const WeightNames& names, const Known& known) {
  for (const auto& [weight, other] : names) {
    if (!value.name.starts_with(weight)) continue;
    const std::string rest = value.name.substr(weight.size());
    if (!rest.empty() && !rest.starts_with('_')) continue;
    const auto found = known.find(other + rest);
    if (found != known.end() && same_type(*value.constant, *found->second)) return found->second;
  }
  return nullptr;
}

}  // namespace

std::int64_t take_equal_constants(Model& model, const Model& source, const WeightNames& names,
                                  std::int64_t least) {
  const base::CutShortGuard guard;
  Known known;
  for (const ValueInfo* value : source.initializers)
    if (value->constant != nullptr && is_plain(*value->constant))
      known.emplace(value->name, value->constant);
  std::int64_t bytes = 0;
  for (ValueInfo* value : model.initializers) {
    if (value->constant == nullptr || value->constant->byte_count() < least) continue;
    const Constant other = counterpart(*value, names, known);
    if (other == nullptr || !same_elements(*value->constant, *other)) continue;
    value->constant = other;
    bytes += other->byte_count();
  }
  base::check_not_cut_short();
  return bytes;
}

}  // namespace sardonyx::onnx
