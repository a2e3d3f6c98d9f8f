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
// Sinks, which the canonical IR has as one more key (onnx/definitions/attention.h), are an input of
// the operator. Their keys have the cache in front by a Concat, and heads lie apart.
//
// Where heads lie apart in the program (they are normalized, or turned in part), they are put side
// by side in front of the operator, and apart again behind it.
//
// A provider whose kernel neither turns nor takes packed ones (DirectML) has RotaryEmbedding of
// com.microsoft in front, and the three apart (`group_query_attention_apart`).
//
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

#include "onnx/definitions/attention.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"
#include "targets/onnxruntime/fusions/angle_tables.h"
#include "targets/onnxruntime/fusions/attended_keys.h"
#include "targets/onnxruntime/fusions/fusions.h"
#include "targets/onnxruntime/fusions/packed_products.h"
#include "targets/onnxruntime/workarounds/operators.h"

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
constexpr std::size_t kSinks = 11;  // the operator's input
// Tables for more positions take too much of a file.
constexpr std::int64_t kMaxPositions = std::int64_t{1} << 20;

enum Input : std::uint8_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue };

// An Attention as the operator would take it, heads side by side: [batch, length, heads * size].
struct Asked {
  std::array<ValueInfo*, 6> inputs{};  // as Attention has them
  std::array<ValueInfo*, 3> outputs{};
  ValueInfo* sinks = nullptr;
  std::int64_t heads = 0, groups = 0;
  bool apart = false;  // queries, keys and values are [batch, heads, length, size]

  ValueInfo* operator[](Input input) const { return inputs[input]; }

  const Expr& length(Input input) const { return inputs[input]->shape[apart ? 2 : 1]; }
};

// [batch, length, heads * size] of [batch, heads, length, size].
ValueInfo* joined(const ValueInfo* apart) {
  const Node* turned = made_by(apart, Op::kTranspose);
  const auto* order = turned == nullptr ? nullptr : turned->ints("perm");
  const Node* reshape = turned == nullptr ? nullptr : made_by(turned->input(0), Op::kReshape);
  if (reshape == nullptr || order == nullptr || *order != std::vector<std::int64_t>{0, 2, 1, 3})
    return nullptr;
  ValueInfo* const rows = reshape->input(0);
  const onnx::Shape& heads = apart->shape;
  if (!rows->has_rank || rows->shape.size() != 3 || !apart->has_rank || heads.size() != 4 ||
      !(rows->shape[0] == heads[0]) || !(rows->shape[1] == heads[2]) ||
      !(rows->shape[2] == heads[1] * heads[3]))
    return nullptr;
  return rows;
}

// What becomes of [batch, heads, length, size] alone: the same side by side.
ValueInfo* joined_by_reader(const ValueInfo* apart) {
  if (!rewriting::used_once(apart)) return nullptr;
  const Node* turned = apart->uses.front().node;
  if (!turned->is(Op::kTranspose) || !rewriting::used_once(turned->output())) return nullptr;
  const Node* reshape = turned->output()->uses.front().node;
  ValueInfo* const rows = reshape->output();
  const auto* order = turned->ints("perm");
  if (!reshape->is(Op::kReshape) || order == nullptr ||
      *order != std::vector<std::int64_t>{0, 2, 1, 3} || !rows->has_rank ||
      rows->shape.size() != 3 || !apart->has_rank || apart->shape.size() != 4 ||
      !(rows->shape[1] == apart->shape[2]) ||
      !(rows->shape[2] == apart->shape[1] * apart->shape[3]))
    return nullptr;
  return rows;
}

// New keys or values, side by side, and the cache before them.
bool take_apart(ValueInfo* all, Input now, Input past, std::size_t output, Asked& asked) {
  const Node* join = made_by(all, Op::kConcat);
  if (join == nullptr) {
    asked.inputs[now] = joined(all);
    return asked.inputs[now] != nullptr;
  }
  if (join->inputs.size() != 2 || (join->int_or("axis", 0) != 2 && join->int_or("axis", 0) != -2))
    return false;
  asked.inputs[past] = join->input(0);
  asked.inputs[now] = joined(join->input(1));
  asked.outputs[output] = all;
  return asked.inputs[now] != nullptr;
}

std::optional<Asked> asked_with_sinks(const Node* attention) {
  const onnx::WithSinks parts = onnx::sinks_of(attention);
  const ValueInfo* query = attention->input(kQuery);
  if (parts.sinks == nullptr || query == nullptr || !query->has_rank || query->shape.size() != 4 ||
      attention->inputs.size() > 4 || attention->outputs.size() > 1 || !parts.key->has_rank ||
      parts.key->shape.size() != 4 || !query->shape[1].is_constant() ||
      !parts.key->shape[1].is_constant() || attention->int_or("is_causal", 0) != 0)
    return std::nullopt;
  Asked asked;
  asked.sinks = parts.sinks;
  asked.heads = query->shape[1].value();
  asked.groups = parts.key->shape[1].value();
  asked.inputs[kQuery] = joined(query);
  asked.inputs[kMask] = parts.mask;
  asked.outputs[0] = joined_by_reader(attention->output());
  if (asked.inputs[kQuery] == nullptr || asked.outputs[0] == nullptr ||
      !take_apart(parts.key, kKey, kPastKey, 1, asked) ||
      !take_apart(parts.value, kValue, kPastValue, 2, asked))
    return std::nullopt;
  return asked;
}

bool has_heads_apart(const ValueInfo* value) {
  return value != nullptr && value->has_rank && value->shape.size() == 4 &&
         value->shape[1].is_constant() && value->shape[3].is_constant();
}

// The cache in front of new keys or values with heads apart, where a Concat puts it there.
void split_from_cache(Input now, Input past, std::size_t output, Asked& asked) {
  ValueInfo* const all = asked[now];
  const Node* join = made_by(all, Op::kConcat);
  if (asked[past] != nullptr || join == nullptr || join->inputs.size() != 2 ||
      (join->int_or("axis", 0) != 2 && join->int_or("axis", 0) != -2) ||
      !has_heads_apart(join->input(1)))
    return;
  asked.inputs[past] = join->input(0);
  asked.inputs[now] = join->input(1);
  asked.outputs[output] = all;
}

Asked asked_of(const Node* attention, bool may_be_apart) {
  Asked asked;
  for (std::size_t i = 0; i < asked.inputs.size(); ++i) asked.inputs[i] = attention->input(i);
  for (std::size_t i = 0; i < asked.outputs.size(); ++i) asked.outputs[i] = attention->output(i);
  asked.heads = attention->int_or("q_num_heads", 0);
  asked.groups = attention->int_or("kv_num_heads", 0);
  asked.apart = may_be_apart && has_heads_apart(asked[kQuery]) && has_heads_apart(asked[kKey]) &&
                has_heads_apart(asked[kValue]);
  if (asked.apart) {
    asked.heads = asked[kQuery]->shape[1].value();
    asked.groups = asked[kKey]->shape[1].value();
    if (asked.outputs[1] == nullptr && asked.outputs[2] == nullptr) {
      split_from_cache(kKey, kPastKey, 1, asked);
      split_from_cache(kValue, kPastValue, 2, asked);
    }
  }
  return asked;
}

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

std::optional<Sizes> sizes_of(const Asked& asked) {
  const ValueInfo *query = asked[kQuery], *key = asked[kKey], *value = asked[kValue],
                  *past = asked[kPastKey];
  const std::size_t rank = asked.apart ? 4 : 3;
  for (const ValueInfo* each : {query, key, value})
    if (each == nullptr || !each->has_rank || each->shape.size() != rank) return std::nullopt;
  Sizes sizes{query->shape[0], asked.length(kQuery), 0, asked.heads, asked.groups, 0};
  const Expr width = query->shape.back();
  if (sizes.heads <= 0 || sizes.groups <= 0 || !width.is_constant()) return std::nullopt;
  sizes.head = asked.apart ? width.value() : width.value() / sizes.heads;
  if (past != nullptr) {
    if (!past->has_rank || past->shape.size() != 4) return std::nullopt;
    sizes.past = past->shape[2];
  }
  const bool known = sizes.batch.known() && sizes.queries.known() && sizes.past.known();
  return known ? std::optional(sizes) : std::nullopt;
}

// What a provider's kernel does, and what its callers feed.
struct KernelForm {
  bool is_fed = false;             // as onnxruntime-genai feeds it
  bool turns_and_packs = true;     // with the embedding, and of one product
  bool looks_at_all_only = false;  // no window, softcap or sinks
};

// Why the kernel does not compute what the node does, whatever it attends to; empty where it does.
std::string_view hindrance(const Node* attention, const Asked& asked, const Sizes& sizes,
                           const KernelForm& form) {
  const ValueInfo *query = asked[kQuery], *key = asked[kKey], *value = asked[kValue];
  if (query->dtype != DType::kFloat32 && query->dtype != DType::kFloat16 &&
      query->dtype != DType::kBFloat16)
    return "there are kernels for float32, float16 and bfloat16 alone";
  if (form.looks_at_all_only && (asked.sinks != nullptr || attention->float_or("softcap", 0) != 0))
    return "the provider's kernel has neither sinks nor a softcap";
  if (attention->inputs.size() > 6 || attention->outputs.size() > 3)
    return "its scores are read, or its keys have lengths of their own";
  if (!form.is_fed && asked[kPastKey] == nullptr && asked.sinks == nullptr)
    return "without a cache others are quicker";
  if ((asked[kPastKey] == nullptr) != (asked[kPastValue] == nullptr))
    return "keys have a cache and values none";
  if (!(asked.length(kKey) == sizes.queries)) return "there are not as many new keys as queries";
  const std::int64_t width = asked.apart ? sizes.head : sizes.groups * sizes.head;
  if (!key->shape.back().is(width) || !value->shape.back().is(width))
    return "values are not as wide as keys";
  if (asked.apart && !value->shape[1].is(sizes.groups)) return "there are more values than keys";
  if (sizes.head % kHeadUnit != 0) return "heads are not of a multiple of 8";
  if (!form.is_fed && !sizes.batch.is(1))
    return "behind a cache its kernel takes several tokens for a batch of one alone, and this "
           "batch is not known to be one";
  return {};
}

std::optional<Attended> attended_by(const Node* attention, const Asked& asked, const Sizes& sizes,
                                    const rewriting::Feeds& feeds) {
  const ValueInfo* mask = asked[kMask];
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
  Fusing(rewriting::RuleContext& context, Node* attention, const Asked& asked, const Sizes& sizes,
         const rewriting::Feeds& feeds, const KernelForm& form)
      : context_(context),
        patch_(context, attention),
        attention_(attention),
        asked_(asked),
        sizes_(sizes),
        feeds_(feeds),
        form_(form) {}

  bool run(const Attended& attended) {
    const std::optional<Rotation> rotation = rotation_inside();
    std::vector<ValueInfo*> inputs = {asked_[kQuery], asked_[kKey], asked_[kValue],
                                      asked_[kPastKey], asked_[kPastValue]};
    if (rotation) {
      inputs[0] = rotation->query;
      inputs[1] = rotation->key;
    }
    for (std::size_t i = 0; i < 3; ++i) inputs[i] = side_by_side(inputs[i]);
    if (rotation) {
      inputs[0] = turned(*rotation, inputs[0], sizes_.heads);
      inputs[1] = turned(*rotation, inputs[1], sizes_.groups);
    }
    if (form_.turns_and_packs) pack(inputs);
    const auto [lengths, total] = key_counts();
    inputs.insert(inputs.end(), {lengths, total});
    const bool turns = rotation && form_.turns_and_packs;
    if (turns) inputs.insert(inputs.end(), {rotation->cosines, rotation->sines});
    if (asked_.sinks != nullptr) {
      inputs.resize(kSinks, nullptr);
      inputs.push_back(patch_.node(Op::kReshape, {asked_.sinks, patch_.ints({-1})}, {},
                                   asked_.sinks->name + "_of_heads"));
    }
    const std::vector<ValueInfo*> made = patch_.nodes(
        microsoft::kCachedAttention, inputs, attributes(attended, turns ? rotation : std::nullopt),
        attention_->output()->name, 3);
    for (std::size_t i = 1; i < made.size(); ++i)
      if (asked_.outputs[i] != nullptr) patch_.replace(asked_.outputs[i], made[i]);
    if (!made.empty()) give_result(made[0]);
    return patch_.apply();
  }

 private:
  ValueInfo* side_by_side(ValueInfo* value) {
    if (!asked_.apart) return value;
    if (ValueInfo* rows = joined(value)) return rows;
    const std::int64_t width = value->shape[1].value() * value->shape[3].value();
    ValueInfo* const turned =
        patch_.node(Op::kTranspose, {value}, swapped_axes(), value->name + "_rows");
    return patch_.node(Op::kReshape, {turned, patch_.ints({0, 0, width})}, {},
                       value->name + "_joined");
  }

  void give_result(ValueInfo* rows) {
    ValueInfo* const result = asked_.outputs[0];
    if (!asked_.apart) return patch_.replace(result, rows);
    if (ValueInfo* reader = joined_by_reader(result)) return patch_.replace(reader, rows);
    ValueInfo* const heads = patch_.node(
        Op::kReshape, {rows, patch_.ints({0, 0, sizes_.heads, sizes_.head})}, {}, result->name);
    patch_.replace(result, patch_.node(Op::kTranspose, {heads}, swapped_axes(), result->name));
  }

  static std::vector<onnx::Attribute> swapped_axes() {
    return {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}, {}}};
  }

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

  // Queries or keys as the kernel takes them: it turns them, or another operator in front does.
  ValueInfo* turned(const Rotation& rotation, ValueInfo* rows, std::int64_t heads) {
    if (form_.turns_and_packs) return rows;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): a patch reads values
    auto* positions = const_cast<ValueInfo*>(feeds_.position_ids);
    std::vector<onnx::Attribute> attributes = {{"num_heads", heads, {}}};
    if (rotation.interleaved) attributes.push_back({"interleaved", std::int64_t{1}, {}});
    return patch_
        .nodes(microsoft::kRotatedHeads, {rows, positions, rotation.cosines, rotation.sines},
               attributes, rows->name + "_turned", 1)
        .front();
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
    const Node *query = made_by(asked_[kQuery], Op::kRotaryEmbedding),
               *key = made_by(asked_[kKey], Op::kRotaryEmbedding);
    if (query == nullptr || key == nullptr || !rewriting::used_once(query->output()) ||
        !rewriting::used_once(key->output()))
      return std::nullopt;
    for (const std::string_view name : {"interleaved", "rotary_embedding_dim"})
      if (query->int_or(name, 0) != key->int_or(name, 0)) return std::nullopt;
    if (!form_.turns_and_packs && feeds_.position_ids == nullptr)
      return declined(query, "the model has no position_ids for the operator in front");
    if (longest() > kMaxPositions)
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
    if (!form_.turns_and_packs && 2 * width.value() != sizes_.head)
      return declined(query, "the operator in front turns whole heads");
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
    const auto index = rewriting::affine_index_of(value, feeds_);
    return index && index->steps == std::vector<std::int64_t>{0, 1} && index->start == feeds_.past;
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
    ValueInfo* total = size(asked_[kQuery], asked_.apart ? 2 : 1);
    if (ValueInfo* past = asked_[kPastKey])
      total = patch_.node(Op::kAdd, {size(past, 2), total}, {}, "key_count");
    ValueInfo* last = less_one(as_int32(total), "last_key");
    if (!sizes_.batch.is(1))
      last = patch_.node(Op::kExpand, {last, size(asked_[kQuery], 0)}, {}, "last_keys");
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
  const Asked& asked_;
  const Sizes& sizes_;
  const rewriting::Feeds& feeds_;
  const KernelForm& form_;
};

bool fuse(Node* attention, rewriting::RuleContext& context, const KernelForm& form) {
  const Asked asked = asked_with_sinks(attention).value_or(
      asked_of(attention, form.is_fed && form.turns_and_packs));
  const std::optional<Sizes> sizes = sizes_of(asked);
  if (!sizes) return context.decline(attention, "its heads are apart, or its sizes are not known");
  if (const std::string_view why = hindrance(attention, asked, *sizes, form); !why.empty())
    return context.decline(attention, std::string(why));
  rewriting::Feeds feeds{.past = sizes->past};
  if (form.is_fed) {
    feeds.attention_mask = input_called(context.model().graph, "attention_mask");
    feeds.position_ids = input_called(context.model().graph, "position_ids");
  }
  const std::optional<Attended> attended = attended_by(attention, asked, *sizes, feeds);
  if (!attended)
    return context.decline(attention,
                           "its mask is not seen to be that of each token and those "
                           "before it");
  if (form.looks_at_all_only && attended->window > 0)
    return context.decline(attention, "the provider's kernel has no window");
  return Fusing(context, attention, asked, *sizes, feeds, form).run(*attended);
}

bool fuse_any(Node* attention, rewriting::RuleContext& context) {
  return fuse(attention, context, {});
}
bool fuse_as_fed(Node* attention, rewriting::RuleContext& context) {
  return fuse(attention, context, {.is_fed = true});
}
bool fuse_apart(Node* attention, rewriting::RuleContext& context) {
  return fuse(attention, context,
              {.is_fed = true, .turns_and_packs = false, .looks_at_all_only = true});
}

constexpr Op kRoots[] = {Op::kAttention};

}  // namespace

// Tables and packed weights take the place of what they are made of.
const rewriting::Rule kGroupQueryAttention = {"group-query-attention", kRoots, fuse_any, 23,
                                              /*changes_weights=*/true};
const rewriting::Rule kGroupQueryAttentionAsFed = {"group-query-attention-as-fed", kRoots,
                                                   fuse_as_fed, 23, /*changes_weights=*/true};
const rewriting::Rule kGroupQueryAttentionApart = {"group-query-attention-apart", kRoots,
                                                   fuse_apart, 20, /*changes_weights=*/true};

}  // namespace sardonyx::targets
