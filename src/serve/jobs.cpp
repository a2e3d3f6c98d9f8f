#include "serve/jobs.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/diagnostic.h"
#include "base/dtype.h"
#include "frontends/checkpoints/safetensors.h"
#include "onnx/infer/infer_model.h"
#include "sardonyx/report.h"
#include "serve/text.h"
#include "viewer/page.h"

namespace sardonyx::serve {
namespace {

std::int64_t number(std::string_view text, std::string_view name) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  if (const auto read = std::from_chars(text.data(), end, value);
      read.ec != std::errc() || read.ptr != end || value < 0)
    base::fail("SX1001", fmt::format("{} is a whole number, not '{}'", name, text));
  return value;
}

// "batch=1, tokens=128"
std::map<std::string, std::int64_t> numbers(std::string_view text, std::string_view name) {
  std::map<std::string, std::int64_t> found;
  for (const std::string_view part : parts(text, ',')) {
    const std::size_t at = part.rfind('=');
    if (at == std::string_view::npos || at == 0)
      base::fail("SX1001", fmt::format("{} is NAME=N, ..., not '{}'", name, part));
    const std::string key(trimmed(part.substr(0, at)));
    const std::int64_t value =
        number(trimmed(part.substr(at + 1)), fmt::format("{} of {}", name, key));
    if (const auto [known, is_new] = found.emplace(key, value); !is_new && known->second != value)
      base::fail("SX1001", fmt::format("{} has two numbers for {}", name, key));
  }
  return found;
}

std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> found;
  for (const std::string_view line : parts(text, '\n')) found.emplace_back(line);
  return found;
}

template <class Options>
void set_common(const JobOptions& from, Options& to) {
  if (!from.runtime.empty()) to.runtime = from.runtime;
  if (!from.opset.empty()) {
    const std::int64_t opset = number(from.opset, "the opset");
    if (opset < kOldestOpset || opset > kNewestOpset)
      base::fail("SX1002", fmt::format("opset {} is not supported", opset),
                 fmt::format("choose one from {} to {}", kOldestOpset, kNewestOpset));
    to.opset = opset;
  }
  to.precision.to = from.precision;
  to.record_rules = from.rules == "1";
  to.dims.fixed = numbers(from.fixed, "fixed");
  to.dims.max = numbers(from.max, "max");
}

ReadOptions read_options(const JobOptions& options) {
  ReadOptions read;
  read.inputs = lines(options.input);
  read.dynamic = lines(options.dynamic);
  return read;
}

Model converted(const Shelved& source, const JobOptions& options, JobResult& result) {
  ConvertOptions convert_options;
  set_common(options, convert_options);
  convert_options.on_note = [&](const Diagnostic& note) { result.notes.push_back(note); };
  convert_options.on_simplified = [&](const OptimizationReport& done) {
    result.applied = done.applied;
  };
  return convert(read(source.path, read_options(options)), convert_options);
}

Model optimized(const Shelved& source, const JobOptions& options, JobResult& result) {
  OptimizeOptions optimize_options;
  set_common(options, optimize_options);
  optimize_options.is_as_read = true;
  Model model = read_model(source.path);
  const OptimizationReport done = simplify(model, optimize_options);
  result.nodes_before = done.nodes_before;
  result.applied = done.applied;
  result.notes = done.notes;
  return model;
}

Model typed(const Shelved& each) {
  Model model = read_model(each.path);
  onnx::infer_types(model.internal());
  return model;
}

// A line for each tensor: name, dtype, shape, bytes.
std::string text_of_weights(const std::filesystem::path& path) {
  const auto files = checkpoints::read_safetensors({path.string()});
  std::string text;
  std::uint64_t bytes = 0;
  std::size_t count = 0;
  for (const checkpoints::SafetensorsFile& file : files) {
    for (const auto& [key, value] : file.contents.metadata)
      text += fmt::format("# {}: {}\n", key, value);
    for (const checkpoints::TensorInFile& tensor : file.contents.tensors) {
      text += fmt::format("{}  {}[{}]  {} bytes\n", tensor.name, base::dtype_name(tensor.dtype),
                          fmt::join(tensor.dims, ", "), tensor.extent.length);
      bytes += tensor.extent.length;
      ++count;
    }
  }
  return fmt::format("{} tensors, {} bytes\n\n{}", count, bytes, text);
}

// No script, so that texts of a program are text whatever they hold.
std::string text_page(const std::string& title, const std::string& text) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'\">\n<title>{0}</title>\n"
      "<style>:root {{ color-scheme: light dark }} body {{ margin: 1rem; font: 13px/1.5 "
      "ui-monospace, monospace }} pre {{ margin: 0 }}</style>\n</head>\n<body>\n<pre "
      "tabindex=\"0\" aria-label=\"Program {0}\">{1}</pre>\n</body>\n</html>\n",
      escaped(title), escaped(text));
}

}  // namespace

std::string JobOptions::text() const {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!runtime.empty()) add(runtime);
  if (!opset.empty()) add("opset " + opset);
  if (!precision.empty()) add(precision);
  if (!fixed.empty()) add(fixed);
  if (!max.empty()) add("at most " + max);
  return text;
}

std::string JobResult::members(bool is_of_program) const {
  std::string passes;
  for (const OptimizationReport::Applied& each : applied)
    passes += fmt::format(R"({}{{"name":{},"count":{}}})", passes.empty() ? "" : ",",
                          json_string(each.name), each.count);
  return fmt::format(
      R"("nodesBefore":{},"nodesAfter":{},"seconds":{:.3f},"notes":{},"applied":[{}])",
      is_of_program ? "null" : fmt::to_string(nodes_before), nodes_after, seconds,
      sardonyx::to_json(notes), passes);
}

JobResult run_job(const Shelved& source, const JobOptions& options,
                  const std::filesystem::path& folder) {
  const auto start = std::chrono::steady_clock::now();
  JobResult result;
  if (source.kind == Kind::kWeights)
    base::fail("SX1031", "'" + source.name + "' has weights, and no model to convert",
               "`sardonyx hf FOLDER` exports a checkpoint with its configuration");
  const bool is_program = source.kind == Kind::kProgram;
  const Model model =
      is_program ? converted(source, options, result) : optimized(source, options, result);
  result.nodes_after = model.node_count();
  const std::string stem = std::filesystem::path(source.name).stem().string();
  result.output = is_program ? stem + ".onnx" : stem + "-optimized.onnx";
  write(model, folder / result.output);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

std::string page_of(const Shelved& each) {
  if (each.kind == Kind::kProgram) return text_page(each.name, read(each.path).str());
  if (each.kind == Kind::kWeights) return text_page(each.name, text_of_weights(each.path));
  const Model model = typed(each);
  return viewer::model_page({model.internal(), each.name});
}

std::string page_of_both(const Shelved& a, const Shelved& b) {
  const Model first = typed(a), second = typed(b);
  return viewer::comparison_page({first.internal(), a.name}, {second.internal(), b.name});
}

}  // namespace sardonyx::serve
