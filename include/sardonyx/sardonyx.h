// Sardonyx turns PyTorch programs into ONNX models. This is its whole C++ interface.
//
//   sardonyx::Model model = sardonyx::convert(sardonyx::read("model.pt2"));
//   sardonyx::write(model, "model.onnx");
//
// Every function throws sardonyx::Error, whose diagnostics() say what is wrong and what to do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sardonyx/diagnostic.h"
#include "sardonyx/export.h"
#include "sardonyx/newest_opset.h"
#include "sardonyx/precision.h"

namespace sardonyx {

namespace program {
struct Program;
}
namespace onnx {
class Model;
}
namespace refresh {
struct Origins;
}

// A captured PyTorch program. Weights are borrowed from the mapped file, never copied.
class SARDONYX_API Program {
 public:
  explicit Program(std::unique_ptr<program::Program> program);
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  // Signature, weights and calls as readable text.
  std::string str() const;
  program::Program& internal() const { return *program_; }

 private:
  std::unique_ptr<program::Program> program_;
};

// An ONNX model in memory. Weights stay where the program has them.
class SARDONYX_API Model {
 public:
  explicit Model(std::unique_ptr<onnx::Model> model, bool has_data_file = false,
                 std::filesystem::path file = {});
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  // The graph as readable text.
  std::string str() const;
  // Nodes of the main graph and all bodies.
  std::int64_t node_count() const;
  // Whether it was read with external data, and is written with some.
  bool has_data_file() const { return has_data_file_; }
  void set_has_data_file(bool has) { has_data_file_ = has; }
  // What it was read from; empty where it was made otherwise.
  const std::filesystem::path& file() const { return file_; }
  onnx::Model& internal() const { return *model_; }
  // What is known of the program's weights, which is written into the model; null where it was not
  // made of a program.
  const std::shared_ptr<refresh::Origins>& origins() const { return origins_; }
  void set_origins(std::shared_ptr<refresh::Origins> origins) { origins_ = std::move(origins); }

 private:
  std::unique_ptr<onnx::Model> model_;
  std::shared_ptr<refresh::Origins> origins_;
  bool has_data_file_ = false;
  std::filesystem::path file_;
};

// Where models can run: "onnxruntime" (the default: standard operators only, safe on its CPU),
// "onnxruntime-cpu" (its own operators too), "standard", ... docs/targets.md says what each takes.
SARDONYX_API std::vector<std::string> target_names();
// The opset that serves a target best, which it has where none is named; SX1010 for an unknown one.
SARDONYX_API std::int64_t target_opset(const std::string& name);
// The accuracy_level of block-wise quantized weights for a target where no other is requested; 0
// where the target does not round activations. SX1010 for an unknown one.
SARDONYX_API int target_accuracy_level(const std::string& name);

// What becomes of an operator that has no translation.
enum class UnsupportedOps : std::uint8_t {
  kNo,    // it is an error
  kAsIs,  // a node of its own name in a domain of its own: aten::foo
  kATen,  // aten operators: a node org.pytorch.aten::ATen that names it in an attribute
};

inline constexpr std::int64_t kOldestOpset = 13;
inline constexpr std::int64_t kDefaultOpset = 20;  // of the target runtimes

// What simplifying did, and what it left as it was, and why.
struct OptimizationReport {
  struct Applied {
    std::string name;  // of the rule or pass
    std::int64_t count = 0;
  };
  // A rule that had found what it looks for.
  struct Declined {
    std::string rule, node, reason;
  };
  std::vector<Applied> applied;  // in the order they ran
  std::vector<Declined> declined;
  // What is held in another type than before.
  std::vector<WeightPrecision> weights;
  // Of simplify(), warnings: SX1507 where the target's accelerator has a kernel of no node.
  std::vector<Diagnostic> notes;
  // Of the main graph and all bodies.
  std::int64_t nodes_before = 0;
  std::int64_t nodes_after = 0;
};

// Dynamic dimensions of inputs, by name. SX1019 for a name that no input has, and for a number that
// is outside of the range that the dimension was declared with.
struct DimOptions {
  std::map<std::string, std::int64_t> fixed;  // is this number, in every shape that depends on it
  std::map<std::string, std::int64_t> max;    // is this number at most
};

struct ConvertOptions {
  // Missing: the one that serves the target runtime best, or the oldest newer one that has what the
  // program needs, which a note reports (SX1312).
  std::optional<std::int64_t> opset;
  // One of target_names(); SX1005 for any other.
  std::string runtime = "onnxruntime";
  // In order; missing or empty ones are derived from the program.
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  bool optimize = true;
  // False: weights stay what the program has, and what could be computed of them once is computed
  // at each run.
  bool fold_weights = true;
  // Buffers and inputs that the program mutates become further outputs; false drops them.
  bool mutations_as_outputs = true;
  // Modules of these classes ("torch.nn.modules.linear.Linear") become model-local functions; or
  // all modules do. Needs opset 15.
  std::vector<std::string> modules_as_functions;
  bool all_modules_as_functions = false;
  // Shared libraries with custom translators, as sardonyx/plugin.h describes them.
  std::vector<std::filesystem::path> plugins;
  // Versions of other domains than ONNX's own that the model is to import, where it uses them.
  std::map<std::string, std::int64_t> domain_versions;
  UnsupportedOps fall_through = UnsupportedOps::kNo;
  // Called with what is worth knowing and no failure: operators that are kept as they are.
  std::function<void(const Diagnostic& note)> on_note;
  // What the program asserts of data (torch._check, aten::_assert_async) becomes bool outputs
  // `assertion_0`, ... that should be true, with their messages in the model's metadata; false
  // drops them. Assertions inside bodies of branches and loops are always dropped.
  bool assertions_as_outputs = false;
  // Every tensor that a captured call makes becomes a further output `value::<node>`, in order, to
  // be compared with what PyTorch computes. What is chosen among equal numbers (indices) is read
  // from that output by what follows, so that another choice can be put in its place.
  bool values_as_outputs = false;
  // Runs the rules and passes up to and including the one of this name (to find the one at fault),
  // without those of `disable`. One of rule_names(); SX1801 for any other.
  std::string stop_after;
  std::vector<std::string> disable;
  // As for optimize(). Block-wise quantized weights make the opset 21, where none is named and the
  // runtime has no contrib operators for them.
  PrecisionOptions precision = {};
  DimOptions dims = {};
  // Called with what simplifying did, where `optimize`, or the precision changes.
  std::function<void(const OptimizationReport&)> on_simplified;
  // Nodes have the names of the rules that made or changed them, as metadata `sardonyx.rules`.
  bool record_rules = false;
};

enum class ExternalData : std::uint8_t {
  kAuto,    // a second file when the model exceeds 2 GB, or was read with one
  kAlways,  // weights always go to <path>.data
  kNever,   // an error when the model exceeds 2 GB
};

struct WriteOptions {
  ExternalData external_data = ExternalData::kAuto;
  bool include_initializers = true;
  bool keep_initializers_as_inputs = false;
  bool include_metadata = true;  // where each node came from
  // Whether that has the names of the user's files alone, without their folders.
  bool strip_paths = false;
  // Files that weights stay in, where they lie in one as they would be written: the model refers to
  // them there. By the path that a file was read from, and where it is from the model's folder,
  // which must be that folder or one below.
  std::map<std::string, std::string> in_place;
  // Called now and then with the bytes written and the bytes in all.
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

struct ReadOptions {
  // What an archive of TorchScript does not say of its inputs: "x:float32[batch,3,224,224]" (a name
  // is a dimension that varies), "n:int", "n=3".
  std::vector<std::string> inputs;
  // Dimensions of a traced module's example that vary: "x:0,2".
  std::vector<std::string> dynamic;
  // Names of dynamic dimensions: "s77=batch" (the program's symbol), "x:1=sequence" (an input's
  // dimension). torch.export.save() does not store the names of Dims.
  std::vector<std::string> dim_names;
};

// Reads a program that torch.export.save() or torch.jit.save() wrote.
SARDONYX_API Program read(const std::filesystem::path& path, const ReadOptions& options = {});

// The same of TorchScript's archive in memory.
SARDONYX_API Program read_archive(std::string bytes, const ReadOptions& options = {});

// Translates and, unless told otherwise, optimizes. Collects every failure before it throws.
SARDONYX_API Model convert(Program program, const ConvertOptions& options = {});

// Reads an ONNX model.
SARDONYX_API Model read_model(const std::filesystem::path& path);

struct OptimizeOptions {
  // Missing: the model's own, or where `runtime` names one that is given operators of its own, the
  // newer of that and the one that serves the runtime best. Models of before opset 13 become newer
  // only where one is named.
  std::optional<std::int64_t> opset;
  // One of target_names(). Empty: what the model was converted for, or "onnxruntime".
  std::string runtime;
  // Runs the rules and passes up to and including the one of this name, without those of `disable`.
  // One of rule_names(); SX1801 for any other.
  std::string stop_after;
  std::vector<std::string> disable;
  // SX1810 for words that are none, SX1811 and SX1812 for patterns that cannot be or name nothing,
  // SX1813 to SX1815 for weights that cannot be held so.
  PrecisionOptions precision = {};
  // Layers that are alike become calls of one function, which has their nodes; opset 15 or newer.
  bool functions = false;
  // Calls of the model's own functions become what these do, so that rules see it whole. Where the
  // opset has other operators than a function, this is done anyway.
  bool inline_functions = false;
  // Inputs that have a value where callers give none (initializers that are inputs too) become
  // constants, so that rules may fold them and runtimes prepare them as they load the model. By
  // default where a file of version 4 of the format or older has all initializers so, as its
  // exporter wrote every model.
  std::optional<bool> freeze_initializers;
  // The model is what its file has, as it was read: where there is nothing to do, it stays as the
  // file has it, with the names and the order of its nodes.
  bool is_as_read = false;
  DimOptions dims = {};
  // As for convert().
  bool record_rules = false;
};

// The rules and passes that simplify, by name, in the order they run.
SARDONYX_API std::vector<std::string> rule_names();

// How many threads work on weights at most, for the whole process; 0, the default, for as many as
// there are processors. What is written does not depend on it.
SARDONYX_API void set_threads(int count);

// Simplifies a model in place, and gives it to its target; the names of the passes that changed
// something, in order. A node that only the runtime does not take stays as it is; what the opset
// cannot say is an error (SX1504), and the model is not to be used then.
SARDONYX_API std::vector<std::string> optimize(Model& model, const OptimizeOptions& options = {});
// The same, told in full.
SARDONYX_API OptimizationReport simplify(Model& model, const OptimizeOptions& options = {});

// Writes atomically: on failure, what was at `path` before is still there.
SARDONYX_API void write(const Model& model, const std::filesystem::path& path,
                        const WriteOptions& options = {});

// Prepares a model to be written with these files as WriteOptions::in_place: weights that lie in
// one in another order of axes or another floating type become what lies there, and nodes make of
// it what they were. How many bytes stay in the files.
SARDONYX_API std::int64_t reference_external_weights(
    Model& model, const std::map<std::string, std::string>& files);

// The model as bytes; throws SX1603 above 2 GB.
SARDONYX_API std::string serialize(const Model& model, const WriteOptions& options = {});

// "0.1.0"
SARDONYX_API std::string_view version();

}  // namespace sardonyx
