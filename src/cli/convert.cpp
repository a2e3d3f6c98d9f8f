#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "sardonyx/report.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {
namespace {

struct Arguments {
  std::string input;
  std::string output;
  ConvertOptions convert;
  WriteOptions write;
  bool no_optimize = false;
  bool drop_mutations = false;
  bool no_metadata = false;
  std::string sarif;
  bool json = false;
  bool quiet = false;
};

void run(Arguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  arguments.convert.optimize = !arguments.no_optimize;
  arguments.convert.mutations_as_outputs = !arguments.drop_mutations;
  arguments.write.include_metadata = !arguments.no_metadata;
  arguments.write.progress = progress_line("writing", arguments.quiet || arguments.json);
  const Model model = convert(read(arguments.input), arguments.convert);
  write(model, arguments.output, arguments.write);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (arguments.json) {
    std::printf("{\"ok\": true, \"output\": %s, \"nodes\": %lld, \"seconds\": %.6f}\n",
                json_string(arguments.output).c_str(), static_cast<long long>(model.node_count()),
                elapsed.count());
  } else if (!arguments.quiet) {
    std::printf("%s: %lld nodes, %.3f s\n", arguments.output.c_str(),
                static_cast<long long>(model.node_count()), elapsed.count());
  }
}

}  // namespace

void add_convert(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("convert", "Convert a .pt2 program to an ONNX model");
  command->add_option("input", arguments->input, "the .pt2 file")->required();
  command->add_option("-o,--output", arguments->output, "the .onnx file to write")->required();
  command->add_option("--opset", arguments->convert.opset, "target ONNX opset")
      ->check(CLI::Range(kOldestOpset, kNewestOpset))
      ->capture_default_str();
  const std::map<std::string, Runtime> runtimes = {{"onnxruntime-cpu", Runtime::kOnnxRuntimeCpu},
                                                   {"standard", Runtime::kStandard}};
  command
      ->add_option("--runtime", arguments->convert.runtime,
                   "onnxruntime-cpu avoids types its kernels lack; standard emits all ONNX allows")
      ->transform(CLI::CheckedTransformer(runtimes));
  command->add_option("--input-names", arguments->convert.input_names, "names, in order: a,b,c")
      ->delimiter(',');
  command->add_option("--output-names", arguments->convert.output_names, "names, in order: a,b,c")
      ->delimiter(',');
  const std::map<std::string, ExternalData> placements = {{"auto", ExternalData::kAuto},
                                                          {"always", ExternalData::kAlways},
                                                          {"never", ExternalData::kNever}};
  command
      ->add_option("--external-data", arguments->write.external_data,
                   "weights in a second file: auto (above 2 GB), always, never")
      ->transform(CLI::CheckedTransformer(placements));
  command
      ->add_option("--plugin", arguments->convert.plugins,
                   "shared libraries with translators of your own (sardonyx/plugin.h)")
      ->check(CLI::ExistingFile);
  const std::map<std::string, FallThrough> fall_throughs = {
      {"no", FallThrough::kNo}, {"as-is", FallThrough::kAsIs}, {"aten", FallThrough::kATen}};
  command
      ->add_option("--fall-through", arguments->convert.fall_through,
                   "operators without a translation: no (an error), as-is (aten::foo), aten "
                   "(org.pytorch.aten::ATen)")
      ->transform(CLI::CheckedTransformer(fall_throughs));
  command->add_flag("--no-optimize", arguments->no_optimize, "leave the graph as translated");
  command->add_option("--stop-after", arguments->convert.stop_after,
                      "run the passes only up to this one");
  command->add_flag("--keep-assertions", arguments->convert.assertions_as_outputs,
                    "what the program asserts of its data becomes bool outputs");
  command->add_flag("--drop-mutations", arguments->drop_mutations,
                    "leave out the new values of buffers and inputs that the program changes");
  command->add_flag("--no-metadata", arguments->no_metadata, "leave out where each node came from");
  command->add_option("--sarif", arguments->sarif,
                      "write what went wrong as a SARIF 2.1.0 log, for editors to show");
  command->add_flag("--json", arguments->json, "say the result as JSON on standard output");
  command->add_flag("-q,--quiet", arguments->quiet, "print errors only");
  command->callback([arguments, &exit_code] {
    exit_code = guarded(arguments->json, [&] { run(*arguments); }, arguments->sarif);
  });
}

}  // namespace sardonyx::cli
