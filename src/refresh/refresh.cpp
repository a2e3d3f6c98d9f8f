#include "refresh/refresh.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/diagnostic.h"
#include "base/mapped_file.h"
#include "onnx/graph/recipe.h"
#include "proto/reader/read.h"
#include "proto/wire/stream.h"
#include "proto/writer/atomic_file.h"
#include "proto/writer/strided_copy.h"

namespace sardonyx::refresh {
namespace {

namespace fs = std::filesystem;
using base::Diagnostic;
using onnx::Tensor;
using onnx::ValueInfo;

std::vector<Diagnostic> problems_of(std::string_view code, const std::vector<std::string>& texts,
                                    std::string_view help) {
  std::vector<Diagnostic> problems;
  for (const std::string& text : texts) {
    Diagnostic& problem = problems.emplace_back();
    problem.code = code;
    problem.message = text;
    problem.help = help;
  }
  return problems;
}

std::vector<Diagnostic> fixed(const Recipes& recipes) {
  std::vector<std::string> texts;
  for (const auto& [name, weights] : recipes.fixed())
    texts.push_back(fmt::format("'{}' was computed of '{}' in a way that the model does not record",
                                name, fmt::join(weights, "', '")));
  return problems_of("SX1822", texts, "export the model with the new weights instead");
}

// The weights that recipes ask for, of a checkpoint that may call them otherwise.
class Chosen {
 public:
  Chosen(const Recipes& recipes, const Tensors& checkpoint)
      : recipes_(recipes), checkpoint_(checkpoint) {
    std::map<std::string, std::vector<std::string>> names;
    for (const auto& [other, name] : recipes.tied()) names[name].push_back(other);
    for (const auto& [name, type] : recipes.weights()) choose(name, type, names[name]);
    std::vector<Diagnostic> problems = problems_of(
        "SX1821", problems_, "the checkpoint is of another model, or of another version of it");
    std::ranges::move(fixed(recipes), std::back_inserter(problems));
    if (!problems.empty()) throw base::Error(std::move(problems));
  }

  const Tensors& weights() const { return weights_; }
  std::vector<std::string> unused() const {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : checkpoint_)
      if (!used_.contains(name)) names.push_back(name);
    return names;
  }

 private:
  void choose(const std::string& name, const std::string& type,
              const std::vector<std::string>& others) {
    std::vector<std::string> all = {name};
    all.insert(all.end(), others.begin(), others.end());
    const Tensor* found = nullptr;
    for (const std::string& each : all) {
      const auto tensor = checkpoint_.find(each);
      if (tensor == checkpoint_.end()) continue;
      used_.insert(each);
      const std::string given = type_text(tensor->second.dtype, tensor->second.dims);
      if (given != type) {
        problems_.push_back(
            fmt::format("'{}' is {} in the model, and {} in the checkpoint", each, type, given));
      } else if (found != nullptr && !same_bytes(*found, tensor->second)) {
        problems_.push_back(fmt::format(
            "'{}' and '{}' are one weight in the model, and differ in the checkpoint", name, each));
      } else if (tensor->second.data == nullptr && tensor->second.element_count() != 0) {
        problems_.push_back(fmt::format("'{}' has no data", each));
      }
      if (found == nullptr) found = &tensor->second;
    }
    if (found == nullptr)
      problems_.push_back(fmt::format("the checkpoint has no '{}', {}", name, type));
    else
      weights_.emplace(name, *found);
  }

  const Recipes& recipes_;
  const Tensors& checkpoint_;
  Tensors weights_;
  std::set<std::string> used_;
  std::vector<std::string> problems_;
};

using Initializers = std::map<std::string, ValueInfo*>;

Initializers initializers_of(const onnx::Model& model) {
  Initializers found;
  for (ValueInfo* value : model.initializers)
    if (value->constant != nullptr && value->names != nullptr && onnx::has_uses(value))
      found.emplace(value->name, value);
  return found;
}

struct Replacement {
  ValueInfo* initializer;
  Tensor tensor;
};

// New data for the initializers that are of weights. Throws all that is in the way.
std::vector<Replacement> replacements(const Initializers& there, const Recipes& recipes,
                                      const Tensors& weights) {
  std::vector<std::string> names = recipes.made();
  for (const auto& [name, type] : recipes.weights())
    if (there.contains(name) && std::ranges::find(names, name) == names.end())
      names.push_back(name);
  std::vector<Replacement> result;
  std::vector<Diagnostic> problems;
  for (const std::string& name : names) {
    const auto found = there.find(name);
    if (found == there.end())
      base::fail("SX1820", fmt::format("the model has no initializer '{}' any more", name),
                 "export the model again");
    try {
      Tensor made = recipes.build(name, weights);
      const Tensor& old = *found->second->constant;
      if (made.dtype != old.dtype || made.dims != old.dims)
        base::fail("SX1820",
                   fmt::format("it is {} in the model, and its recipe makes {}",
                               type_text(old.dtype, old.dims), type_text(made.dtype, made.dims)),
                   "export the model again");
      result.push_back({found->second, std::move(made)});
    } catch (const base::Error& error) {
      for (Diagnostic problem : error.diagnostics()) {
        problem.message = fmt::format("'{}': {}", name, problem.message);
        problems.push_back(std::move(problem));
      }
    }
  }
  if (!problems.empty()) throw base::Error(std::move(problems));
  return result;
}

bool is_of_bodies(const onnx::Model& model, const ValueInfo& value) {
  return std::ranges::none_of(value.uses,
                              [&](const onnx::Use& use) { return use.node->graph == model.graph; });
}

// A file has what quantizers in a body read in that body, too, under a name that begins with the
// initializer's own: such copies get the same data.
void add_copies(const onnx::Model& model, const Initializers& there,
                std::vector<Replacement>& made) {
  std::set<const ValueInfo*> done;
  for (const Replacement& each : made) done.insert(each.initializer);
  std::vector<Replacement> copies;
  for (const auto& [name, value] : there) {
    if (done.contains(value) || !is_of_bodies(model, *value)) continue;
    const Tensor& old = *value->constant;
    for (const Replacement& each : made) {
      const Tensor& original = *each.initializer->constant;
      if (name.starts_with(each.initializer->name) && old.dtype == original.dtype &&
          old.dims == original.dims && same_bytes(old, original)) {
        copies.push_back({value, each.tensor});
        break;
      }
    }
  }
  std::ranges::move(copies, std::back_inserter(made));
}

Refreshed summary_of(const std::vector<Replacement>& made, const Chosen& chosen) {
  Refreshed result;
  result.initializers = std::ssize(made);
  for (const Replacement& each : made) result.bytes += each.tensor.byte_count();
  result.unused = chosen.unused();
  return result;
}

// A file of the model, and what is new in it.
struct Edited {
  std::string path;
  std::shared_ptr<const base::MappedFile> old;
  std::map<std::int64_t, const Tensor*> pieces;  // by offset
};

void refuse_place(const ValueInfo& value, std::string_view why) {
  base::fail("SX1822", fmt::format("'{}' {}", value.name, why), "export the model again");
}

void check_piece(const Edited& file, std::int64_t offset, const Replacement& made) {
  const auto [at, is_new] = std::pair(file.pieces.find(offset), !file.pieces.contains(offset));
  if (!is_new && !same_bytes(*at->second, made.tensor))
    refuse_place(*made.initializer, "shares its bytes with another initializer, and differs now");
}

// Where the old bytes lie. The model's own file is among them; a file of other weights is not
// written to.
std::vector<Edited> edited(const fs::path& model, const onnx::Model& read,
                           const std::vector<Replacement>& made) {
  std::map<std::string, Edited> files;
  files[model.string()].path = model.string();
  const auto place_of = [](const Tensor& tensor) {
    return base::place_in_file({tensor.data, static_cast<std::size_t>(tensor.byte_count())});
  };
  for (const ValueInfo* value : read.initializers)
    if (value->constant != nullptr && value->constant->data != nullptr)
      if (const auto place = place_of(*value->constant)) files[place->path].path = place->path;
  for (const Replacement& each : made) {
    if (each.tensor.element_count() == 0) continue;
    const auto place = place_of(*each.initializer->constant);
    if (!place) refuse_place(*each.initializer, "does not lie in the file as bytes");
    const std::string ending = fs::path(place->path).extension().string();
    if (ending == ".safetensors" || ending == ".gguf" || ending == ".bin")
      refuse_place(*each.initializer, "refers to a checkpoint in place: replace " + place->path);
    Edited& file = files[place->path];
    check_piece(file, place->offset, each);
    file.pieces.emplace(place->offset, &each.tensor);
  }
  std::vector<Edited> result;
  for (auto& [path, file] : files) {
    file.old = std::make_shared<const base::MappedFile>(path);
    // The model comes last: whoever sees it finds its data.
    result.insert(path == model.string() ? result.end() : result.begin(), std::move(file));
  }
  return result;
}

void write(const Edited& file, proto::Stream& stream) {
  const std::span<const std::byte> old = file.old->bytes();
  std::int64_t at = 0;
  const auto copy_to = [&](std::int64_t end) {
    if (end < at || end > std::ssize(old))
      base::fail("SX1820", "weights of the model overlap", "export the model again");
    stream.append_borrowed(
        old.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(end - at)));
    at = end;
  };
  for (const auto& [offset, tensor] : file.pieces) {
    if (offset > at || offset < at) copy_to(offset);
    proto::put_data(*tensor, stream);
    at += tensor->byte_count();
  }
  copy_to(std::ssize(old));
  stream.flush();
}

// Where a data file is from the model's folder, or from that of the file that a link leads to.
fs::path in_folder_of(const fs::path& model, const fs::path& file) {
  const fs::path place = fs::canonical(file);
  for (const fs::path& folder :
       {fs::canonical(fs::absolute(model).parent_path()), fs::canonical(model).parent_path()}) {
    const fs::path found = place.lexically_relative(folder);
    if (!found.empty() && *found.begin() != "..") return found;
  }
  return place.filename();
}

fs::path destination_of(const Edited& file, const fs::path& model, const fs::path& out) {
  if (out.empty() || file.path == model.string()) return out.empty() ? fs::path(file.path) : out;
  const fs::path to = out.parent_path() / in_folder_of(model, file.path);
  std::error_code error;
  if (fs::equivalent(to, file.path, error) && !fs::equivalent(out, model, error))
    base::fail("SX1602",
               fmt::format("'{}' and '{}' would share the data file '{}'", model.string(),
                           out.string(), file.path),
               "write to another folder");
  return to;
}

void write(const std::vector<Edited>& files, const fs::path& model, const fs::path& out,
           const std::function<void(std::int64_t, std::int64_t)>& progress) {
  std::int64_t total = 0, before = 0;
  for (const Edited& file : files) total += std::ssize(file.old->bytes());
  std::deque<proto::AtomicFile> written;
  for (const Edited& file : files) {
    const auto size = std::ssize(file.old->bytes());
    proto::AtomicFile& to = written.emplace_back(destination_of(file, model, out), size);
    const auto on_write = [&](std::int64_t done) {
      if (progress) progress(before + done, total);
    };
    proto::Stream stream(to, on_write);
    write(file, stream);
    before += size;
  }
  for (proto::AtomicFile& each : written) each.finish();
  std::size_t done = 0;
  try {
    for (; done < written.size(); ++done) written[done].replace();
  } catch (...) {
    while (done-- > 0) written[done].undo();
    throw;
  }
  for (proto::AtomicFile& each : written) each.settle();
}

std::string record_of(const onnx::Model& model, const fs::path& path) {
  for (const auto& [key, value] : model.metadata)
    if (key == kKey) return value;
  base::fail("SX1820",
             fmt::format("'{}' has no record of how its weights were made", path.string()),
             "export the model with this version of Sardonyx, from a PyTorch program");
}

}  // namespace

Refreshed refresh(const fs::path& path, const Tensors& checkpoint, const fs::path& out,
                  const std::function<void(std::int64_t, std::int64_t)>& progress) {
  const std::unique_ptr<onnx::Model> model = proto::read(path);
  const Recipes recipes(record_of(*model, path));
  if (recipes.structure() != structure_of(*model))
    base::fail("SX1820", fmt::format("'{}' was changed after its export", path.string()),
               "refresh the model as it was exported, and change it afterwards");
  const Chosen chosen(recipes, checkpoint);
  const base::CutShortGuard guard;
  const Initializers there = initializers_of(*model);
  std::vector<Replacement> made = replacements(there, recipes, chosen.weights());
  add_copies(*model, there, made);
  write(edited(path, *model, made), path, out, progress);
  return summary_of(made, chosen);
}

Refreshed refresh(onnx::Model& model, const Origins& origins, const Tensors& checkpoint) {
  const std::string text = record(model, origins);
  if (text.empty())
    base::fail("SX1820", "the model has no weights of a program", "export it from PyTorch");
  const Recipes recipes(text);
  const Chosen chosen(recipes, checkpoint);
  std::vector<Replacement> made = replacements(initializers_of(model), recipes, chosen.weights());
  Refreshed result = summary_of(made, chosen);
  for (Replacement& each : made)
    each.initializer->constant = std::make_shared<const Tensor>(std::move(each.tensor));
  return result;
}

}  // namespace sardonyx::refresh
