// Which operators return views of an argument, and how the view maps into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "program/facts/facts.h"
#include "program/ir/program.h"

namespace sardonyx::functionalize {

enum class ViewKind : std::uint8_t {
  kFresh,     // no view at all
  kSame,      // the argument itself, element for element: detach, contiguous of a contiguous tensor
  kReshape,   // the same elements in the same order
  kPermute,   // a permutation of the dimensions
  kSection,   // slice, narrow, split, chunk: a range of one dimension
  kSelect,    // select, unbind: one index of one dimension
  kDiagonal,  // diagonal
  kExpand,    // expand, broadcast_to: elements may repeat
  kStrided,   // as_strided
  kWindows,   // unfold
  kPairs,     // view_as_real
  kComplex,   // view_as_complex
  kReal,      // real of a complex tensor
  kImaginary,
  kConjugate,
  kNegative,
  kBits,     // view.dtype
  kUnknown,  // a view that this layer can read anew but not write through
};

using program::ViewFamily;

// What the schema alone tells of an operator; looked up once a schema.
ViewFamily view_family(const program::Schema& schema);

// How output `index` of the call maps into the argument that it is a view of.
ViewKind view_kind(const program::Call& call, ViewFamily family, std::size_t index);

// The argument that output `index` of the call is a view of; null when there is none.
program::Value* viewed(const program::Call& call, ViewFamily family, std::size_t index);

// Elements start, start + step, ... below end of one dimension.
struct Section {
  std::int64_t dim = 0;  // not negative
  program::Argument start;
  program::Argument end;
  program::Argument step;
};
// Of kSection; nothing when the start or the end is a tensor.
std::optional<Section> section_of(const program::Call& call, std::size_t index);

// Of kPermute: dimension i of the view is dimension result[i] of what is viewed.
std::vector<std::int64_t> permutation_of(const program::Call& call, std::size_t rank);

// A dimension counted from the front; fails with SX1302 where there is none. 0-d tensors take -1
// and 0.
std::int64_t dimension(const program::Argument& argument, std::size_t rank);

bool is_contiguous(const program::Value& value);

}  // namespace sardonyx::functionalize
