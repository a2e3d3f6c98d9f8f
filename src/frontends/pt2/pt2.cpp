#include "frontends/pt2/pt2.h"

#include <string>
#include <utility>

#include "base/mapped_file.h"
#include "frontends/archive/zip.h"
#include "frontends/pt2/graph_reader.h"
#include "frontends/pt2/json.h"
#include "frontends/pt2/signature.h"
#include "frontends/pt2/weights.h"
#include "program/ir/captured_symbols.h"

namespace sardonyx::pt2 {
namespace {

constexpr std::int64_t kSchemaMajor = 8;  // PyTorch 2.6 to 2.13

// Where a file keeps its parts.
struct Layout {
  const ZipEntry* model = nullptr;  // the program's JSON
  std::string root;                 // "name/"; empty in the oldest layout
  std::string model_name;           // "model"
  bool is_oldest = false;           // PyTorch 2.6 and 2.7
};

[[noreturn]] void no_program(const std::string& what) {
  base::fail("SX1106", what,
             "convert reads what torch.export.save() wrote; a torch.save() checkpoint or a "
             "TorchScript archive holds no exported program");
}

// "<root>/models/<name>.json"; of several models, the one called "model".
Layout find_layout(const ZipReader& archive) {
  constexpr std::string_view kOldest = "serialized_exported_program.json";
  if (const ZipEntry* entry = archive.find(kOldest)) return {entry, "", "", true};

  Layout layout;
  std::string names;
  constexpr std::string_view kFolder = "/models/";
  constexpr std::string_view kSuffix = ".json";
  for (const ZipEntry& entry : archive.entries()) {
    const std::size_t folder = entry.name.find(kFolder);
    if (folder == std::string_view::npos || !entry.name.ends_with(kSuffix)) continue;
    const std::size_t start = folder + kFolder.size();
    const std::string name(entry.name.substr(start, entry.name.size() - start - kSuffix.size()));
    names += (names.empty() ? "" : ", ") + name;
    if (layout.model && name != "model") continue;
    layout.model = &entry;
    layout.root = entry.name.substr(0, folder + 1);
    layout.model_name = name;
  }
  if (!layout.model) no_program("the archive holds no exported program");
  if (names != layout.model_name && layout.model_name != "model")
    no_program("the archive holds several programs (" + printable(names) +
               "), and none called 'model'");
  return layout;
}

void check_byte_order(const ZipReader& archive, const Layout& layout) {
  const ZipEntry* entry = archive.find(layout.root + "byteorder");
  if (entry && archive.read(*entry).text() == "big")
    base::fail("SX1103", "the archive was written on a big-endian machine");
}

void check_version(JsonObject program) {
  const JsonObject version = object_member(program, "schema_version");
  const std::int64_t major = as_integer(member(version, "major"), "major");
  if (major == kSchemaMajor) return;
  std::string message = "the program has schema version " + std::to_string(major) +
                        ", this build reads version " + std::to_string(kSchemaMajor);
  if (const auto torch = find_member(program, "torch_version"))
    message += "; it was saved by PyTorch " + std::string(as_text(*torch, "torch_version"));
  base::fail("SX1109", message, "save the program again with a PyTorch from 2.6 on");
}

// Weights or constants, from whichever of the layouts the file has.
void add_table(const std::shared_ptr<const ZipReader>& archive, const Layout& layout,
               const std::string& kind, const char* oldest, Weights& weights) {
  try {
    if (layout.is_oldest) {
      const ZipEntry* entry = archive->find(oldest);
      if (entry && entry->size > 0) weights.add_table(read_state_dict(archive->read(*entry)));
      return;
    }
    const std::string folder = layout.root + "data/" + kind + "/";
    const std::string config = folder + layout.model_name + "_" + kind + "_config.json";
    if (const ZipEntry* entry = archive->find(config)) {
      weights.add_table(read_payload_config(archive, *entry, folder));
    } else if (const ZipEntry* saved = archive->find(folder + layout.model_name + ".pt")) {
      if (saved->size > 0) weights.add_table(read_state_dict(archive->read(*saved)));
    }
  } catch (base::Error& error) {
    error.within("in the archive's " + kind);
    throw;
  }
}

void read_program(JsonObject root, Weights& weights, program::Program& program) {
  check_version(root);
  if (const auto torch = find_member(root, "torch_version"))
    program.torch_version = as_text(*torch, "torch_version");
  const JsonObject module = object_member(root, "graph_module");
  if (const auto ranges = find_member(root, "range_constraints"))
    read_ranges(as_object(*ranges, "range_constraints"), program);
  if (const auto guards = find_member(root, "guards_code")) {
    for (const Json each : as_array(*guards, "guards_code"))
      program.recorded_guards.emplace_back(as_text(each, "guards_code"));
  }
  GraphReader graphs(program);
  program.graph = graphs.read_main(object_member(module, "graph"));
  read_signature(object_member(module, "signature"), graphs, weights, program);
  program::mark_unbacked_symbols(*program.pool);
  if (const auto calls = find_member(module, "module_call_graph"))
    read_call_spec(as_array(*calls, "module_call_graph"), program);
}

std::unique_ptr<program::Program> read_mapped(const std::shared_ptr<base::MappedFile>& file) {
  const auto archive = std::make_shared<const ZipReader>(Bytes{file->bytes(), file});
  const Layout layout = find_layout(*archive);
  check_byte_order(*archive, layout);

  auto program = std::make_unique<program::Program>();
  Weights weights(*program);
  add_table(archive, layout, "weights", "serialized_state_dict.pt", weights);
  add_table(archive, layout, "constants", "serialized_constants.pt", weights);

  const Bytes text = archive->read(*layout.model);
  JsonDocument document;
  try {
    const Json root = document.parse(text.data, file->bytes());
    read_program(as_object(root, "the program"), weights, *program);
  } catch (base::Error& error) {
    error.within("in " + printable(layout.model->name));
    throw;
  }
  program::verify(*program);
  return program;
}

}  // namespace

std::unique_ptr<program::Program> read_pt2(const std::filesystem::path& path) {
  const auto file = std::make_shared<base::MappedFile>(path.string());
  try {
    return read_mapped(file);
  } catch (base::Error& error) {
    error.within("in " + printable(path.string()));
    throw;
  }
}

}  // namespace sardonyx::pt2
