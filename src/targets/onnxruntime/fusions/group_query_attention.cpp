// Before: y, k', v' = Attention(RotaryEmbedding(q, cos, sin), RotaryEmbedding(k, cos, sin), v,
//                               mask, past_k, past_v)
// After:  y, k', v' = com.microsoft.GroupQueryAttention(q, k, v, past_k, past_v, lengths, total,
//                                                       cosines, sines)
// where the mask says that each token attends to itself and all before it, or so many of them.
// Queries, keys and values that are products of one factor are one product by their weights side by
// side, which the operator takes apart. `cosines` and `sines` have a row for every position; where
// the program computes angles of anything else, or knows no longest sequence, the embedding stays
// in front.
//
// The operator wants the keys of a row without gaps: `lengths` says how many there are, less one.
// What callers feed as attention_mask may have gaps anywhere, so that masks made of it are taken
// for a runtime alone that feeds none (`group_query_attention_as_fed`), and lengths come from it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rewriting/patch.h"
#include "rewriting/rewrite.h"
#include "targets/onnxruntime/fusions/angle_tables.h"
#include "targets/onnxruntime/fusions/attended_keys.h"
#include "targets/onnxruntime/fusions/fusions.h"
#include "targets/onnxruntime/fusions/packed_products.h"
#include "targets/onnxruntime/operators.h"

namespace sardonyx::targets {
namespace {

using base::DType;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;
using rewriting::made_by;
using rewriting::Patch;
using symbolic::Expr;

// The kernel reads heads by vectors of so many numbers, those that it turns by pairs of them.
constexpr std::int64_t kHeadUnit = 8;
constexpr std::int64_t kTurnedUnit = 16;
// Tables for more positions take too much of a file.
constexpr std::int64_t kMostPositions = std::int64_t{1} << 20;

enum Input : std::uint8_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue };

const ValueInfo* input_called(const onnx::Graph* graph, std::string_view name) {
  for (const ValueInfo* each : graph->inputs)
    if (each->name == name && each->has_rank && each->shape.size() == 2) return each;
  return nullptr;
}

struct Sizes {
  Expr batch, queries, past;
  std::int64_t heads = 0, groups = 0, head = 0;

  Expr total() const { return past + queries; }
};

std::optional<Sizes> sizes_of(const Node* attention) {
  const ValueInfo *query = attention->input(kQuery), *key = attention->input(kKey),
                  *value = attention->input(kValue), *past = attention->input(kPastKey);
  for (const ValueInfo* each : {query, key, value})
    if (each == nullptr || !each->has_rank || each->shape.size() != 3) return std::nullopt;
  Sizes sizes{query->shape[0],
              query->shape[1],
              0,
              attention->int_or("q_num_heads", 0),
              attention->int_or("kv_num_heads", 0),
              0};
  if (sizes.heads <= 0 || sizes.groups <= 0 || !query->shape[2].is_constant()) return std::nullopt;
  sizes.head = query->shape[2].value() / sizes.heads;
  if (past != nullptr) {
    if (!past->has_rank || past->shape.size() != 4) return std::nullopt;
    sizes.past = past->shape[2];
  }
  const bool known = sizes.batch.known() && sizes.queries.known() && sizes.past.known();
  return known ? std::optional(sizes) : std::nullopt;
}

// Why the kernel does not compute what the node does, whatever it attends to; empty where it does.
std::string_view hindrance(const Node* attention, const Sizes& sizes, bool fed) {
  const ValueInfo *query = attention->input(kQuery), *key = attention->input(kKey),
                  *value = attention->input(kValue);
  if (query->dtype != DType::kFloat32 && query->dtype != DType::kFloat16)
    return "there are kernels for float32 and float16 alone";
  if (attention->inputs.size() > 6 || attention->outputs.size() > 3)
    return "its scores are read, or its keys have lengths of their own";
  if (!fed && attention->input(kPastKey) == nullptr) return "without a cache others are quicker";
  if ((attention->input(kPastKey) == nullptr) != (attention->input(kPastValue) == nullptr))
    return "keys have a cache and values none";
  if (!(key->shape[1] == sizes.queries)) return "there are not as many new keys as queries";
  if (!key->shape[2].is(sizes.groups * sizes.head) ||
      !value->shape[2].is(sizes.groups * sizes.head))
    return "values are not as wide as keys";
  if (sizes.head % kHeadUnit != 0) return "heads are not of a multiple of 8";
  if (!fed && !sizes.batch.is(1))
    return "behind a cache its kernel takes several tokens for a batch of one alone, and this "
           "batch is not known to be one";
  return {};
}

std::optional<Attended> attended_by(const Node* attention, const Sizes& sizes,
                                    const rewriting::Feeds& feeds) {
  const ValueInfo* mask = attention->input(kMask);
  const bool causal = attention->int_or("is_causal", 0) != 0 && sizes.past.is(0);
  if (mask == nullptr)
    return causal || sizes.total().is(1) ? std::optional(Attended{}) : std::nullopt;
  return attention->int_or("is_causal", 0) == 0 ? attended_keys(mask, feeds) : std::nullopt;
}

struct Rotation {
  ValueInfo *query, *key, *cosines, *sines;
  bool interleaved;
};

class Fusing {
 public:
  Fusing(rewriting::RuleContext& context, Node* attention, const Sizes& sizes,
         const rewriting::Feeds& feeds)
      : context_(context),
        patch_(context, attention),
        attention_(attention),
        sizes_(sizes),
        feeds_(feeds) {}

  bool run(const Attended& attended) {
    const std::optional<Rotation> rotation = rotation_inside();
    std::vector<ValueInfo*> inputs = {attention_->input(kQuery), attention_->input(kKey),
                                      attention_->input(kValue), attention_->input(kPastKey),
                                      attention_->input(kPastValue)};
    if (rotation) {
      inputs[0] = rotation->query;
      inputs[1] = rotation->key;
    }
    pack(inputs);
    const auto [lengths, total] = key_counts();
    inputs.insert(inputs.end(), {lengths, total});
    if (rotation) inputs.insert(inputs.end(), {rotation->cosines, rotation->sines});
    const std::vector<ValueInfo*> made =
        patch_.nodes(microsoft::kCachedAttention, inputs, attributes(attended, rotation),
                     attention_->output()->name, 3);
    for (std::size_t i = 0; i < made.size(); ++i)
      if (attention_->output(i) != nullptr) patch_.replace(attention_->output(i), made[i]);
    return patch_.apply();
  }

 private:
  std::vector<onnx::Attribute> attributes(const Attended& attended,
                                          const std::optional<Rotation>& rotation) const {
    std::vector<onnx::Attribute> made = {{"num_heads", sizes_.heads, {}},
                                         {"kv_num_heads", sizes_.groups, {}}};
    for (const std::string_view kept : {"scale", "softcap"})
      if (const onnx::Attribute* found = attention_->find(kept)) made.push_back(*found);
    if (attended.window > 0) made.push_back({"local_window_size", attended.window, {}});
    if (!rotation) return made;
    made.push_back({"do_rotary", std::int64_t{1}, {}});
    if (rotation->interleaved) made.push_back({"rotary_interleaved", std::int64_t{1}, {}});
    return made;
  }

  // Queries, keys and values as one product, where they are products of one factor.
  void pack(std::vector<ValueInfo*>& inputs) {
    std::vector<AddedProduct> products;
    for (std::size_t i = 0; i < 3; ++i)
      if (const auto product = added_product(inputs[i])) products.push_back(*product);
    if (products.size() < 3 || !can_pack(products)) return;
    const std::string name = attention_->output()->name + "_packed";
    ValueInfo* result = patch_.node(
        Op::kMatMul, {products[0].x, packed(products, &AddedProduct::weight, patch_)}, {}, name);
    if (products[0].bias != nullptr)
      result = patch_.node(Op::kAdd, {result, packed(products, &AddedProduct::bias, patch_)}, {},
                           name + "_biased");
    inputs[0] = result;
    inputs[1] = inputs[2] = nullptr;
  }

  // The embedding that the kernel computes: of both, by the same tables.
  std::optional<Rotation> rotation_inside() {
    const Node *query = made_by(attention_->input(kQuery), Op::kRotaryEmbedding),
               *key = made_by(attention_->input(kKey), Op::kRotaryEmbedding);
    if (query == nullptr || key == nullptr || !rewriting::used_once(query->output()) ||
        !rewriting::used_once(key->output()))
      return std::nullopt;
    for (const std::string_view name : {"interleaved", "rotary_embedding_dim"})
      if (query->int_or(name, 0) != key->int_or(name, 0)) return std::nullopt;
    if (longest() > kMostPositions)
      return declined(query,
                      "no longest sequence is known, for which the kernel wants a table of "
                      "angles: give the length a max");
    if (sizes_.head % kTurnedUnit != 0)
      return declined(query, "the kernel turns heads of a multiple of 16");
    Rotation found{query->input(0), key->input(0), table(query, 1), table(query, 2),
                   query->int_or("interleaved", 0) != 0};
    if (found.cosines == nullptr || found.sines == nullptr || table(key, 1) != found.cosines ||
        table(key, 2) != found.sines)
      return declined(query, "its angles are not those of a token's place times constants");
    const Expr width = found.cosines->shape.back();
    if (!width.is_constant() || 2 * width.value() > sizes_.head ||
        2 * width.value() % kTurnedUnit != 0)
      return declined(query, "the kernel turns a multiple of 16 numbers of each head");
    return found;
  }

  std::optional<Rotation> declined(const Node* rotation, std::string reason) {
    context_.decline(rotation, std::move(reason));
    return std::nullopt;
  }

  // Of cosines (1) or sines (2); null where the kernel can have none.
  ValueInfo* table(const Node* rotation, std::size_t input) {
    ValueInfo* const given = rotation->input(input);
    if (rotation->input(3) == nullptr)
      return angle_table(given, longest(), feeds_, context_, patch_);
    return given->constant != nullptr && are_positions(rotation->input(3)) ? given : nullptr;
  }

  bool are_positions(const ValueInfo* value) const {
    const auto ramp = rewriting::ramp_of(value, feeds_);
    return ramp && ramp->steps == std::vector<std::int64_t>{0, 1} && ramp->start == feeds_.past;
  }

  std::int64_t longest() const {
    std::int64_t most = symbolic::range(sizes_.total()).high;
    if (feeds_.attention_mask != nullptr)
      most = std::min(most, symbolic::range(feeds_.attention_mask->shape[1]).high);
    return most;
  }

  // How many keys each row has, less one, and how many the longest has: made for the first layer.
  std::pair<ValueInfo*, ValueInfo*> key_counts() {
    for (const Node* node = attention_->previous; node != nullptr; node = node->previous)
      if (node->op_type == microsoft::kCachedAttention.name &&
          node->domain == microsoft::kCachedAttention.domain && counts_alike(node))
        return {node->input(5), node->input(6)};
    return feeds_.attention_mask != nullptr ? counts_as_fed() : counts_by_sizes();
  }

  bool counts_alike(const Node* other) const {
    const ValueInfo *query = other->input(0), *past = other->input(3);
    if (feeds_.attention_mask != nullptr) return true;
    return query->shape[0] == sizes_.batch && query->shape[1] == sizes_.queries &&
           (past == nullptr ? sizes_.past.is(0) : past->shape[2] == sizes_.past);
  }

  std::pair<ValueInfo*, ValueInfo*> counts_as_fed() {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): a patch reads values
    auto* mask = const_cast<ValueInfo*>(feeds_.attention_mask);
    ValueInfo* const sum = patch_.node(Op::kReduceSum, {as_int32(mask), patch_.ints({1})},
                                       {{"keepdims", std::int64_t{0}, {}}}, "key_counts");
    return {less_one(sum, "last_keys"), as_number(size(mask, 1))};
  }

  std::pair<ValueInfo*, ValueInfo*> counts_by_sizes() {
    ValueInfo* total = size(attention_->input(kQuery), 1);
    if (ValueInfo* past = attention_->input(kPastKey))
      total = patch_.node(Op::kAdd, {size(past, 2), total}, {}, "key_count");
    ValueInfo* last = less_one(as_int32(total), "last_key");
    if (!sizes_.batch.is(1))
      last = patch_.node(Op::kExpand, {last, size(attention_->input(kQuery), 0)}, {}, "last_keys");
    return {last, as_number(total)};
  }

  ValueInfo* as_int32(ValueInfo* value) {
    if (value == nullptr || value->dtype == DType::kInt32) return value;
    return patch_.cast(value, DType::kInt32);
  }

  ValueInfo* less_one(ValueInfo* value, std::string_view name) {
    return patch_.node(Op::kSub,
                       {value, patch_.constant(onnx::Tensor::filled_int(DType::kInt32, {}, 1))}, {},
                       name);
  }

  // [1]
  ValueInfo* size(ValueInfo* value, std::int64_t axis) {
    return patch_.node(Op::kShape, {value}, {{"start", axis, {}}, {"end", axis + 1, {}}},
                       value->name + "_size");
  }

  ValueInfo* as_number(ValueInfo* size) {
    return patch_.node(Op::kSqueeze, {as_int32(size), patch_.ints({0})}, {}, "total_key_count");
  }

  rewriting::RuleContext& context_;
  Patch patch_;
  Node* attention_;
  const Sizes& sizes_;
  const rewriting::Feeds& feeds_;
};

bool fuse(Node* attention, rewriting::RuleContext& context, bool fed) {
  const std::optional<Sizes> sizes = sizes_of(attention);
  if (!sizes) return context.decline(attention, "its heads are apart, or its sizes are not known");
  if (const std::string_view why = hindrance(attention, *sizes, fed); !why.empty())
    return context.decline(attention, std::string(why));
  rewriting::Feeds feeds{.past = sizes->past};
  if (fed) {
    feeds.attention_mask = input_called(context.model().graph, "attention_mask");
    feeds.position_ids = input_called(context.model().graph, "position_ids");
  }
  const std::optional<Attended> attended = attended_by(attention, *sizes, feeds);
  if (!attended)
    return context.decline(attention,
                           "its mask is not seen to be that of each token and those "
                           "before it");
  return Fusing(context, attention, *sizes, feeds).run(*attended);
}

bool fuse_any(Node* attention, rewriting::RuleContext& context) {
  return fuse(attention, context, /*fed=*/false);
}
bool fuse_as_fed(Node* attention, rewriting::RuleContext& context) {
  return fuse(attention, context, /*fed=*/true);
}

constexpr Op kRoots[] = {Op::kAttention};

}  // namespace

// Tables and packed weights take the place of what they are made of.
const rewriting::Rule kGroupQueryAttention = {"group-query-attention", kRoots, fuse_any, 23,
                                              /*changes_weights=*/true};
const rewriting::Rule kGroupQueryAttentionAsFed = {"group-query-attention-as-fed", kRoots,
                                                   fuse_as_fed, 23, /*changes_weights=*/true};

}  // namespace sardonyx::targets
