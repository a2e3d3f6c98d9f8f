// The targets, and the tables that each is made of.
#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <vector>

#include "onnx/operators/operator.h"
#include "targets/onnxruntime/fusions/fusions.h"
#include "targets/onnxruntime/tables.h"
#include "targets/openvino/tables.h"
#include "targets/target.h"
#include "targets/tensorrt/tables.h"

namespace sardonyx::targets {
namespace {

// The rows of each operator, for one lookup a node.
template <class Row>
struct ByOperator {
  std::vector<std::vector<Row>> rows = std::vector<std::vector<Row>>(onnx::operators().size());

  std::vector<Row>& of(Op op) { return rows[static_cast<std::size_t>(op)]; }
};

struct Index {
  ByOperator<const Rule*> rules;
  using Kernels = std::vector<std::span<const Kernel>>;  // of each operator
  std::vector<Kernels> releases, on_cpu;

  explicit Index(const Target& target) {
    for (const Rules& table : target.rules)
      for (const Rule& rule : table) rules.of(rule.op).push_back(&rule);
    for (const Release& release : target.releases) {
      releases.push_back(by_operator(release.kernels));
      on_cpu.push_back(by_operator(release.on_cpu));
    }
  }

  static Kernels by_operator(std::span<const Kernel> all) {
    Kernels kernels(onnx::operators().size());
    for (std::size_t i = 0; i < all.size();) {
      std::size_t end = i;
      while (end < all.size() && all[end].op == all[i].op) ++end;
      kernels[static_cast<std::size_t>(all[i].op)] = all.subspan(i, end - i);
      i = end;
    }
    return kernels;
  }
};

// Made for each target when it is first asked for: most programs ask for one.
const Index& index_of(const Target& target) {
  struct Place {
    std::once_flag made;
    std::optional<Index> index;
  };
  static std::vector<Place> places(targets().size());
  Place& place = places[static_cast<std::size_t>(&target - targets().data())];
  std::call_once(place.made, [&] { place.index.emplace(target); });
  return *place.index;
}

// Measured on x86 with ONNX Runtime 1.31.
constexpr rewriting::Tuning kCpuTuning{.min_gemm_rows = 49, .max_gemm_row_length = 384};

}  // namespace

const Release* Target::release_for(std::int64_t at_opset) const {
  if (releases.empty()) return nullptr;
  const auto found = std::ranges::find_if(
      releases, [at_opset](const Release& release) { return release.opset >= at_opset; });
  return found == releases.end() ? &releases.back() : &*found;
}

std::span<const Kernel> Target::kernels_of(Op op, std::int64_t at_opset) const {
  const Release* release = release_for(at_opset);
  if (release == nullptr) return {};
  const auto place = static_cast<std::size_t>(release - releases.data());
  return index_of(*this).releases[place][static_cast<std::size_t>(op)];
}

std::span<const Kernel> Target::cpu_kernels_of(Op op, std::int64_t at_opset) const {
  const Release* release = release_for(at_opset);
  if (release == nullptr) return {};
  const auto place = static_cast<std::size_t>(release - releases.data());
  return index_of(*this).on_cpu[place][static_cast<std::size_t>(op)];
}

bool Target::has_rule(const Rule& rule, std::int64_t at_opset) const {
  if (at_opset < rule.first || at_opset > rule.last) return false;
  const Release* release = rule.until.empty() ? nullptr : release_for(at_opset);
  if (release == nullptr) return true;
  // Releases are recorded in their order, the one that is without the fault among them.
  const auto fixed = std::ranges::find(releases, rule.until, &Release::name);
  return fixed == releases.end() || release < &*fixed;
}

std::span<const Rule* const> Target::rules_of(Op op) const {
  return index_of(*this).rules.rows[static_cast<std::size_t>(op)];
}

std::span<const Target> targets() {
  static constexpr std::string_view kFedIfRead[] = {"position_ids"};
  static const std::array kTargets = {
      Target{.name = "onnxruntime",
             .title = "ONNX Runtime's CPU provider",
             .about = "Standard operators only, right on ONNX Runtime's CPU provider: "
                      "dtypes without a kernel are computed in the nearest one, and its "
                      "faults are worked around.",
             .opset = 20,
             .releases = onnxruntime_releases(),
             .rules = onnxruntime_cpu_tables(),
             .fusions = {},
             .tuning = kCpuTuning,
             .source = "tried with ONNX Runtime 1.31 and 1.32"},
      Target{.name = "onnxruntime-cpu",
             .title = "ONNX Runtime's CPU provider",
             .about = "The same at opset 23, for whose Attention and RMSNormalization the "
                      "CPU provider has kernels, and with contrib operators where these are "
                      "measured to be no slower.",
             .opset = 23,
             .releases = onnxruntime_releases(),
             .rules = onnxruntime_cpu_tables(),
             .fusions = onnxruntime_cpu_fusions(),
             .has_quantized_operators = true,
             .accuracy_level = 4,
             .tuning = kCpuTuning,
             .source = "tried with ONNX Runtime 1.31 and 1.32"},
      Target{.name = "onnxruntime-avx2",
             .title = "ONNX Runtime's CPU provider on x86 without VNNI",
             .about = "As onnxruntime, for x86 processors that have neither VNNI nor AMX (before "
                      "Ice Lake and Zen 4): ONNX Runtime's products of uint8 and int8 saturate "
                      "there, so that int8 weights become uint8. Elsewhere that form is slower.",
             .opset = 20,
             .releases = onnxruntime_releases(),
             .rules = onnxruntime_avx2_tables(),
             .fusions = {},
             .tuning = kCpuTuning,
             .source = "tried with ONNX Runtime 1.31 and 1.32"},
      Target{.name = "onnxruntime-genai",
             .title = "onnxruntime-genai on the CPU",
             .about = "Language models for onnxruntime-genai: as onnxruntime-cpu, and "
                      "relying on its inputs. Padding of `attention_mask` is on the right, "
                      "`position_ids` continue from the cache, and past and present keys "
                      "and values may share a buffer.",
             .opset = 23,
             .releases = onnxruntime_releases(),
             .rules = onnxruntime_cpu_tables(),
             .fusions = onnxruntime_genai_fusions(),
             .has_quantized_operators = true,
             .accuracy_level = 4,
             .tuning = kCpuTuning,
             .source = "tried with onnxruntime-genai 0.18 and ONNX Runtime 1.31",
             .fed_if_read = kFedIfRead},
      Target{.name = "onnxruntime-cuda",
             .title = "ONNX Runtime's CUDA provider",
             .about = "Operators that the CUDA provider has kernels for, in the types that it has "
                      "them for (float16 and bfloat16 without casts), at the newest opset where "
                      "this holds for the model. ONNX Runtime runs the rest on the CPU, which "
                      "`--explain` lists. Images keep their channels first: GroupNorm and NhwcConv "
                      "of com.microsoft have them last, and only a GPU can tell where they are "
                      "quicker with the Transposes that this takes.",
             .opset = 23,
             .releases = onnxruntime_cuda_releases(),
             .rules = onnxruntime_cuda_tables(),
             .fusions = onnxruntime_cuda_fusions(),
             .has_quantized_operators = true,
             .source = "kernels: what ONNX Runtime 1.31 registers; opset and fusions: run on an "
                       "H100 with 1.31"},
      Target{.name = "onnxruntime-genai-cuda",
             .title = "ONNX Runtime's CUDA provider",
             .about = "Language models for onnxruntime-genai on a GPU of NVIDIA: as "
                      "onnxruntime-cuda, and relying on the inputs that onnxruntime-genai feeds. "
                      "In float16 and bfloat16 past and present share a buffer.",
             .opset = 23,
             .releases = onnxruntime_cuda_releases(),
             .rules = onnxruntime_cuda_tables(),
             .fusions = onnxruntime_genai_cuda_fusions(),
             .has_quantized_operators = true,
             .source = "as onnxruntime-cuda; files run with onnxruntime-genai 0.18 on the CPU",
             .fed_if_read = kFedIfRead},
      Target{.name = "onnxruntime-genai-webgpu",
             .title = "ONNX Runtime's WebGPU provider",
             .about = "Language models for onnxruntime-genai on WebGPU: as webgpu, and relying on "
                      "the inputs that onnxruntime-genai feeds.",
             .opset = 23,
             .releases = onnxruntime_webgpu_releases(),
             .lacks_bfloat16 = true,
             .rules = onnxruntime_webgpu_tables(),
             .fusions = onnxruntime_genai_webgpu_fusions(),
             .has_quantized_operators = true,
             .source = "as webgpu; files run with onnxruntime-genai 0.18 on the CPU",
             .fed_if_read = kFedIfRead},
      Target{.name = "onnxruntime-genai-dml",
             .title = "ONNX Runtime's DirectML provider",
             .about = "Language models for onnxruntime-genai on Windows with DirectML: opset 20, "
                      "the newest one that the provider has operators of, and relying on the "
                      "inputs that onnxruntime-genai feeds. Past and present share a buffer, and a "
                      "prompt is passed at once.",
             .opset = 20,
             .releases = onnxruntime_releases(),
             .computes_in_half = true,
             .lacks_bfloat16 = true,
             .rules = onnxruntime_tables(),
             .fusions = onnxruntime_genai_dml_fusions(),
             .has_quantized_operators = true,
             .source = "read in the provider's source, not run, which takes Windows; files run "
                       "with onnxruntime-genai 0.18 on the CPU",
             .fed_if_read = kFedIfRead},
      Target{.name = "webgpu",
             .title = "ONNX Runtime's WebGPU provider",
             .about = "Operators that the WebGPU provider has kernels for, at the newest opset "
                      "where this holds for the model: no arithmetic of int64 or float64. "
                      "Positions, counts and distances are int32 or float32, exact for tensors of "
                      "up to 4 million rows. `--explain` lists what runs on the CPU.",
             .opset = 23,
             .releases = onnxruntime_webgpu_releases(),
             .lacks_bfloat16 = true,
             .rules = onnxruntime_webgpu_tables(),
             .fusions = onnxruntime_webgpu_fusions(),
             .has_quantized_operators = true,
             .source = "run with ONNX Runtime 1.27 on a software Vulkan"},
      Target{.name = "openvino",
             .title = "OpenVINO",
             .about = "OpenVINO on the CPU. It computes float64 in float32 and int64 in "
                      "int32, divides, sums and multiplies integer matrices beyond 2^24 in "
                      "float32, and drops NaN in Relu, Clip, Max and Min.",
             .opset = 20,
             .releases = {},
             .rules = openvino_tables(),
             .fusions = {},
             .source = "tried with OpenVINO 2026.4.1"},
      Target{.name = "tensorrt",
             .title = "TensorRT",
             .about = "Operators and types that NVIDIA's parser of ONNX documents for TensorRT 11. "
                      "Its networks are strongly typed: the precision is that of the file, in "
                      "float16 or bfloat16 by `--precision`, and quantized by QuantizeLinear and "
                      "DequantizeLinear. Files of opset 24 and older are for 11.0 and newer, those "
                      "of opset 25 for 11.5.",
             .opset = 25,
             .releases = tensorrt_releases(),
             .expands_functions = false,
             .rules = tensorrt_tables(),
             .fusions = {},
             .source = "read, not run, which takes a GPU: the parser's list of operators and "
                       "release notes of 11.0 to 11.5"},
      Target{.name = "standard",
             .title = "the standard",
             .about = "The ONNX specification without workarounds, for any conforming "
                      "runtime.",
             .opset = 20,
             .releases = {},
             .rules = {},
             .fusions = {},
             .tuning = kCpuTuning,
             .source = "the specification"},
  };
  return kTargets;
}

const Target* find_target(std::string_view name) {
  const auto found = std::ranges::find(targets(), name, &Target::name);
  return found == targets().end() ? nullptr : &*found;
}

}  // namespace sardonyx::targets
