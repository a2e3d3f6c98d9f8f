// What an operator that writes to its arguments becomes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "program/program.h"

namespace sardonyx::functionalize {

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

struct WriteRule {
  WriteKind kind = WriteKind::kNone;
  const program::Schema* form = nullptr;  // that returns what this one writes
  std::vector<std::size_t> written;       // positions of the parameters that are written to
};

WriteRule write_rule(const program::Schema& schema);

// What the functional form of an in-place operator returns: PyTorch computes in the common type of
// the operands and then casts to that of the tensor written to.
base::DType result_dtype(const program::Schema& form, const program::Call& call,
                         const program::Value& self);

// What the functional form of an operator with out= returns, of which `out` is the destination.
base::DType out_dtype(const program::Schema& form, const program::Call& call, const WriteRule& rule,
                      const program::Value& out);

}  // namespace sardonyx::functionalize
