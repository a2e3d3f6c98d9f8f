// Operators that rearrange elements: reshaping, joining, cutting, and the reading of shapes.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

using std::int64_t;

void reshape(Inference& node) {
  const auto wanted = node.contents(1);
  if (!wanted) return;
  const bool zero_is_zero = node.integer("allowzero", 0) != 0;
  Shape out(wanted->size());
  std::optional<std::size_t> inferred;
  bool rest_known = true;
  Expr rest = 1;
  // Dims copied from the same place cancel out of the quotient, known or not.
  Expr total = 1;
  const bool has_rank = node.has_rank(0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Expr dim = (*wanted)[i];
    if (dim.is(-1)) {
      if (inferred) node.fail("more than one dim is -1");
      inferred = i;
      continue;
    }
    if (dim.is(0) && !zero_is_zero) {
      if (!has_rank) continue;
      if (i >= node.shape(0).size()) node.fail(fmt::format("dim {} is copied but not there", i));
      out[i] = node.shape(0)[i];
      if (!out[i].known()) continue;
    } else {
      out[i] = dim;
    }
    rest_known = rest_known && out[i].known();
    rest = rest * out[i];
  }
  if (has_rank) {
    for (std::size_t i = 0; i < node.shape(0).size(); ++i) {
      const Expr dim = node.shape(0)[i];
      const bool copied = i < wanted->size() && (*wanted)[i].is(0) && !zero_is_zero;
      if (copied && !dim.known()) continue;
      total = total * dim;
    }
    if (inferred && rest_known && total.known()) {
      out[*inferred] = rest.is(0) ? Expr() : symbolic::exact_quotient(total, rest);
      if (rest.is_constant() && total.is_constant() && !rest.is(0) && total.value() % rest.value())
        node.fail("the elements do not fill the new shape");
    } else if (!inferred && rest_known && rest.is_constant() && total.is_constant() &&
               !(rest == total)) {
      node.fail(fmt::format("{} elements do not make {}", total.value(), rest.value()));
    }
  }
  node.set_shape(0, std::move(out));
  if (node.node().input(0)->contents.size() > 0)
    node.set_contents(0, node.node().input(0)->contents);
}

void transpose(Inference& node) {
  if (!node.has_rank(0)) return;
  const Shape& in = node.shape(0);
  Shape out(in.size());
  if (const auto* permutation = node.list("perm")) {
    if (permutation->size() != in.size()) node.fail("perm has not one entry an axis");
    std::vector<bool> seen(in.size(), false);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::size_t from = node.axis((*permutation)[i], node.rank(0));
      if (seen[from]) node.fail("perm names an axis twice");
      seen[from] = true;
      out[i] = in[from];
    }
  } else {
    out.assign(in.rbegin(), in.rend());
  }
  node.set_shape(0, std::move(out));
}

std::optional<std::vector<int64_t>> axes_of(const Inference& node) {
  if (const auto* axes = node.list("axes")) return *axes;
  if (!node.has(1)) return std::vector<int64_t>{};
  return node.ints(1);
}

void unsqueeze(Inference& node) {
  const auto axes = axes_of(node);
  if (!axes || !node.has_rank(0)) return;
  const int64_t rank = node.rank(0) + static_cast<int64_t>(axes->size());
  std::vector<bool> added(static_cast<std::size_t>(rank), false);
  for (const std::size_t axis : node.axes(*axes, rank)) {
    if (added[axis]) node.fail("an axis is added twice");
    added[axis] = true;
  }
  Shape out;
  auto next = node.shape(0).begin();
  for (const bool one : added) out.push_back(one ? Expr(1) : *next++);
  node.set_shape(0, std::move(out));
  if (rank <= 1) node.set_contents(0, node.contents(0).value_or(std::vector<Expr>{}));
}

void squeeze(Inference& node) {
  const auto axes = axes_of(node);
  if (!axes || !node.has_rank(0)) return;
  const Shape& in = node.shape(0);
  std::vector<bool> removed(in.size(), false);
  for (const std::size_t axis : node.axes(*axes, node.rank(0))) {
    if (in[axis].is_constant() && !in[axis].is(1))
      node.fail(fmt::format("axis {} has size {}", axis, in[axis].value()));
    removed[axis] = true;
  }
  if (axes->empty()) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (!in[i].is_constant()) return;  // the rank depends on values
      removed[i] = in[i].is(1);
    }
  }
  Shape out;
  for (std::size_t i = 0; i < in.size(); ++i)
    if (!removed[i]) out.push_back(in[i]);
  const bool flat = in.size() <= 1;
  node.set_shape(0, std::move(out));
  if (flat) node.set_contents(0, node.contents(0).value_or(std::vector<Expr>{}));
}

void expand(Inference& node) {
  const auto wanted = node.contents(1);
  if (!wanted || !node.has_rank(0)) return;
  auto shape = broadcast(node.shape(0), *wanted);
  if (!shape) node.fail("the shape does not broadcast");
  node.set_shape(0, std::move(*shape));
  if (wanted->size() == 1 && node.shape(0).size() <= 1 && (*wanted)[0].is_constant()) {
    const auto& contents = node.node().input(0)->contents;
    if (contents.size() == 1 && (*wanted)[0].value() > 0 && (*wanted)[0].value() < 64)
      node.set_contents(
          0, std::vector<Expr>(static_cast<std::size_t>((*wanted)[0].value()), contents.front()));
  }
}

// Contents of joined pieces, as far as the number of elements of each is known.
void concat_contents(Inference& node) {
  std::vector<Expr> all;
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    const auto piece = node.contents(i);
    if (!piece) return;
    all.insert(all.end(), piece->begin(), piece->end());
  }
  node.set_contents(0, std::move(all));
}

void concat(Inference& node) {
  if (node.inputs() == 0) node.fail("there is nothing to join");
  Shape out;
  std::size_t axis = 0;
  Expr size = 0;
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    if (!node.has_rank(i)) return;
    const Shape& in = node.shape(i);
    if (i == 0) {
      axis = node.axis(node.integer("axis", 0), node.rank(0));
      out = in;
    }
    if (in.size() != out.size()) node.fail("the ranks differ");
    for (std::size_t d = 0; d < out.size(); ++d) {
      if (d == axis) continue;
      if (in[d].is_constant() && out[d].is_constant() && !(in[d] == out[d]))
        node.fail(fmt::format("the sizes of axis {} differ", d));
      if (!out[d].is_constant() && in[d].is_constant()) out[d] = in[d];
      if (!out[d].known()) out[d] = in[d];
    }
    size = size + in[axis];
  }
  out[axis] = size;
  const bool flat = out.size() == 1;
  node.set_shape(0, std::move(out));
  if (flat && (node.dtype(0) == DType::kInt64 || node.dtype(0) == DType::kInt32))
    concat_contents(node);
}

// One bound of a slice as an expression in [low, high]; unknown where that is not certain.
Expr clamped(Expr bound, Expr dim, int64_t low, Expr high) {
  if (!bound.known() || !dim.known()) return {};
  if (bound.is_constant() && bound.value() < 0) {
    if (bound.value() < -std::numeric_limits<std::int32_t>::max()) return low;
    const Expr counted = dim + bound;
    if (low < 0 ? symbolic::certainly_less_equal(-1, counted)
                : symbolic::certainly_nonnegative(counted))
      return counted;
    if (counted.is_constant()) return std::max(counted.value(), low);
    return low < 0 ? Expr() : symbolic::max(counted, low);
  }
  // All but the last one; of nothing, -1 is the end of nothing, too.
  if ((bound - dim).is(-1) && low == 0) return symbolic::max(bound, 0);
  if (!symbolic::certainly_nonnegative(bound)) return {};
  if (symbolic::certainly_less_equal(bound, high)) return bound;
  if (symbolic::certainly_less_equal(high, bound)) return high;
  return symbolic::min(bound, high);
}

Expr sliced(Expr dim, Expr start, Expr end, int64_t step) {
  if (step > 0) {
    const Expr from = clamped(start, dim, 0, dim), to = clamped(end, dim, 0, dim);
    if (!from.known() || !to.known()) return {};
    const Expr span = to - from;
    if (span.is_constant()) return std::max<int64_t>(0, (span.value() + step - 1) / step);
    const Expr size = step == 1 ? span : symbolic::ceil_div(span, step);
    return symbolic::certainly_nonnegative(span) ? size : symbolic::max(size, 0);
  }
  const Expr from = clamped(start, dim, -1, dim - 1), to = clamped(end, dim, -1, dim - 1);
  if (!from.known() || !to.known()) return {};
  const Expr span = from - to;
  if (span.is_constant()) return std::max<int64_t>(0, (span.value() - step - 1) / -step);
  const Expr size = step == -1 ? span : symbolic::ceil_div(span, -step);
  return symbolic::certainly_nonnegative(span) ? size : symbolic::max(size, 0);
}

void slice_contents(Inference& node, std::size_t axes) {
  const auto& contents = node.node().input(0)->contents;
  const auto starts = node.ints(1), ends = node.ints(2);
  if (contents.empty() || node.rank(0) != 1 || axes != 1 || !starts || !ends) return;
  const auto steps = node.has(4) ? node.ints(4) : std::vector<int64_t>{1};
  if (!steps || starts->empty() || ends->empty() || steps->empty() || steps->front() == 0) return;
  const auto size = static_cast<int64_t>(contents.size());
  const int64_t step = steps->front(), low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const auto at = [&](int64_t bound) {
    return std::clamp(bound < 0 ? std::max<int64_t>(bound, -2 * size - 2) + size : bound, low,
                      high);
  };
  std::vector<Expr> out;
  const int64_t end = at(ends->front());
  for (int64_t i = at(starts->front()); step > 0 ? i < end : i > end; i += step)
    out.push_back(contents[static_cast<std::size_t>(i)]);
  node.set_contents(0, std::move(out));
}

void slice(Inference& node) {
  if (!node.has_rank(0)) return;
  const auto starts = node.contents(1), ends = node.contents(2);
  const auto steps = node.has(4) ? node.ints(4) : std::vector<int64_t>{};
  std::optional<std::vector<int64_t>> axes;
  if (node.has(3)) {
    axes = node.ints(3);
  } else if (starts) {
    axes.emplace();
    for (std::size_t i = 0; i < starts->size(); ++i) axes->push_back(static_cast<int64_t>(i));
  }
  if (!axes) return node.set_rank(0, node.rank(0));
  Shape out = node.shape(0);
  const auto positions = node.axes(*axes, node.rank(0));
  for (std::size_t i = 0; i < positions.size(); ++i) {
    Expr& dim = out[positions[i]];
    if (!starts || !ends || !steps || i >= starts->size() || i >= ends->size()) {
      dim = Expr();
      continue;
    }
    const int64_t step = i < steps->size() ? (*steps)[i] : 1;
    if (step == 0) node.fail("a step is 0");
    dim = sliced(dim, (*starts)[i], (*ends)[i], step);
  }
  node.set_shape(0, std::move(out));
  slice_contents(node, positions.size());
}

void split(Inference& node) {
  if (!node.has_rank(0)) return;
  const std::size_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  const Shape& in = node.shape(0);
  const auto count = static_cast<int64_t>(node.outputs());
  const auto sizes = node.contents(1);
  if (sizes && sizes->size() != node.outputs()) node.fail("not one size an output");
  for (std::size_t o = 0; o < node.outputs(); ++o) {
    Shape out = in;
    if (sizes)
      out[axis] = (*sizes)[o];
    else if (node.has(1) || !in[axis].is_constant())
      out[axis] = count == 1    ? in[axis]
                  : node.has(1) ? Expr()
                                : symbolic::exact_quotient(in[axis], count);
    else {
      const int64_t size = in[axis].value(), chunk = (size + count - 1) / count;
      const int64_t before = std::min(size, chunk * static_cast<int64_t>(o));
      out[axis] = std::min(chunk, size - before);
    }
    node.set_shape(o, std::move(out));
  }
}

void flatten(Inference& node) {
  if (!node.has_rank(0)) return;
  const int64_t rank = node.rank(0), given = node.integer("axis", 1);
  if (given < -rank || given > rank) node.fail("axis is out of range");
  const auto axis = static_cast<std::size_t>(given < 0 ? given + rank : given);
  const std::span<const Expr> in = node.shape(0);
  node.set_shape(0, {symbolic::product(in.first(axis)), symbolic::product(in.subspan(axis))});
}

void shape(Inference& node) {
  node.set_rank(0, 1);
  if (!node.has_rank(0)) return;
  const int64_t rank = node.rank(0);
  const auto bound = [rank](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = bound(node.integer("start", 0)), end = bound(node.integer("end", rank));
  const auto first = node.shape(0).begin();
  std::vector<Expr> dims;
  if (start < end) dims.assign(first + start, first + end);
  node.set_shape(0, {static_cast<int64_t>(dims.size())});
  node.set_contents(0, std::move(dims));
}

void size(Inference& node) {
  node.set_shape(0, {});
  if (node.has_rank(0)) node.set_contents(0, {symbolic::product(node.shape(0))});
}

void tile(Inference& node) {
  if (!node.has_rank(0)) return;
  const auto repeats = node.contents(1);
  if (!repeats) return node.set_rank(0, node.rank(0));
  if (repeats->size() != node.shape(0).size()) node.fail("not one repeat an axis");
  Shape out = node.shape(0);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = out[i] * (*repeats)[i];
  node.set_shape(0, std::move(out));
}

void pad(Inference& node) {
  if (!node.has_rank(0)) return;
  const auto pads = node.contents(1);
  const auto given = node.has(3) ? node.ints(3) : std::vector<int64_t>{};
  if (!pads || !given) return node.set_rank(0, node.rank(0));
  std::vector<int64_t> axes = *given;
  if (!node.has(3))
    for (int64_t i = 0; i < node.rank(0); ++i) axes.push_back(i);
  if (pads->size() != 2 * axes.size()) node.fail("not two pads an axis");
  Shape out = node.shape(0);
  const auto positions = node.axes(axes, node.rank(0));
  for (std::size_t i = 0; i < positions.size(); ++i)
    out[positions[i]] = out[positions[i]] + (*pads)[i] + (*pads)[i + positions.size()];
  node.set_shape(0, std::move(out));
}

void depth_to_space(Inference& node) {
  if (!node.has_rank(0)) return;
  if (node.rank(0) != 4) node.fail("the rank is not 4");
  const Shape& in = node.shape(0);
  const int64_t block = node.integer("blocksize", 1);
  if (block < 1) node.fail("blocksize is not positive");
  node.set_shape(
      0, {in[0], symbolic::exact_quotient(in[1], block * block), in[2] * block, in[3] * block});
}

void space_to_depth(Inference& node) {
  if (!node.has_rank(0)) return;
  if (node.rank(0) != 4) node.fail("the rank is not 4");
  const Shape& in = node.shape(0);
  const int64_t block = node.integer("blocksize", 1);
  if (block < 1) node.fail("blocksize is not positive");
  node.set_shape(0, {in[0], in[1] * (block * block), symbolic::floor_div(in[2], block),
                     symbolic::floor_div(in[3], block)});
}

void center_crop_pad(Inference& node) {
  if (!node.has_rank(0)) return;
  const auto sizes = node.contents(1);
  std::vector<int64_t> axes;
  if (const auto* given = node.list("axes"))
    axes = *given;
  else
    for (int64_t i = 0; i < node.rank(0); ++i) axes.push_back(i);
  if (!sizes || sizes->size() != axes.size()) return node.set_rank(0, node.rank(0));
  Shape out = node.shape(0);
  const auto positions = node.axes(axes, node.rank(0));
  for (std::size_t i = 0; i < positions.size(); ++i) out[positions[i]] = (*sizes)[i];
  node.set_shape(0, std::move(out));
}

void same(Inference& node) { node.same_as(0, 0); }

constexpr InferenceRule kRules[] = {
    {Op::kReshape, reshape},
    {Op::kTranspose, transpose},
    {Op::kUnsqueeze, unsqueeze},
    {Op::kSqueeze, squeeze},
    {Op::kExpand, expand},
    {Op::kConcat, concat},
    {Op::kSlice, slice},
    {Op::kSplit, split},
    {Op::kFlatten, flatten},
    {Op::kShape, shape},
    {Op::kSize, size},
    {Op::kTile, tile},
    {Op::kPad, pad},
    {Op::kDepthToSpace, depth_to_space},
    {Op::kSpaceToDepth, space_to_depth},
    {Op::kCenterCropPad, center_crop_pad},
    {Op::kTrilu, same},
    {Op::kReverseSequence, same},
};

}  // namespace

std::span<const InferenceRule> shape_rules() { return kRules; }

}  // namespace sardonyx::onnx
