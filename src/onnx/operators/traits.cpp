#include "onnx/operators/traits.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "onnx/gen/op.h"

namespace sardonyx::onnx {
namespace {

struct TraitRow {
  Op op;
  unsigned traits;
};

constexpr unsigned trait_bit(Trait trait) { return static_cast<unsigned>(trait); }
constexpr unsigned kBroadcasts = trait_bit(Trait::kBroadcasts),
                   kPointwise = trait_bit(Trait::kPointwise),
                   kRearranges = trait_bit(Trait::kRearranges),
                   kReduces = trait_bit(Trait::kReduces),
                   kFindsPosition = trait_bit(Trait::kFindsPosition),
                   kCommutes = trait_bit(Trait::kCommutes),
                   kArithmetic = trait_bit(Trait::kArithmetic),
                   kSensitive = trait_bit(Trait::kSensitive);

// Sorted. PRelu is no row: its slope broadcasts to its operand and not the other way round.
constexpr TraitRow kTraitRows[] = {
    {Op::kAbs, kPointwise | kArithmetic},
    {Op::kAcos, kPointwise | kSensitive},
    {Op::kAcosh, kPointwise | kSensitive},
    {Op::kAdd, kBroadcasts | kCommutes | kArithmetic},
    {Op::kAnd, kBroadcasts | kCommutes},
    {Op::kArgMax, kFindsPosition},
    {Op::kArgMin, kFindsPosition},
    {Op::kAsin, kPointwise | kSensitive},
    {Op::kAsinh, kPointwise | kSensitive},
    {Op::kAtan, kPointwise},
    {Op::kAtanh, kPointwise | kSensitive},
    {Op::kBernoulli, kSensitive},
    {Op::kBitCast, kSensitive},
    {Op::kBitShift, kBroadcasts},
    {Op::kBitwiseAnd, kBroadcasts | kCommutes},
    {Op::kBitwiseNot, kPointwise},
    {Op::kBitwiseOr, kBroadcasts | kCommutes},
    {Op::kBitwiseXor, kBroadcasts | kCommutes},
    {Op::kCast, kPointwise},
    {Op::kCeil, kPointwise | kArithmetic},
    {Op::kCelu, kPointwise},
    {Op::kClip, kPointwise | kArithmetic},
    {Op::kCompress, kRearranges},
    {Op::kCos, kPointwise | kArithmetic},
    {Op::kCosh, kPointwise | kSensitive},
    {Op::kCumProd, kSensitive},
    {Op::kCumSum, kArithmetic | kSensitive},
    {Op::kDFT, kSensitive},
    {Op::kDepthToSpace, kRearranges},
    {Op::kDequantizeLinear, kSensitive},
    {Op::kDet, kSensitive},
    {Op::kDiv, kBroadcasts | kArithmetic},
    {Op::kDynamicQuantizeLinear, kSensitive},
    {Op::kElu, kPointwise},
    {Op::kEqual, kBroadcasts | kCommutes},
    {Op::kErf, kPointwise},
    {Op::kExp, kPointwise | kArithmetic | kSensitive},
    {Op::kExpand, kRearranges},
    {Op::kEyeLike, kSensitive},
    {Op::kFlatten, kRearranges},
    {Op::kFloor, kPointwise | kArithmetic},
    {Op::kGather, kRearranges},
    {Op::kGatherElements, kRearranges},
    {Op::kGatherND, kRearranges},
    {Op::kGelu, kPointwise},
    {Op::kGreater, kBroadcasts},
    {Op::kGreaterOrEqual, kBroadcasts},
    {Op::kGridSample, kSensitive},
    {Op::kHardSigmoid, kPointwise},
    {Op::kHardSwish, kPointwise},
    {Op::kIdentity, kPointwise | kRearranges},
    {Op::kIf, kSensitive},
    {Op::kIsInf, kPointwise},
    {Op::kIsNaN, kPointwise},
    {Op::kLeakyRelu, kPointwise},
    {Op::kLess, kBroadcasts},
    {Op::kLessOrEqual, kBroadcasts},
    {Op::kLog, kPointwise | kArithmetic | kSensitive},
    {Op::kLoop, kSensitive},
    {Op::kMax, kBroadcasts | kArithmetic},
    {Op::kMean, kBroadcasts},
    {Op::kMelWeightMatrix, kSensitive},
    {Op::kMin, kBroadcasts | kArithmetic},
    {Op::kMish, kPointwise},
    {Op::kMod, kBroadcasts | kArithmetic},
    {Op::kMul, kBroadcasts | kCommutes | kArithmetic},
    {Op::kMultinomial, kSensitive},
    {Op::kNeg, kPointwise | kArithmetic},
    {Op::kNonMaxSuppression, kSensitive},
    {Op::kNot, kPointwise},
    {Op::kOr, kBroadcasts | kCommutes},
    {Op::kPow, kBroadcasts | kArithmetic | kSensitive},
    {Op::kQLinearConv, kSensitive},
    {Op::kQLinearMatMul, kSensitive},
    {Op::kQuantizeLinear, kSensitive},
    {Op::kRandomNormal, kSensitive},
    {Op::kRandomNormalLike, kSensitive},
    {Op::kRandomUniform, kSensitive},
    {Op::kRandomUniformLike, kSensitive},
    {Op::kRange, kSensitive},
    {Op::kReciprocal, kPointwise | kArithmetic | kSensitive},
    {Op::kReduceL1, kReduces | kSensitive},
    {Op::kReduceL2, kReduces | kSensitive},
    {Op::kReduceLogSum, kReduces | kSensitive},
    {Op::kReduceLogSumExp, kReduces | kSensitive},
    {Op::kReduceMax, kReduces},
    {Op::kReduceMean, kReduces | kSensitive},
    {Op::kReduceMin, kReduces},
    {Op::kReduceProd, kReduces | kSensitive},
    {Op::kReduceSum, kReduces | kSensitive},
    {Op::kReduceSumSquare, kReduces | kSensitive},
    {Op::kRelu, kPointwise},
    {Op::kReshape, kRearranges},
    {Op::kReverseSequence, kRearranges},
    {Op::kRoiAlign, kSensitive},
    {Op::kRound, kPointwise | kArithmetic},
    {Op::kSTFT, kSensitive},
    {Op::kScan, kSensitive},
    {Op::kSelu, kPointwise},
    {Op::kShrink, kPointwise},
    {Op::kSigmoid, kPointwise},
    {Op::kSign, kPointwise | kArithmetic},
    {Op::kSin, kPointwise | kArithmetic},
    {Op::kSinh, kPointwise | kSensitive},
    {Op::kSlice, kRearranges},
    {Op::kSoftplus, kPointwise},
    {Op::kSoftsign, kPointwise},
    {Op::kSpaceToDepth, kRearranges},
    {Op::kSplit, kRearranges},
    {Op::kSqrt, kPointwise | kArithmetic},
    {Op::kSqueeze, kRearranges},
    {Op::kStringConcat, kBroadcasts},
    {Op::kSub, kBroadcasts | kArithmetic},
    {Op::kSum, kBroadcasts},
    {Op::kSwish, kPointwise},
    {Op::kTan, kPointwise | kSensitive},
    {Op::kTanh, kPointwise},
    {Op::kThresholdedRelu, kPointwise},
    {Op::kTile, kRearranges},
    {Op::kTranspose, kRearranges},
    {Op::kUnsqueeze, kRearranges},
    {Op::kWhere, kBroadcasts | kArithmetic},
    {Op::kXor, kBroadcasts | kCommutes},
};

static_assert(std::ranges::is_sorted(kTraitRows, {}, &TraitRow::op) &&
              std::ranges::adjacent_find(kTraitRows, {}, &TraitRow::op) == std::end(kTraitRows));

constexpr auto kTraits = [] {
  std::array<std::uint8_t, static_cast<std::size_t>(std::end(kTraitRows)[-1].op) + 1> traits{};
  for (const TraitRow& row : kTraitRows)
    traits[static_cast<std::size_t>(row.op)] = static_cast<std::uint8_t>(row.traits);
  return traits;
}();

}  // namespace

bool has_trait(Op op, Trait trait) {
  const auto place = static_cast<std::size_t>(op);
  return place < kTraits.size() && (kTraits[place] & trait_bit(trait)) != 0;
}

}  // namespace sardonyx::onnx
