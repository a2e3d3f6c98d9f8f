// What torch.jit.save() wrote: objects, constants and code.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontends/archive/zip.h"
#include "frontends/torchscript/syntax/syntax.h"
#include "frontends/torchscript/values/abstract_value.h"

namespace sardonyx::torchscript {

// A place in the user's source that a place in the archive's code stands for.
struct SourceMark {
  std::size_t offset = 0;  // in the archive's file
  std::string file;
  int line = 0;
  std::string text;  // of the line
};

class Archive {
 public:
  // Throws SX1120 where the bytes are no TorchScript archive, SX1102 to SX1110 where they are
  // damaged.
  explicit Archive(archive::Bytes bytes);

  // Whether a zip archive's directory says that torch.jit.save() wrote it.
  static bool recognizes(const archive::ZipReader& zip);

  // Of the format, which says what operators mean.
  std::int64_t version() const { return version_; }
  const AbstractValue& root() const { return root_; }
  const std::vector<AbstractValue>& constants() const { return constants_; }
  // The example of a traced module's forward(); empty for a scripted one.
  const std::vector<AbstractValue>& traced_inputs() const { return traced_inputs_; }

  // "__torch__.torch.nn.functional.relu"; null where the archive has none.
  const Function* function(const std::string& name);
  const Class* class_of(const std::string& name);
  // Where the user wrote it; null where nothing tells.
  const SourceMark* mark(const SourceFile& file, std::size_t offset);

  // Of the entry "data/0", say. Throws SX1107 where there is none.
  archive::Bytes storage(const std::string& name) const;

 private:
  const SourceFile* file(const std::string& module);
  std::vector<AbstractValue> tensors(const std::string& pickle, const std::string& folder) const;
  const archive::ZipEntry* find(const std::string& name) const;

  archive::ZipReader zip_;
  std::string prefix_;  // "model/"
  std::int64_t version_ = 0;
  AbstractValue root_;
  std::vector<AbstractValue> constants_;
  std::vector<AbstractValue> traced_inputs_;
  std::map<std::string, std::unique_ptr<SourceFile>> files_;
  std::unordered_map<const SourceFile*, std::vector<SourceMark>> marks_;
};

}  // namespace sardonyx::torchscript
