// Programs from files: which front end reads one.
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/mapped_file.h"
#include "frontends/archive/zip.h"
#include "frontends/pt2/pt2.h"
#include "frontends/torchscript/torchscript.h"
#include "pipeline/file_kinds.h"
#include "program/ir/dim_names.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx {
namespace {

// What is no archive at all is left to the reader of .pt2, which says so.
bool is_torchscript(const archive::Bytes& bytes) {
  try {
    return torchscript::is_torchscript(archive::ZipReader(bytes));
  } catch (const Error&) {
    return false;
  }
}

Program with_names(Program program, const ReadOptions& options) {
  program::name_dims(program.internal(), program::parse_dim_names(options.dim_names));
  return program;
}

Program read_torchscript(const archive::Bytes& bytes, const ReadOptions& options) {
  torchscript::ReadOptions archive_options;
  archive_options.inputs = options.inputs;
  archive_options.dynamic = options.dynamic;
  return with_names(Program(torchscript::read_torchscript(bytes, archive_options)), options);
}

}  // namespace

Program read_archive(std::string bytes, const ReadOptions& options) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return read_torchscript({std::as_bytes(std::span(*owner)), owner}, options);
}

Program read(const std::filesystem::path& path, const ReadOptions& options) {
  const auto file = std::make_shared<base::MappedFile>(path.string());
  const archive::Bytes bytes{file->bytes(), file};
  if (!is_torchscript(bytes)) {
    try {
      check_is_program(file->bytes());
    } catch (Error& error) {
      throw error.within("in " + archive::printable(path.string()));
    }
    if (!options.inputs.empty() || !options.dynamic.empty()) {
      base::fail("SX1122", "an exported program has its inputs and dynamic dimensions already",
                 "leave out --input and --dynamic, which are for TorchScript's archives; "
                 "torch.export.export(dynamic_shapes=...) makes dimensions dynamic");
    }
    return with_names(Program(pt2::read_pt2(path)), options);
  }
  try {
    return read_torchscript(bytes, options);
  } catch (Error& error) {
    throw error.within("in " + archive::printable(path.string()));
  }
}

}  // namespace sardonyx
