// Integers of 64 bits, of which some kernels see fewer: Max, Min, Clip, ReduceMax, ReduceMin and
// Sign look at 32 bits on some processors, ReduceSum, ReduceProd, Mod with fmod and Pow go through
// double. Comparisons, Where, TopK, MatMul and what works element by element see all 64.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "onnx/definitions/prefix_scan.h"
#include "onnx/graph/ir.h"
#include "symbolic/expr.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

using onnx::Node;
using onnx::Shape;

// --- how many bits a value may need

// Sizes and places of elements: no tensor that fits into memory here has more.
constexpr unsigned kPlaceBits = 29;
constexpr unsigned kDeep = 8;  // producers that are looked at, one behind the other

unsigned bits_of(Value x, unsigned depth);

unsigned bits_of_constant(Value x) {
  if (x.constant()->element_count() > 64) return 64;
  const auto ints = x.ints();
  if (!ints) return 64;
  unsigned bits = 0;
  for (const std::int64_t n : *ints)
    bits = std::max(bits, static_cast<unsigned>(
                              std::bit_width(static_cast<std::uint64_t>(n < 0 ? -(n + 1) : n))));
  return bits;
}

unsigned widest_of(const Node* node, std::size_t first, unsigned depth) {
  unsigned bits = 0;
  for (std::size_t i = first; i < node->inputs.size(); ++i)
    if (node->inputs[i] != nullptr) bits = std::max(bits, bits_of(node->inputs[i], depth));
  return bits;
}

unsigned bits_of_cast(DType from, Value x, unsigned depth) {
  if (from == DType::kBool) return 1;
  if (from == DType::kInt64) return bits_of(x, depth);
  if (!base::is_integer(from)) return 64;
  return static_cast<unsigned>(base::bit_width(from)) - (base::is_signed(from) ? 1U : 0U);
}

unsigned bits_of_result(const Node* node, unsigned depth) {
  switch (node->op) {
    case Op::kCast:
      return bits_of_cast(node->input(0)->dtype, node->input(0), depth);
    case Op::kShape:
    case Op::kSize:
    case Op::kRange:
    case Op::kNonZero:
    case Op::kArgMax:
    case Op::kArgMin:
      return kPlaceBits;
    case Op::kAdd:
    case Op::kSub:
      return widest_of(node, 0, depth) + 1;
    case Op::kReduceSum:
    case Op::kCumSum:  // of truths
      return bits_of(node->input(0), depth) <= 1 ? kPlaceBits : 64;
    case Op::kMax:
    case Op::kMin:
    case Op::kConcat:
      return widest_of(node, 0, depth);
    case Op::kWhere:
      return widest_of(node, 1, depth);
    case Op::kDiv:
    case Op::kAbs:
    case Op::kNeg:
    case Op::kGather:
    case Op::kSlice:
    case Op::kReshape:
    case Op::kExpand:
    case Op::kSqueeze:
    case Op::kUnsqueeze:
    case Op::kTranspose:
    case Op::kIdentity:
      return bits_of(node->input(0), depth);
    default:
      return 64;
  }
}

// Bits of the magnitude of any element, 64 where nothing says that it needs fewer.
unsigned bits_of(Value x, unsigned depth) {
  if (x.is_constant()) return bits_of_constant(x);
  if (!x->contents.empty()) return kPlaceBits;
  const Node* node = x->producer;
  if (node == nullptr || depth == 0) return 64;
  if (node->is(Op::kTopK) && node->outputs.size() > 1 && node->outputs[1] == x.info())
    return kPlaceBits;
  return bits_of_result(node, depth - 1);
}

bool is_long(Value x) { return x && bits_of(x, kDeep) > 31; }

bool sees_long(const Use& use) { return std::ranges::any_of(use.inputs, is_long); }

bool reduces_long(const Use& use) { return use.input(0).has_rank() && is_long(use.input(0)); }

// Whether the sum may be more than double holds exactly.
bool sums_long(const Use& use) {
  const Value x = use.input(0);
  return x.has_rank() && x->contents.empty() && bits_of(x, kDeep) + kPlaceBits > 53;
}

bool multiplies_long(const Use& use) {
  return use.input(0).has_rank() && use.input(0)->contents.empty();
}

// --- element by element

std::optional<Values> chosen(const Use& use, Value (onnx::Emit::*keeps)(Value, Value)) {
  Value found = use.input(0);
  for (const Value other : use.inputs.subspan(1))
    found = use.onnx.where((use.onnx.*keeps)(found, other), found, other);
  return Values{found};
}

std::optional<Values> greater_one(const Use& use, const Rule&) {
  return chosen(use, &onnx::Emit::greater);
}

std::optional<Values> lesser_one(const Use& use, const Rule&) {
  return chosen(use, &onnx::Emit::less);
}

// Where the bounds cross, the upper one counts.
std::optional<Values> held_between(const Use& use, const Rule&) {
  onnx::Emit& onnx = use.onnx;
  Value x = use.input(0);
  if (const Value low = use.input(1)) x = onnx.where(onnx.greater(x, low), x, low);
  if (const Value high = use.input(2)) x = onnx.where(onnx.less(x, high), x, high);
  return Values{x};
}

std::optional<Values> sign_by_comparing(const Use& use, const Rule&) {
  onnx::Emit& onnx = use.onnx;
  const Value x = use.input(0), zero = onnx.int_scalar(0);
  const auto counted = [&](Value truth) { return onnx.cast(truth, DType::kInt64); };
  return Values{onnx.sub(counted(onnx.greater(x, zero)), counted(onnx.less(x, zero)))};
}

bool has_sign_of_dividend(const Use& use) { return use.integer("fmod", 0) != 0 && sees_long(use); }

std::optional<Values> remainder_of_quotient(const Use& use, const Rule&) {
  onnx::Emit& onnx = use.onnx;
  const Value x = use.input(0), divisor = use.input(1);
  return Values{onnx.sub(x, onnx.mul(onnx.div(x, divisor), divisor))};
}

// --- over axes

// x with the axes as its last one, and the shape of what is left when that has become one number.
struct Rows {
  Value rows;
  Shape result;
};

// Nothing where the axes are computed.
std::optional<std::vector<std::int64_t>> axes_of(const Use& use) {
  const std::int64_t rank = use.input(0).rank();
  std::vector<std::int64_t> axes;
  if (use.input(1)) {
    const auto given = use.input(1).ints();
    if (!given) return std::nullopt;
    axes = *given;
  }
  for (std::int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  if (axes.empty() && use.integer("noop_with_empty_axes", 0) == 0) {
    axes.resize(static_cast<std::size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  return axes;
}

Rows as_rows(onnx::Emit& onnx, Value x, const std::vector<std::int64_t>& axes, bool keep_dims) {
  std::vector<std::int64_t> order;
  Shape kept, result;
  Expr count = 1;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) {
    if (std::ranges::find(axes, axis) != axes.end()) {
      count = count * x.dim(axis);
      if (keep_dims) result.emplace_back(1);
      continue;
    }
    order.push_back(axis);
    kept.push_back(x.dim(axis));
    result.push_back(x.dim(axis));
  }
  order.insert(order.end(), axes.begin(), axes.end());
  kept.push_back(count);
  return {onnx.reshape(onnx.transpose(x, order), kept), result};
}

// `last` makes one element of those of an axis, which stays. From so many axes on, of known sizes,
// they are one, the last; else it is one axis after the other.
template <class Last>
std::optional<Values> reduced(const Use& use, const Last& last, std::size_t at_once) {
  onnx::Emit& onnx = use.onnx;
  Value x = use.input(0);
  const auto axes = axes_of(use);
  if (!axes) return std::nullopt;
  const bool keep = use.integer("keepdims", 1) != 0;
  const bool sized =
      std::ranges::all_of(x.shape(), [&](Expr dim) { return dim.known() && onnx.can_size(dim); });
  if (axes->size() >= at_once && sized) {
    const Rows found = as_rows(onnx, x, *axes, keep);
    return Values{onnx.reshape(last(found.rows, found.rows.rank() - 1), found.result)};
  }
  for (const std::int64_t axis : *axes) x = last(x, axis);
  return Values{keep || axes->empty() ? x : onnx.squeeze(x, *axes)};
}

// The first of TopK.
std::optional<Values> first_in_order(const Use& use, std::int64_t largest) {
  return reduced(
      use,
      [&](Value x, std::int64_t axis) {
        return use.onnx.topk(x, use.onnx.ints({1}), {.axis = axis, .largest = largest})[0];
      },
      2);
}

std::optional<Values> greatest(const Use& use, const Rule&) { return first_in_order(use, 1); }
std::optional<Values> least(const Use& use, const Rule&) { return first_in_order(use, 0); }

// A product with ones, which is ten times faster than ReduceSum too.
std::optional<Values> product_with_ones(const Use& use, const Rule&) {
  onnx::Emit& onnx = use.onnx;
  return reduced(
      use,
      [&](Value x, std::int64_t axis) {
        const Value rows = onnx.swap_axes(x, axis, -1);
        const Value shape = onnx.concat({onnx.dim_of(rows, -1), onnx.ints({1})}, 0);
        const Value sums = onnx.matmul(rows, onnx.expand(onnx.int_scalar(1), shape));
        return onnx.swap_axes(sums, axis, -1);
      },
      1);
}

std::optional<Values> last_of_running_products(const Use& use, const Rule&) {
  onnx::Emit& onnx = use.onnx;
  const auto product = [&](const Values& earlier, const Values& later) {
    return Values{onnx.mul(earlier.front(), later.front())};
  };
  const auto axes = axes_of(use);
  if (!axes) return std::nullopt;
  Value x = use.input(0);
  for (const std::int64_t axis : *axes)
    x = onnx::last_of_scan(onnx, x, axis, product, onnx.int_scalar(1, x.dtype()));
  return Values{use.integer("keepdims", 1) != 0 || axes->empty() ? x : onnx.squeeze(x, *axes)};
}

// --- on CUDA, where reductions of integers go through float32

// More than a place of an element: those are few enough for float32 in any tensor at hand.
bool reduces_many_digits(const Use& use) {
  return use.input(0).has_rank() && bits_of(use.input(0), kDeep) > kPlaceBits;
}

// Before: ArgMax(x)
// After:  ArgMax(Cast<float32>(x)); of many digits ArgMax(Cast(Equal(x, first of TopK)))
std::optional<Values> place_by_reals(const Use& use, const Rule& rule) {
  onnx::Emit& onnx = use.onnx;
  Value x = use.input(0);
  std::vector<Attribute> attributes(use.attributes.begin(), use.attributes.end());
  if (reduces_many_digits(use)) {
    const std::int64_t axis = use.integer("axis", 0), largest = use.op.id == Op::kArgMax ? 1 : 0;
    x = onnx.equal(x, onnx.topk(x, onnx.ints({1}), {.axis = axis, .largest = largest})[0]);
    return Values{onnx.arg_max(onnx.cast(x, DType::kFloat32),
                               {.axis = axis,
                                .keepdims = use.integer("keepdims", 1),
                                .select_last_index = use.integer("select_last_index", 0)})};
  }
  return use.onnx.without(rule, use, std::vector{onnx.cast(x, DType::kFloat32)},
                          std::move(attributes));
}

// The most elements that a reduction makes one of, in bits.
unsigned bits_of_count(const Use& use) {
  const Value x = use.input(0);
  const auto axes = axes_of(use);
  Expr count = 1;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis)
    if (!axes || std::ranges::find(*axes, axis) != axes->end()) count = count * x.dim(axis);
  if (!count.known()) return kPlaceBits;
  const std::int64_t most = std::max<std::int64_t>(symbolic::range(count).high, 1);
  return std::min(kPlaceBits,
                  static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(most - 1))));
}

unsigned bits_of_element(Value x) {
  return std::min(bits_of(x, kDeep), static_cast<unsigned>(base::bit_width(x.dtype())) - 1);
}

// Whether the sum is of keys that are attended to, of a mask of 0 and 1: no cache has 2^24.
bool counts_keys(const Use& use) {
  const auto all_read = [](const Node* node, const auto& is_taken) {
    return node != nullptr && !node->output()->uses.empty() &&
           std::ranges::all_of(node->output()->uses,
                               [&](const onnx::Use& each) { return is_taken(each.node); });
  };
  return all_read(use.node, [&](const Node* last) {
    return last->is(Op::kSub) && all_read(last, [](const Node* reader) {
             return reader->domain == "com.microsoft" && reader->op_type == "GroupQueryAttention";
           });
  });
}

// float32 holds integers of 24 bits, and a sum may have those of its elements and their number.
bool sums_many_digits(const Use& use) {
  constexpr unsigned kFloatBits = 24;
  return use.input(0).has_rank() && !counts_keys(use) &&
         bits_of_element(use.input(0)) + bits_of_count(use) > kFloatBits;
}

// Before: ReduceSum(x)
// After:  Cast(ReduceSum(Cast<double>(x))), which holds the sums of up to 2^21 elements of 32 bits.
//         Of more bits, upper = Div(x, 2^32): 2^32 times the sum of these, plus the sum of
//         x - 2^32 upper. What goes beyond the type's bits wraps around as in PyTorch.
std::optional<Values> sum_in_double(const Use& use, const Rule& rule) {
  onnx::Emit& onnx = use.onnx;
  const Value x = use.input(0);
  const auto sum_of = [&](Value part) {
    std::vector<Value> inputs(use.inputs.begin(), use.inputs.end());
    inputs[0] = onnx.cast(part, DType::kFloat64);
    std::vector<Attribute> attributes(use.attributes.begin(), use.attributes.end());
    return use.onnx.without(rule, use, inputs, std::move(attributes)).front();
  };
  const unsigned bits = bits_of_element(x);
  if (bits + bits_of_count(use) < static_cast<unsigned>(base::bit_width(x.dtype())))
    return Values{onnx.cast(sum_of(x), x.dtype())};
  // A double beyond a type's bounds is not wrapped around, an integer is.
  const auto whole = [&](Value part) { return onnx.cast(sum_of(part), DType::kInt64); };
  if (bits <= 32) return Values{onnx.cast(whole(x), x.dtype())};
  const Value scale = onnx.int_scalar(std::int64_t{1} << 32);
  const Value upper = onnx.div(x, scale);
  const Value lower = onnx.sub(x, onnx.mul(upper, scale));
  return Values{onnx.add(onnx.mul(whole(upper), scale), whole(lower))};
}

// Before: ReduceL1(x)
// After:  ReduceSum(Abs(x))
std::optional<Values> sum_of_absolutes(const Use& use, const Rule&) {
  onnx::Emit& onnx = use.onnx;
  return Values{onnx.reduce_sum(onnx.abs(use.input(0)), use.input(1),
                                {.keepdims = use.integer("keepdims", 1),
                                 .noop_with_empty_axes = use.integer("noop_with_empty_axes", 0)})};
}

constexpr DTypeSet kLong = onnx::dtype_bit(DType::kInt64);
constexpr DTypeSet kIntegers = onnx::dtype_bit(DType::kInt32) | onnx::dtype_bit(DType::kInt64);
constexpr std::string_view kReadInSource = "1.31, read in its source";
constexpr std::string_view kThroughFloat =
    "it goes through float32, which has 24 bits: 2^24 + 1 is 2^24";

constexpr Rule kOnCuda[] = {
    {.name = "greatest-of-many-digits",
     .op = Op::kReduceMax,
     .reason = Reason::kWrong,
     .types = kIntegers,
     .when = reduces_many_digits,
     .how = greatest,
     .why = kThroughFloat,
     .since = kReadInSource},
    {.name = "least-of-many-digits",
     .op = Op::kReduceMin,
     .reason = Reason::kWrong,
     .types = kIntegers,
     .when = reduces_many_digits,
     .how = least,
     .why = kThroughFloat,
     .since = kReadInSource},
    {.name = "sum-of-many-digits",
     .op = Op::kReduceSum,
     .reason = Reason::kWrong,
     .types = kIntegers,
     .when = sums_many_digits,
     .how = sum_in_double,
     .why = kThroughFloat,
     .since = kReadInSource},
    {.name = "absolute-sum-of-many-digits",
     .op = Op::kReduceL1,
     .reason = Reason::kWrong,
     .types = kIntegers,
     .when = sums_many_digits,
     .how = sum_of_absolutes,
     .why = kThroughFloat,
     .since = kReadInSource},
    {.name = "product-of-many-digits",
     .op = Op::kReduceProd,
     .reason = Reason::kWrong,
     .types = kIntegers,
     .when = multiplies_long,
     .how = last_of_running_products,
     .why = "int32 goes through float32, which has 24 bits; of int64 the CUDA provider has no "
            "kernel, and the CPU's goes through double, which has 53",
     .since = kReadInSource},
    {.name = "place-of-the-greatest-integer",
     .op = Op::kArgMax,
     .reason = Reason::kLacks,
     .types = kIntegers,
     .how = place_by_reals,
     .why = "the CUDA provider has no ArgMax of integers",
     .since = kReadInSource},
    {.name = "place-of-the-least-integer",
     .op = Op::kArgMin,
     .reason = Reason::kLacks,
     .types = kIntegers,
     .how = place_by_reals,
     .why = "the CUDA provider has no ArgMin of integers",
     .since = kReadInSource},
};

constexpr std::string_view kThirtyTwoBits =
    "it looks at 32 of the bits on some processors: the greater one of 0 and 2^31 is 0";
constexpr std::string_view kThroughDouble =
    "it goes through double, which has 53 bits: 2^53 + 1 is 2^53";

constexpr Rule kRows[] = {
    {.name = "max-of-int64",
     .op = Op::kMax,
     .reason = Reason::kWrong,
     .types = kLong,
     .when = sees_long,
     .how = greater_one,
     .why = kThirtyTwoBits,
     .since = "1.31",
     .until = "1.32"},
    {.name = "min-of-int64",
     .op = Op::kMin,
     .reason = Reason::kWrong,
     .types = kLong,
     .when = sees_long,
     .how = lesser_one,
     .why = kThirtyTwoBits,
     .since = "1.31",
     .until = "1.32"},
    {.name = "clip-of-int64",
     .op = Op::kClip,
     .reason = Reason::kWrong,
     .types = kLong,
     .when = sees_long,
     .how = held_between,
     .why = kThirtyTwoBits,
     .since = "1.31",
     .until = "1.32"},
    {.name = "sign-of-int64",
     .op = Op::kSign,
     .reason = Reason::kWrong,
     .types = kLong,
     .when = sees_long,
     .how = sign_by_comparing,
     .why = kThirtyTwoBits,
     .since = "1.31",
     .until = "1.32"},
    {.name = "greatest-of-int64",
     .op = Op::kReduceMax,
     .reason = Reason::kWrong,
     .types = kLong,
     .when = reduces_long,
     .how = greatest,
     .why = kThirtyTwoBits,
     .since = "1.31",
     .until = "1.32"},
    {.name = "least-of-int64",
     .op = Op::kReduceMin,
     .reason = Reason::kWrong,
     .types = kLong,
     .when = reduces_long,
     .how = least,
     .why = kThirtyTwoBits,
     .since = "1.31",
     .until = "1.32"},
    {.name = "sum-of-int64",
     .op = Op::kReduceSum,
     .reason = Reason::kWrong,
     .types = kLong,
     .when = sums_long,
     .how = product_with_ones,
     .why = kThroughDouble,
     .since = "1.31"},
    {.name = "product-of-int64",
     .op = Op::kReduceProd,
     .reason = Reason::kWrong,
     .types = kLong,
     .when = multiplies_long,
     .how = last_of_running_products,
     .why = kThroughDouble,
     .since = "1.31"},
    {.name = "remainder-of-int64",
     .op = Op::kMod,
     .reason = Reason::kWrong,
     .types = kLong,
     .when = has_sign_of_dividend,
     .how = remainder_of_quotient,
     .why = kThroughDouble,
     .since = "1.31",
     .until = "1.32"},
};

}  // namespace

Rules cuda_integer_rules() { return kOnCuda; }
Rules long_integer_rules() { return kRows; }

}  // namespace sardonyx::targets
