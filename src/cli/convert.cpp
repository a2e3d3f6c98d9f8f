#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/choices.h"
#include "cli/command.h"
#include "cli/dims.h"
#include "cli/explain.h"
#include "cli/precision.h"
#include "cli/report.h"
#include "sardonyx/report.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {
namespace {

struct ConvertArguments {
  std::string input;
  std::string output;
  ReadOptions read;
  ConvertOptions convert;
  WriteOptions write;
  bool no_optimize = false;
  bool keep_weights = false;
  bool drop_mutations = false;
  bool no_metadata = false;
  std::string sarif;
  std::string report;
  RunRecord record;
  std::optional<Model> model;
  bool explain = false;
  OptimizationReport simplification;
  bool json = false;
  bool quiet = false;
};

template <class Run>
auto timed(RunRecord& record, const char* step, const Run& run) {
  const auto start = std::chrono::steady_clock::now();
  auto result = run();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  record.steps.emplace_back(step, elapsed.count());
  return result;
}

void run_convert(ConvertArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  arguments.convert.optimize = !arguments.no_optimize;
  arguments.convert.fold_weights = !arguments.keep_weights;
  arguments.convert.mutations_as_outputs = !arguments.drop_mutations;
  arguments.write.include_metadata = !arguments.no_metadata;
  arguments.write.progress = progress_line("writing", arguments.quiet || arguments.json);
  RunRecord& record = arguments.record;
  arguments.convert.on_note = [&record](const Diagnostic& note) { record.notes.push_back(note); };
  arguments.convert.on_simplified = [&](const OptimizationReport& done) {
    arguments.simplification = done;
  };
  check_not_overwritten(arguments.input, arguments.output);
  Program program =
      timed(record, "read", [&] { return read(input_file(arguments.input), arguments.read); });
  arguments.model.emplace(
      timed(record, "convert", [&] { return convert(std::move(program), arguments.convert); }));
  const Model& model = *arguments.model;
  record.model = &model;
  timed(record, "write", [&] {
    write_model(model, arguments.output, arguments.write);
    return 0;
  });
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (arguments.json) {
    const OptimizationReport& done = arguments.simplification;
    const std::string weights =
        done.weights.empty() ? std::string() : ", \"weights\": " + weights_json(done);
    std::printf("{\"ok\": true, \"output\": %s, \"nodes\": %lld, \"seconds\": %.6f%s%s}\n",
                json_string(arguments.output).c_str(), static_cast<long long>(model.node_count()),
                elapsed.count(), weights.c_str(), notes_json(record.notes).c_str());
  } else if (arguments.output == "-") {
    print_notes(record.notes);
  } else if (!arguments.quiet) {
    std::printf("%s: %lld nodes, %.3f s\n", arguments.output.c_str(),
                static_cast<long long>(model.node_count()), elapsed.count());
    print_weights(arguments.simplification, arguments.convert.precision.to, arguments.explain);
    if (arguments.explain) print_explanation(arguments.simplification);
    print_notes(record.notes);
  }
}

// What went wrong, and what is worth knowing, as the files that were asked for.
void write_reports(const ConvertArguments& arguments, const std::vector<Diagnostic>& errors) {
  if (!arguments.sarif.empty()) {
    std::vector<Diagnostic> diagnostics = errors;
    diagnostics.insert(diagnostics.end(), arguments.record.notes.begin(),
                       arguments.record.notes.end());
    SarifRun run;
    run.version = version();
    write_text(arguments.sarif, to_sarif(diagnostics, run));
  }
  if (!arguments.report.empty())
    write_text(arguments.report, markdown_report(arguments.record, errors));
}

constexpr const char* kConvertFooter =
    "Examples:\n"
    "  sardonyx convert model.pt2 -o model.onnx\n"
    "  sardonyx convert model.pt2 -o model.onnx --opset 18 --runtime onnxruntime-cpu\n"
    "  sardonyx convert model.pt2 -o model.onnx --precision int4 --runtime onnxruntime-cpu\n"
    "  sardonyx convert model.pt -o model.onnx --input x:float32[batch,3,224,224]\n"
    "  sardonyx convert model.pt2 -o model.onnx --fixed batch=1,sequence=128\n"
    "  sardonyx convert model.pt2 -o model.onnx --report report.md --sarif log.sarif\n"
    "  cat model.pt2 | sardonyx convert - -o - > model.onnx";

}  // namespace

void add_convert(CLI::App& app, int& exit_code) {
  constexpr const char *kTarget = "Model", *kMeaning = "Conversion", *kSimplifying = "Optimization",
                       *kTelling = "Reports";
  auto arguments = std::make_shared<ConvertArguments>();
  CLI::App* command = app.add_subcommand("convert", "Convert a .pt2 or TorchScript file to ONNX");
  command->footer(kConvertFooter);
  command->add_option("model", arguments->input, "the .pt2 or .pt file; - for standard input")
      ->required();
  command
      ->add_option("-o,--output", arguments->output,
                   "the .onnx file to write; - for standard output")
      ->required();
  add_read_options(*command, arguments->read);
  add_dim_options(*command, arguments->convert.dims);
  command
      ->add_option("--opset", arguments->convert.opset,
                   fmt::format("target opset; default: {}, or the oldest newer one that the "
                               "program needs",
                               kDefaultOpset))
      ->check(CLI::Range(kOldestOpset, kNewestOpset))
      ->group(kTarget);
  command
      ->add_option("--runtime", arguments->convert.runtime,
                   "target runtime: onnxruntime (standard operators), onnxruntime-cpu (contrib "
                   "operators too), standard, ...; see docs/targets.md")
      ->check(CLI::IsMember(target_names()))
      ->group(kTarget);
  command->add_option("--input-names", arguments->convert.input_names, "names in order: a,b,c")
      ->delimiter(',')
      ->group(kTarget);
  command->add_option("--output-names", arguments->convert.output_names, "names in order: a,b,c")
      ->delimiter(',')
      ->group(kTarget);
  command
      ->add_option("--dim-names", arguments->read.dim_names,
                   "names of dynamic dimensions: s77=batch (the program's symbol), x:0=batch (an "
                   "input's dimension)")
      ->type_name("DIM=NAME,...")
      ->delimiter(',')
      ->group(kTarget);
  command
      ->add_option("--external-data", arguments->write.external_data,
                   "external data: auto (above 2 GB), always, never")
      ->transform(choices(external_data_choices()))
      ->group(kTarget);
  command
      ->add_option("--plugin", arguments->convert.plugins,
                   "shared libraries with custom translators (sardonyx/plugin.h)")
      ->check(CLI::ExistingFile)
      ->group(kMeaning);
  const std::map<std::string, UnsupportedOps> fall_throughs = {{"no", UnsupportedOps::kNo},
                                                               {"as-is", UnsupportedOps::kAsIs},
                                                               {"aten", UnsupportedOps::kATen}};
  command
      ->add_option("--unsupported-ops,--fall-through", arguments->convert.fall_through,
                   "unsupported operators: no (an error), as-is (aten::foo), aten "
                   "(org.pytorch.aten::ATen)")
      ->transform(choices(fall_throughs))
      ->group(kMeaning);
  command->add_flag("--no-optimize", arguments->no_optimize, "do not optimize the graph")
      ->group(kSimplifying);
  command->add_flag("--keep-weights", arguments->keep_weights, "do not fold weights")
      ->group(kSimplifying);
  command->add_option("--stop-after", arguments->convert.stop_after, "stop after this rule or pass")
      ->type_name("RULE")
      ->group(kSimplifying);
  command->add_option("--disable", arguments->convert.disable, "skip this rule or pass; repeatable")
      ->type_name("RULE")
      ->allow_extra_args(false)
      ->group(kSimplifying);
  command
      ->add_flag("--keep-assertions", arguments->convert.assertions_as_outputs,
                 "add the program's assertions on data as bool outputs")
      ->group(kMeaning);
  command
      ->add_flag("--drop-mutations", arguments->drop_mutations,
                 "do not output buffers and inputs that the program mutates")
      ->group(kMeaning);
  add_precision(command, arguments->convert.precision);
  command->add_flag("--no-metadata", arguments->no_metadata, "omit the origin of each node")
      ->group(kTelling);
  command
      ->add_flag("--strip-paths", arguments->write.strip_paths,
                 "omit folders from source paths in the metadata")
      ->group(kTelling);
  command->add_option("--sarif", arguments->sarif, "write diagnostics as a SARIF 2.1.0 log")
      ->group(kTelling);
  command
      ->add_option("--report", arguments->report,
                   "write a Markdown report: steps, diagnostics, the model")
      ->group(kTelling);
  command
      ->add_flag("--explain", arguments->explain,
                 "print how often each rule was applied, and why others declined")
      ->group(kTelling);
  command
      ->add_flag("--record-rules", arguments->convert.record_rules,
                 "name the rules that made a node in its metadata, which the viewer shows")
      ->group(kTelling);
  command->add_flag("--json", arguments->json, "print the result as JSON")->group(kTelling);
  add_threads_option(*command);
  command->add_flag("-q,--quiet", arguments->quiet, "print errors only")->group(kTelling);
  command->callback([arguments, &exit_code] {
    arguments->record.input = arguments->input;
    check_one_output(arguments->output, arguments->json);
    exit_code = guarded(
        arguments->json, [&] { run_convert(*arguments); },
        [&](const std::vector<Diagnostic>& errors) { write_reports(*arguments, errors); });
  });
}

}  // namespace sardonyx::cli
