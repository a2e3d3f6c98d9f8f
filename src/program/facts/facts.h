// What several stages have to know of an operator and its schema does not say: one row an operator,
// in one table. tools/check_facts.py holds the rows against what PyTorch says of itself.
#pragma once

#include <cstdint>
#include <string_view>

#include "program/schema/schema.h"

namespace sardonyx::program {

// How a result lies in the argument that it is a view of. functionalize/views/views.h has what
// depends on a call's sizes, strides and numbers.
enum class ViewFamily : std::uint8_t {
  kNone,
  kAlias,       // the argument itself
  kContiguous,  // the argument, where it lies in memory as asked
  kConversion,  // the argument, where it has the wanted type: to, type_as, _autocast_to_...
  kDropout,     // the argument in evaluation, though schemas do not say so
  kResolve,     // the argument, where it is real
  kReal,
  kImaginary,
  kConjugate,
  kNegative,
  kView,           // the same elements in the same order
  kReshapeOrCopy,  // the same, or a copy where memory does not allow a view
  kPermute,
  kSection,  // ranges of one dimension
  kSelect,   // one index of one dimension
  kUnbind,
  kExpand,         // elements repeat
  kBroadcastList,  // of each tensor of a list
  kAtLeastList,
  kGrid,
  kDiagonal,
  kStrided,
  kWindows,
  kPairs,    // complex numbers as pairs of real ones
  kComplex,  // pairs as complex numbers
  kBits,     // bytes as another type
  kUnknown,  // the schema says that it is a view, and no row how
};

// What becomes of a write. Most follow from the schema (functionalize/writes/writes.h): rows hold
// the rest.
enum class WriteKind : std::uint8_t {
  kNone,
  kInPlace,  // add_ -> add, cast to the dtype of what is written to
  kFill,     // fill_, zero_: one number everywhere
  kCopy,     // copy_: cast and expanded
  kFillDiagonal,
  kNothing,     // requires_grad_, detach_: no element changes
  kResize,      // resize_, resize_as_
  kReplace,     // set_: another tensor's memory
  kMetadata,    // t_, squeeze_, ...: becomes a view of itself
  kOut,         // add.out -> add, written to the arguments the schema marks
  kForeach,     // _foreach_add_ on lists of tensors
  kFunctional,  // _native_batch_norm_legit -> ..._functional: new contents are further outputs
  kBatchNorm,   // batch_norm in training, which writes to its statistics unannounced
  kNoForm,      // writes, and has no form that returns instead
};

// The type of a result, where it is not that of the first operand.
enum class ResultType : std::uint8_t {
  kOwn,
  kPromoted,  // the common type of the operands
  kTruth,     // bool
  kDouble,    // float64, or complex128
};

// What autocast does with the arguments.
enum class Cast : std::uint8_t {
  kNone,
  kLowered,  // to the lower precision
  kFull,     // to float32
  kWidest,   // to the widest type among them
  kOwn,      // nothing: the call says itself what type it makes
};

// How an operator that has no translator for complex tensors of its own is translated for them.
enum class OnComplex : std::uint8_t {
  kNone,         // not at all
  kByParts,      // T(re) + i T(im)
  kMultilinear,  // linear in each operand: products of the parts, summed
  kRealValued,   // the result has no imaginary part: ones, an identity matrix
  kNormal,       // both parts random, of half the variance each
  kOfTruth,      // asks whether numbers are zero
  kOfMagnitude,  // works with the magnitudes
  kSameFormula,  // one formula for both: matrix algebra, spectra
};

struct Facts {
  ViewFamily view = ViewFamily::kNone;
  WriteKind write = WriteKind::kNone;
  // The operator that returns what this one writes, where its name does not follow.
  std::string_view form = {};
  // Of an operator on lists (_foreach_...): the one on a tensor, where its name does not follow.
  std::string_view each = {};
  // Each element of the result comes from the elements in its place alone.
  bool pointwise = false;
  ResultType result = ResultType::kOwn;
  Cast autocast_cpu = Cast::kNone;
  Cast autocast_cuda = Cast::kNone;
  OnComplex on_complex = OnComplex::kNone;
  // Stops the program where something does not hold: nothing reads its result, and it stays.
  bool asserts = false;
  // Makes a row of numbers, arange say.
  bool counts = false;
  // Its kernels drop the dimension of a single sample, which its shape function keeps.
  bool drops_single = false;
  // How large its result is hangs on the elements of its arguments.
  bool sized_by_data = false;
};

// The row of the overload ("aten::max.other"), or that of all overloads ("aten::max"), or one of
// no facts.
const Facts& facts_of(const Schema& schema);
const Facts& facts_of(std::string_view qualified_name);

// A query such as numel or is_floating_point, whose answer PyTorch writes where it is used.
bool answers_metadata(const Schema& schema);

// Of an operator on lists that does the same on each tensor of them: what the operator on one is
// called ("clamp_min_"); empty for any other.
std::string_view operator_on_each(const Schema& schema);

}  // namespace sardonyx::program
