#include "precision/weight_only.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/diagnostic.h"
#include "onnx/gen/op.h"
#include "onnx/graph/origins.h"
#include "onnx/graph/recipe.h"
#include "onnx/operators/traits.h"
#include "precision/selection.h"
#include "precision/stacked_weights.h"

namespace sardonyx::precision {
namespace {

using base::DType;
using onnx::Node;
using onnx::Op;
using onnx::Tensor;
using onnx::ValueInfo;

constexpr const char* kContrib = "com.microsoft";

// A node that reads a weight whose rows can be coded along them.
struct Site {
  Node* node;
  ValueInfo* weight;
  bool by_rows;      // rows are the weight's own, and not its columns
  Tensor rows;       // [rows, columns]
  std::string rule;  // why it stays after all; empty where it does not
  int bits = 0;
};

bool is_lookup(const Site& site) { return site.node->is(Op::kGather); }

ValueInfo* constant_input(const Node* node, std::size_t index) {
  ValueInfo* value = node->input(index);
  return value != nullptr && value->constant != nullptr && value->producer == nullptr ? value
                                                                                      : nullptr;
}

// The Transpose of a constant matrix that is the second factor of a MatMul: that of a table of
// embeddings, which is there once; null where there is none.
Node* transpose_of(const Node* node) {
  if (!node->is(Op::kMatMul) || node->input(1) == nullptr) return nullptr;
  Node* const made_by = node->input(1)->producer;
  if (made_by == nullptr || !made_by->is(Op::kTranspose)) return nullptr;
  const ValueInfo* const matrix = constant_input(made_by, 0);
  if (matrix == nullptr || matrix->constant->dims.size() != 2) return nullptr;
  const std::vector<std::int64_t>* const perm = made_by->ints("perm");
  return perm == nullptr || perm->front() == 1 ? made_by : nullptr;
}

// The constant that is the second factor, or the table; null where the node has none.
ValueInfo* weight_of(const Node* node) {
  if (const Node* turning = transpose_of(node)) return turning->input(0);
  if (node->is(Op::kMatMul) || node->is(Op::kGemm)) return constant_input(node, 1);
  if (node->is(Op::kGather)) return constant_input(node, 0);
  return nullptr;
}

// So far behind a product is what magnifies its errors looked for.
constexpr int kSteps = 12;

// Whether what shares scales is a row of the weight, and not a column.
bool is_by_rows(const Node* node) {
  return node->is(Op::kGather) || transpose_of(node) != nullptr ||
         (node->is(Op::kGemm) && node->int_or("transB", 0) != 0);
}

bool is_floating(const Tensor& tensor) {
  return tensor.dtype == DType::kFloat32 || tensor.dtype == DType::kFloat16;
}

// A runtime may fuse rows that are dequantized right before a MatMul, whose other operand is
// dequantized as well, into an integer MatMul without blocks.
bool feeds_product(const Node* node) {
  return std::ranges::any_of(node->outputs[0]->uses, [](const onnx::Use& use) {
    return use.node->is(Op::kMatMul) || use.node->is(Op::kGemm);
  });
}

bool is_whole_power(const ValueInfo* exponent) {
  const auto reals = exponent != nullptr && exponent->constant != nullptr
                         ? exponent->constant->reals()
                         : std::nullopt;
  return reals && std::ranges::all_of(
                      *reals, [](double real) { return real >= 1 && real == std::floor(real); });
}

// Whether the reader makes large errors of small ones near zero.
bool magnifies(const onnx::Use& use) {
  const Node* node = use.node;
  return node->is(Op::kLog) || node->is(Op::kReciprocal) || node->is(Op::kSqrt) ||
         (node->is(Op::kDiv) && use.index == 1) ||
         (node->is(Op::kPow) && (use.index == 1 || !is_whole_power(node->input(1))));
}

// What comes near zero where its operand does.
bool keeps_zeros(const onnx::Use& use) {
  if (onnx::has_trait(use.node->op, onnx::Trait::kRearranges)) return use.index == 0;
  switch (use.node->op) {
    case Op::kAbs:
    case Op::kAdd:
    case Op::kCast:
    case Op::kClip:
    case Op::kConcat:
    case Op::kMax:
    case Op::kMin:
    case Op::kMul:
    case Op::kNeg:
    case Op::kPow:
    case Op::kRelu:
    case Op::kSub:
    case Op::kWhere:
      return true;
    case Op::kDiv:
      return use.index == 0;
    case Op::kMatMul:
      // A filter bank: of constants, and what it adds up is of one sign or not.
      return use.index == 0 && constant_input(use.node, 1) != nullptr;
    default:
      return false;
  }
}

// The reader of what is computed of the value that magnifies its errors, as in the logarithm of a
// spectrum; null where there is none within a few steps.
const Node* magnified_by(const ValueInfo* value, int steps, std::set<const ValueInfo*>& seen) {
  if (value == nullptr || steps == 0 || !seen.insert(value).second) return nullptr;
  for (const onnx::Use& use : value->uses) {
    if (magnifies(use)) return use.node;
    if (!keeps_zeros(use)) continue;
    for (const ValueInfo* output : use.node->outputs)
      if (const Node* found = magnified_by(output, steps - 1, seen)) return found;
  }
  return nullptr;
}

// Why the weight cannot be coded for its reader; empty where it can.
std::string obstacle(const Node* node, const Tensor& weight, const WeightOnlyOptions& options) {
  if (weight.dims.size() != 2) return fmt::format("it has {} dims, not 2", weight.dims.size());
  if (!is_floating(weight)) return fmt::format("it is of {}", base::dtype_name(weight.dtype));
  const std::int64_t length = weight.dims[is_by_rows(node) ? 1 : 0];
  if (length < options.block_size)
    return fmt::format("{} weights in a row are less than a block of {}", length,
                       options.block_size);
  if (weight.element_count() == 0) return "it is empty";
  if (node->is(Op::kGather)) {
    if (node->int_or("axis", 0) != 0) return "it is not looked up by rows";
    if (length % options.block_size != 0)
      return fmt::format("rows of {} are no whole blocks of {}", length, options.block_size);
    if (!options.contrib && feeds_product(node))
      return "a runtime may fuse it with the MatMul after it into an integer MatMul";
  }
  if (node->is(Op::kMatMul) && (!node->inputs[0]->has_rank || node->inputs[0]->shape.size() < 2))
    return "the activations are no matrix";
  if (node->is(Op::kGemm) &&
      (node->int_or("transA", 0) != 0 || node->float_or("alpha", 1.0F) != 1.0F ||
       node->float_or("beta", 1.0F) != 1.0F))
    return "the product is scaled, or of a transposed factor";
  return {};
}

// Why it should not be coded though it could; empty where nothing is known.
std::string objection(const Node* node) {
  std::set<const ValueInfo*> seen;
  const Node* by = node->is(Op::kGather) ? nullptr : magnified_by(node->output(), kSteps, seen);
  if (by == nullptr) return {};
  return fmt::format("{} '{}' magnifies the errors of the product", by->op_type, by->name);
}

// What was the program's before it was joined, transposed or scaled.
std::vector<std::string> origins(const ValueInfo* weight) {
  std::vector<std::string> names;
  for (const ValueInfo* each : onnx::origins_of(*weight)) names.push_back(each->name);
  return names;
}

class Coding {
 public:
  Coding(onnx::Model& model, const WeightOnlyOptions& options)
      : model_(model), options_(options), keep_(patterns(options.keep)) {
    for (const Bits& each : options.mixed) mixed_.push_back({Pattern(each.pattern), each.bits, {}});
  }

  Report run() {
    part_stacked_weights(model_, options_.block_size);
    find(model_.graph);
    check_named();
    for (const Site& site : sites_) {
      if (site.bits != 0) {
        rewrite(site);
      } else {
        report_.stayed.push_back({site.weight->name, site.rule});
      }
    }
    if (options_.contrib && !report_.weights.empty()) model_.opsets.try_emplace(kContrib, 1);
    return std::move(report_);
  }

 private:
  struct Mixed {
    Pattern pattern;
    int bits;
    std::string failure;  // of a weight that it names
  };

  void find(const onnx::Graph* graph) {
    for (Node* node = graph->first; node != nullptr; node = node->next) {
      for (const onnx::Graph* body : onnx::bodies(node)) find(body);
      if (ValueInfo* weight = weight_of(node)) {
        look_at(node, weight);
      } else {
        look_at_others(node);
      }
    }
  }

  void look_at(Node* node, ValueInfo* weight) {
    Site site{
        node,         weight, is_by_rows(node), {}, obstacle(node, *weight->constant, options_),
        options_.bits};
    for (Pattern& pattern : keep_) {
      // Each is asked, so that none counts as unused because another matched first.
      const bool is_kept = pattern.matches_either(node, weight);
      if (is_kept && site.rule.empty()) site.rule = "it is to be kept";
    }
    bool is_named = false;
    for (Mixed& each : mixed_) {
      if (!each.pattern.matches_either(node, weight)) continue;
      is_named = true;
      site.bits = each.bits;
      if (each.bits == 0 && site.rule.empty()) site.rule = "it is to be kept";
      if (each.bits != 0 && !site.rule.empty()) each.failure = weight->name + ": " + site.rule;
      break;
    }
    const std::size_t dims = weight->constant->dims.size();
    // Indices and sizes that a Gather picks from are no weights.
    if (!is_floating(*weight->constant) || (dims < 2 && site.bits == options_.bits)) return;
    if (site.rule.empty() && site.bits == 0) site.rule = "nothing names it";
    if (site.rule.empty() && !is_named) site.rule = objection(node);
    if (!site.rule.empty()) site.bits = 0;
    if (site.bits != 0)
      site.rows = site.by_rows ? *weight->constant : onnx::permuted(*weight->constant, {1, 0});
    sites_.push_back(std::move(site));
  }

  // Weights of other operators, where a pattern names them.
  void look_at_others(const Node* node) {
    for (Pattern& pattern : keep_) pattern.matches(node);
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      const ValueInfo* value = constant_input(node, i);
      if (value == nullptr || !value->is_weight) continue;
      for (Pattern& pattern : keep_) pattern.matches(value);
      for (Mixed& each : mixed_)
        if (each.pattern.matches(value) && each.bits != 0 && value->constant->dims.size() > 1)
          each.failure = fmt::format("{}: it is read by {}", value->name, node->op_type);
    }
  }

  void check_named() const {
    check_used(keep_);
    std::vector<base::Diagnostic> failures;
    for (const Mixed& each : mixed_) {
      if (!each.pattern.used()) check_used({&each.pattern, 1});
      if (each.failure.empty()) continue;
      base::Diagnostic failure;
      failure.code = "SX1814";
      failure.message = fmt::format("a weight that `{}` names cannot be held in int{}: {}",
                                    each.pattern.text(), each.bits, each.failure);
      failure.help = "name others, or choose another block size";
      failures.push_back(std::move(failure));
    }
    if (!failures.empty()) throw base::Error(std::move(failures));
  }

  // Parts are shared by readers that want the same.
  struct Parts {
    std::shared_ptr<const QuantizedWeight> coded;
    ValueInfo* codes = nullptr;
    ValueInfo* scales = nullptr;
    ValueInfo* zero_points = nullptr;
  };

  // Whether a product reads the same codes, whose blocks an axis of their own holds: a table of
  // embeddings that is the last layer's weight, too, is then there once. Zero points lie otherwise.
  bool is_tied(const Site& site) const {
    if (!is_lookup(site) || !options_.contrib || !options_.symmetric ||
        !site.node->inputs[1]->has_rank)
      return false;
    return std::ranges::any_of(sites_, [&](const Site& other) {
      return !is_lookup(other) && other.weight == site.weight && other.bits == site.bits &&
             other.by_rows;
    });
  }

  Layout layout_for(const Site& site) const {
    if (is_tied(site)) return Layout::kPaddedBlocks;
    if (is_lookup(site)) return options_.contrib ? Layout::kPackedRows : Layout::kRows;
    return options_.contrib ? Layout::kPaddedBlocks : Layout::kTransposed;
  }

  const Parts& parts_of(const Site& site) {
    const Layout layout = layout_for(site);
    // Gather of 4-bit elements has kernels almost nowhere.
    const int bits = layout == Layout::kRows ? 8 : site.bits;
    Parts& parts = parts_[{site.weight, layout, bits, site.by_rows}];
    if (parts.coded != nullptr) return parts;
    const kernels::BlockForm form{.bits = bits,
                                  .size = options_.block_size,
                                  .symmetric = options_.symmetric,
                                  .search = options_.search,
                                  .scale = site.rows.dtype};
    parts.coded = std::make_shared<const QuantizedWeight>(site.rows, layout, form);
    const auto add = [&](QuantizedWeight::Part part, std::string_view suffix) {
      ValueInfo* value = model_.add_weight(fmt::format("{}_{}", site.weight->name, suffix),
                                           parts.coded->part(part));
      value->is_weight = false;
      value->made_of = {site.weight};
      return value;
    };
    parts.codes = add(QuantizedWeight::kCodes, fmt::format("int{}", bits));
    parts.scales = add(QuantizedWeight::kScales, "scales");
    if (parts.coded->has_zero_points())
      parts.zero_points = add(QuantizedWeight::kZeroPoints, "zero_points");
    report_.weights.push_back({site.weight->name,
                               site.node->name,
                               fmt::format("int{}", bits),
                               site.weight->constant->byte_count(),
                               parts.coded->bytes(),
                               {},
                               origins(site.weight),
                               is_lookup(site),
                               parts.coded});
    return parts;
  }

  void rewrite(const Site& site) {
    const Parts parts = parts_of(site);
    Node* const turning = transpose_of(site.node);
    replace(site, parts);
    if (turning != nullptr && !onnx::has_uses(turning->outputs[0])) onnx::erase(turning);
  }

  void replace(const Site& site, const Parts& parts) {
    if (is_lookup(site))
      return options_.contrib ? look_up_blocks(site, parts) : look_up(site, parts);
    ValueInfo* const addend = split_addend(site, options_.contrib);
    if (options_.contrib) {
      multiply_blocks(site, parts, addend);
    } else {
      multiply(site, parts);
    }
  }

  // What a Gemm adds becomes a node of its own, or is given back where it is a vector of the last
  // axis and wanted.
  ValueInfo* split_addend(const Site& site, bool wanted) {
    Node* const node = site.node;
    ValueInfo* const addend = node->is(Op::kGemm) ? node->input(2) : nullptr;
    if (addend == nullptr) return nullptr;
    if (wanted && addend->has_rank && addend->shape.size() == 1 &&
        addend->shape[0] == onnx::Shape{site.rows.dims[0]}[0])
      return addend;
    ValueInfo* const result = node->outputs[0];
    Node* const sum = new_node(node, "Add", "");
    ValueInfo* const product = new_value(result->name + "_product", result, node->graph);
    onnx::insert_after(node, sum);
    take_output(sum, result);
    node->outputs = {product};
    product->producer = node;
    onnx::add_input(sum, product);
    onnx::add_input(sum, addend);
    return nullptr;
  }

  static void take_output(Node* node, ValueInfo* value) {
    node->outputs = {value};
    value->producer = node;
    value->index = 0;
  }

  Node* new_node(const Node* beside, std::string type, std::string domain) {
    Node* const node = model_.add_node(std::move(type), std::move(domain));
    node->origin = beside->origin;
    node->metadata = beside->metadata;
    model_.name_node(node, beside->name + "_" + node->op_type);
    return node;
  }

  ValueInfo* new_value(const std::string& name, const ValueInfo* like, onnx::Graph* graph) {
    ValueInfo* const value = model_.add_value(name, graph);
    value->dtype = like->dtype;
    value->has_rank = like->has_rank;
    value->shape = like->shape;
    value->graph = graph;
    return value;
  }

  // A node in front of `node` with one output.
  ValueInfo* before(Node* node, std::string type, const std::vector<ValueInfo*>& inputs,
                    std::vector<onnx::Attribute> attributes, const ValueInfo* like) {
    Node* const made = new_node(node, std::move(type), "");
    made->attributes = std::move(attributes);
    onnx::insert_before(node, made);
    for (ValueInfo* input : inputs) onnx::add_input(made, input);
    ValueInfo* const value = new_value(made->name, like, node->graph);
    onnx::add_output(made, value);
    return value;
  }

  static void set_inputs(Node* node, const std::vector<ValueInfo*>& inputs) {
    for (std::size_t i = 0; i < node->inputs.size(); ++i)
      onnx::set_input(node, i, i < inputs.size() ? inputs[i] : nullptr);
    for (std::size_t i = node->inputs.size(); i < inputs.size(); ++i)
      onnx::add_input(node, inputs[i]);
    while (!node->inputs.empty() && node->inputs.back() == nullptr) {
      node->inputs.pop_back();
      node->slots.pop_back();
    }
  }

  void multiply_blocks(const Site& site, const Parts& parts, ValueInfo* addend) {
    Node* const node = site.node;
    std::vector<ValueInfo*> inputs{node->inputs[0], parts.codes, parts.scales};
    if (parts.zero_points != nullptr || addend != nullptr) inputs.push_back(parts.zero_points);
    if (addend != nullptr) inputs.insert(inputs.end(), {nullptr, addend});
    set_inputs(node, inputs);
    onnx::set_operator(node, "MatMulNBits", kContrib);
    node->attributes = {{"K", site.rows.dims[1], {}},
                        {"N", site.rows.dims[0], {}},
                        {"bits", std::int64_t{site.bits}, {}},
                        {"block_size", options_.block_size, {}}};
    if (options_.accuracy_level != 0)
      node->attributes.push_back({"accuracy_level", options_.accuracy_level, {}});
  }

  void multiply(const Site& site, const Parts& parts) {
    Node* const node = site.node;
    std::vector<ValueInfo*> inputs{parts.codes, parts.scales};
    if (parts.zero_points != nullptr) inputs.push_back(parts.zero_points);
    onnx::ValueInfo like;
    like.dtype = site.rows.dtype;
    like.has_rank = true;
    like.shape = {site.rows.dims[1], site.rows.dims[0]};
    ValueInfo* const weight =
        before(node, "DequantizeLinear", inputs,
               {{"axis", std::int64_t{0}, {}}, {"block_size", options_.block_size, {}}}, &like);
    set_inputs(node, {node->inputs[0], weight});
    onnx::set_operator(node, "MatMul", "");
    node->attributes.clear();
  }

  void look_up_blocks(const Site& site, const Parts& parts) {
    Node* const node = site.node;
    const bool tied = is_tied(site);
    std::vector<ValueInfo*> inputs{parts.codes, node->inputs[1], parts.scales};
    if (tied) inputs[2] = for_each_block(parts.scales, node);
    if (parts.zero_points != nullptr) inputs.push_back(parts.zero_points);
    set_inputs(node, inputs);
    onnx::set_operator(node, "GatherBlockQuantized", kContrib);
    node->attributes = {{"bits", std::int64_t{site.bits}, {}},
                        {"block_size", options_.block_size, {}},
                        {"gather_axis", std::int64_t{0}, {}},
                        {"quantize_axis", std::int64_t{tied ? 2 : 1}, {}}};
    if (tied) join_blocks(node, site.rows.dims[1]);
  }

  // [rows, blocks, 1] of [rows, blocks].
  ValueInfo* for_each_block(ValueInfo* scales, Node* node) {
    onnx::ValueInfo like = *scales;
    like.shape.emplace_back(1);
    ValueInfo* const axis =
        model_.add_constant(Tensor::of_ints(std::vector<std::int64_t>{-1}, {1}));
    return before(node, "Unsqueeze", {scales, axis}, {}, &like);
  }

  // Rows of blocks that were looked up become rows of `columns`.
  void join_blocks(Node* node, std::int64_t columns) {
    const std::size_t axes = node->inputs[1]->shape.size();
    std::vector<std::int64_t> shape(axes, 0);  // as they are
    shape.push_back(columns);
    ValueInfo* const result = node->outputs[0];
    ValueInfo* const blocks = new_value(result->name + "_blocks", result, node->graph);
    blocks->shape.resize(axes);
    blocks->shape.insert(blocks->shape.end(), {columns / options_.block_size, options_.block_size});
    Node* const join = new_node(node, "Reshape", "");
    onnx::insert_after(node, join);
    take_output(join, result);
    take_output(node, blocks);
    onnx::add_input(join, blocks);
    onnx::add_input(join, model_.add_constant(
                              Tensor::of_ints(shape, {static_cast<std::int64_t>(shape.size())})));
  }

  // Rows of codes and of scales, then what they stand for: no more is computed than what is read.
  void look_up(const Site& site, const Parts& parts) {
    Node* const node = site.node;
    std::vector<ValueInfo*> rows;
    for (ValueInfo* table : {parts.codes, parts.scales, parts.zero_points}) {
      if (table == nullptr) continue;
      onnx::ValueInfo like = *node->outputs[0];
      like.dtype = table->dtype;
      if (like.has_rank && !like.shape.empty()) like.shape.back() = table->shape[1];
      rows.push_back(before(node, "Gather", {table, node->inputs[1]}, {}, &like));
    }
    set_inputs(node, rows);
    onnx::set_operator(node, "DequantizeLinear", "");
    node->attributes = {{"axis", std::int64_t{-1}, {}}, {"block_size", options_.block_size, {}}};
  }

  onnx::Model& model_;
  const WeightOnlyOptions& options_;
  std::vector<Pattern> keep_;
  std::vector<Mixed> mixed_;
  std::vector<Site> sites_;
  std::map<std::tuple<const ValueInfo*, Layout, int, bool>, Parts> parts_;
  Report report_;
};

}  // namespace

Report code_weights(onnx::Model& model, const WeightOnlyOptions& options) {
  const std::int64_t size = options.block_size;
  if (size < 16 || size > 256 || (size & (size - 1)) != 0)
    base::fail("SX1813", fmt::format("there are no blocks of {} weights", size),
               "choose 16, 32, 64, 128 or 256");
  return Coding(model, options).run();
}

}  // namespace sardonyx::precision
