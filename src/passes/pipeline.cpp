// The rules and passes in the order they run.
#include <algorithm>
#include <array>
#include <variant>

#include "base/diagnostic.h"
#include "base/did_you_mean.h"
#include "onnx/infer/infer_model.h"
#include "passes/passes.h"
#include "passes/rules/activations/rules.h"
#include "passes/rules/attention/rules.h"
#include "passes/rules/constants/rules.h"
#include "passes/rules/dense/rules.h"
#include "passes/rules/identities/rules.h"
#include "passes/rules/indexing/rules.h"
#include "passes/rules/normalization/rules.h"
#include "passes/rules/padding/rules.h"
#include "passes/rules/quantization/rules.h"
#include "passes/rules/recurrence/rules.h"
#include "passes/rules/reshape/rules.h"
#include "passes/rules/sequences/rules.h"
#include "passes/rules/weights/rules.h"

namespace sardonyx::passes {
namespace {

// A pass over the whole model as a function of it.
template <bool (*run)(onnx::Model&)>
std::int64_t over(RuleContext& context) {
  return run(context.model()) ? 1 : 0;
}

// What stood behind an If, of other people's models, is simpler once the branch is known.
std::int64_t take_constant_branches(RuleContext& context) {
  if (!inline_constant_if(context.model())) return 0;
  if (context.is_foreign()) canonicalize(context.model());
  return 1;
}

// Rules that stand together run together; a pass has those before it done first.
using Entry = std::variant<const Rule*, Pass>;

const Pass kDropUnusedNodes = {"drop-unused-nodes", over<drop_unused_nodes>};
const Pass kPropagateTransposes = {"propagate-transposes", propagate_transposes,
                                   /*changes_weights=*/true};

// clang-format off: one a line
const std::array kPipeline = {
    // A parameter of a program keeps its name.
    Entry{Pass{"share-weights", over<share_weights>, /*changes_weights=*/true, /*foreign=*/true}},
    Entry{&kSequenceAtOfList},  // whose sizes are known once they are no lists any more
    Entry{&kSequenceAtOfSplit},
    Entry{Pass{.name = "canonicalize", .run = over<canonicalize>, .foreign = true}},
    Entry{Pass{"inline-constant-if", take_constant_branches}},
    Entry{Pass{"loop-invariant-code-motion", loop_invariant_code_motion}},
    Entry{kDropUnusedNodes},  // rules ask who else reads a value
    Entry{kPropagateTransposes},
    Entry{&kDropIdentity},
    Entry{&kNeutralElement},
    Entry{&kIdempotent},
    Entry{&kDecomposeCastLike},
    Entry{&kDecomposeNegation},
    Entry{&kFoldConstantWhere},
    Entry{&kWhereOfNot},
    Entry{&kClipBeforeCast},
    Entry{&kNegatedMinToMax},
    Entry{&kFoldConstants},
    Entry{&kReshapeWeights},
    Entry{&kFoldWeights},
    Entry{&kFoldBatchNorm},
    Entry{&kFoldChannelAffine},
    Entry{&kMergePads},
    Entry{&kFoldPad},
    Entry{&kPoolPadded},
    Entry{&kGatherNdToSlice},
    Entry{&kGatherRowsToSlice},
    Entry{&kScatterIntoShape},
    Entry{&kUnflattenGemm},
    Entry{&kTransposeInsideReshapes},
    Entry{&kMergeTransposes},
    Entry{&kMergeTransposesAcrossReshape},
    Entry{&kDropUnitAxesAroundTranspose},
    Entry{&kReduceBeforeTranspose},
    Entry{&kSplitPackedParts},
    Entry{&kMergeConcats},
    Entry{&kReduceToShape},
    Entry{&kMergeReshapes},
    Entry{&kExpandForTile},
    Entry{&kMatmulForEinsum},
    Entry{&kResizeByScales},
    Entry{&kRaiseClip},
    Entry{&kRaiseRelu},
    Entry{&kMergeClips},
    Entry{&kRaiseSigmoid},
    Entry{&kRaiseSoftmax},
    Entry{&kSoftmaxWithoutMaximum},
    Entry{&kRaiseLogSoftmax},
    Entry{&kRaiseHardSigmoid},
    Entry{&kRaiseHardSwish},
    Entry{&kRaiseGelu},
    Entry{&kRaiseSwish},
    Entry{&kRaiseSoftplus},
    Entry{&kRaiseMish},
    Entry{&kRaiseLayerNormalization},
    Entry{&kRaiseRmsNormalization},
    Entry{&kRaiseGroupNormalization},
    Entry{&kNormalizeInHalf},
    Entry{&kScaleNormalization},
    Entry{&kShiftNormalization},
    Entry{&kScaleChannels},
    Entry{&kHalveRotaryTables},
    Entry{&kRaiseRotaryEmbedding},
    Entry{&kRotateInPart},
    Entry{&kRaiseAttention},
    Entry{&kRaiseAttentionWithSinks},
    Entry{&kRaiseBooleanMask},
    Entry{&kEliminateAllTrueMask},
    Entry{&kSplitAttentionHeads},
    Entry{&kSplitHeadsFromBatches},
    Entry{&kShareAttentionHeads},
    Entry{&kFuseKvCache},
    Entry{&kRotateMergedHeads},
    Entry{&kAffineGroupNormalization},
    Entry{&kAffineInstanceNormalization},
    Entry{&kRaiseDepthToSpace},
    Entry{&kGatherBeforeDequantize},
    Entry{&kDropRequantization},
    Entry{&kRaiseRecurrence},
    Entry{&kDropZeroStates},
    Entry{&kMergeAttentionHeads},
    Entry{&kTransposeWeights},
    Entry{&kTransposeInsideGemm},
    Entry{&kMergeSlices},
    Entry{&kSliceOfConcat},
    Entry{&kSlicesToSplit},
    Entry{kDropUnusedNodes},
    Entry{kPropagateTransposes},  // those that rules have left
    Entry{&kMergeViews},
    Entry{&kMergeTransposes},
    Entry{&kMergeTransposesAcrossReshape},
    Entry{kDropUnusedNodes},
    Entry{&kGatherRows},  // what no other rule knows better
    Entry{&kRaiseSwiglu},
    Entry{kDropUnusedNodes},
};
// After lowering.
const std::array kTidying = {
    Entry{kDropUnusedNodes},  // what lowering has left reads what rules ask about
    Entry{&kNeutralElement},
    Entry{&kFoldWeights},
    Entry{&kSoftmaxOfAxes},
    Entry{&kMergeScaleFactors},
    Entry{&kScaleProducts},
    Entry{&kFlattenProducts},
    Entry{&kFlattenDenseLayers},
    Entry{&kMergeReshapes},
    Entry{kDropUnusedNodes},  // definitions may leave some
    Entry{&kMergeTransposesAcrossReshape},
    Entry{Pass{"sink-broadcast", sink_broadcast}},
    Entry{kDropUnusedNodes},
    Entry{&kTransposeBeforeSplit},
};
// clang-format on

std::string_view name_of(const Entry& entry) {
  if (const auto* rule = std::get_if<const Rule*>(&entry)) return (*rule)->name;
  return std::get<Pass>(entry).name;
}

class Run {
 public:
  Run(onnx::Model& model, const Options& options)
      : options_(options), context_(model, options, report_) {}

  void infer_types() {
    if (context_.model().has_training)
      base::fail("SX1803", "the model says how it is trained, by the names of its values",
                 "remove training_info from it, or leave it as it is");
    for (onnx::TypeConflict& each : onnx::infer_types(context_.model()))
      report_.declined.push_back({"infer-types", std::move(each.node), std::move(each.message)});
#ifndef NDEBUG
    is_valid_ = is_valid();
#endif
  }

  Report over(std::span<const Entry> entries) {
    for (const Entry& entry : entries) {
      if (is_disabled(name_of(entry))) continue;
      if (const auto* rule = std::get_if<const Rule*>(&entry)) {
        together_.push_back(*rule);
        continue;
      }
      apply_together();
      if (const auto* pass = std::get_if<Pass>(&entry)) apply(*pass);
    }
    apply_together();
    return std::move(report_);
  }

 private:
  bool is_disabled(std::string_view name) const {
    return std::ranges::find(options_.disabled, name) != options_.disabled.end();
  }

  void apply_together() {
    if (together_.empty()) return;
    const std::vector<std::int64_t> counts = apply_rules(together_, context_);
    for (std::size_t i = 0; i < together_.size(); ++i) note(together_[i]->name, counts[i]);
    together_.clear();
    check();
  }

  void apply(const Pass& pass) {
    if (pass.changes_weights && options_.keep_weights) return;
    if (pass.foreign && !options_.infer_types) return;
    const PassScope scope(context_, pass.name);
    note(pass.name, pass.run(context_));
    check();
  }

  void note(std::string_view name, std::int64_t count) {
    if (count > 0) report_.applied.push_back({std::string(name), count});
  }

  // What is wrong in a file is not a rule's fault.
  bool is_valid() const {
    try {
      onnx::verify(context_.model());
      return true;
    } catch (const base::Error&) {
      return false;
    }
  }

  void check() const {
#ifndef NDEBUG
    if (is_valid_) onnx::verify(context_.model());
#endif
  }

  const Options& options_;
  Report report_;
  RuleContext context_;
  std::vector<const Rule*> together_;
  bool is_valid_ = true;
};

bool is_of_pipeline(std::string_view name) {
  return std::ranges::find(kPipeline, name, name_of) != kPipeline.end();
}

// Throws SX1801 where nothing has the name.
void check_name(std::string_view name) {
  if (is_of_pipeline(name) || is_of_tidying(name)) return;
  std::string help = base::did_you_mean(name, pipeline());
  help +=
      (help.empty() ? "" : " ") + std::string("`sardonyx optimize --list-rules` lists them all");
  base::fail("SX1801", "there is no rule or pass called '" + std::string(name) + "'",
             std::move(help));
}

// Those up to the last of this name; all where none has it.
std::span<const Entry> up_to(std::span<const Entry> entries, std::string_view name) {
  for (std::size_t count = entries.size(); count > 0 && !name.empty(); --count)
    if (name_of(entries[count - 1]) == name) return entries.first(count);
  return entries;
}

}  // namespace

std::vector<std::string_view> pipeline() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kPipeline) names.push_back(name_of(entry));
  for (const Entry& entry : kTidying)
    if (is_of_tidying(name_of(entry))) names.push_back(name_of(entry));
  return names;
}

bool is_of_tidying(std::string_view name) {
  return !is_of_pipeline(name) && std::ranges::find(kTidying, name, name_of) != kTidying.end();
}

Report tidy(onnx::Model& model, const Options& options) {
  return Run(model, options).over(up_to(kTidying, options.stop_after));
}

Report optimize(onnx::Model& model, const Options& options) {
  for (const std::string& name : options.disabled) check_name(name);
  if (!options.stop_after.empty()) check_name(options.stop_after);
  Run run(model, options);
  if (options.infer_types) run.infer_types();
  return run.over(up_to(kPipeline, options.stop_after));
}

std::vector<std::string> optimize(onnx::Model& model, std::string_view stop_after,
                                  bool keep_weights) {
  return optimize(model, {.stop_after = stop_after, .keep_weights = keep_weights, .limits = {}})
      .names();
}

}  // namespace sardonyx::passes
