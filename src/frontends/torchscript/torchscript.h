// Reads what torch.jit.save() wrote.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "frontends/archive/zip.h"
#include "program/inference/sampled_results.h"
#include "program/ir/program.h"

namespace sardonyx::torchscript {

struct ReadOptions {
  // Of the module, what is followed.
  std::string method = "forward";
  // "x:float32[batch,3,224,224]", "n:int", "n=3", "pair:(float32[n], [int64[]])": what archives of
  // scripted modules do not say.
  std::vector<std::string> inputs;
  // "x:0,2": dimensions of a traced module's example that vary.
  std::vector<std::string> dynamic;
  // What the method's parameters are called, in order; where it is missing, as the archive says.
  std::vector<std::string> names;
  // What tracing made tensors of sizes were numbers of Python, as which they take part in
  // promotion: of a module that is traced for this, not of one that its user traced, which computes
  // with tensors.
  bool sizes_were_numbers = false;
  // Outputs may have one rank or another, as data or sizes decide: the older exporter's models do,
  // which ONNX Runtime runs and onnx.checker rejects.
  bool ranks_may_differ = false;
  // quantize_per_tensor and its relatives add the zero point to what they rounded, as some builds
  // of PyTorch do. Otherwise they add it before rounding, as PyTorch documents it.
  // The two differ in ties.
  bool zero_point_after_rounding = false;
  // arange() to int64 counts its elements in double, as newer builds of PyTorch do. Older ones cut
  // fractions of the end before they count.
  bool arange_counts_in_double = false;
  // A weight, by its name, that does not lie in the archive; null for one that does.
  std::function<const program::Weight*(program::Program&, const std::string& name)> weight;
  // Who knows operators that this build does not; nobody for a file.
  program::OperatorSource operators;
};

// Throws SX112x for what is no such archive, and everything that the program holds and Sardonyx
// cannot take together.
std::unique_ptr<program::Program> read_torchscript(archive::Bytes bytes,
                                                   const ReadOptions& options);

// Whether these are the bytes of such an archive.
bool is_torchscript(const archive::ZipReader& zip);

}  // namespace sardonyx::torchscript
