#include "serve/shelf.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>

#include "sardonyx/report.h"

namespace sardonyx::serve {

namespace fs = std::filesystem;

Kind kind_of(const fs::path& path) {
  if (path.extension() == ".safetensors") return Kind::kWeights;
  std::ifstream file(path, std::ios::binary);
  char magic[2] = {};
  const bool is_zip = file.read(magic, 2) && magic[0] == 'P' && magic[1] == 'K';
  return is_zip && path.extension() != ".onnx" ? Kind::kProgram : Kind::kModel;
}

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kProgram:
      return "program";
    case Kind::kModel:
      return "model";
    case Kind::kWeights:
      break;
  }
  return "weights";
}

bool is_file_name(std::string_view name) {
  constexpr std::size_t kMaxLength = 200;  // file systems take 255 bytes, and suffixes are added
  return !name.empty() && name.size() <= kMaxLength && !name.starts_with('.') &&
         std::ranges::none_of(name, [](char c) {
           return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
         });
}

std::string to_json(const Shelved& each) {
  std::error_code none;
  const std::uintmax_t bytes = fs::file_size(each.path, none);
  const bool has_data = each.made_from && fs::exists(each.data(), none);
  return fmt::format(
      R"({{"id":{},"name":{},"kind":"{}","bytes":{},"data":{},"from":{},"settings":{}}})", each.id,
      json_string(each.name), name_of(each.kind),
      bytes == static_cast<std::uintmax_t>(-1) ? 0 : bytes, has_data,
      each.made_from ? fmt::to_string(*each.made_from) : "null", json_string(each.settings));
}

Shelved Shelf::add(const fs::path& path, const std::string& name, std::optional<int> made_from,
                   const std::string& settings) {
  const std::lock_guard lock(mutex_);
  Shelved each{++last_id_, kind_of(path), name, path, made_from, settings};
  shelved_[each.id] = each;
  return each;
}

std::optional<Shelved> Shelf::find(int id) const {
  const std::lock_guard lock(mutex_);
  const auto found = shelved_.find(id);
  return found == shelved_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Shelved> Shelf::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<Shelved> found;
  for (const auto& [id, each] : shelved_) found.push_back(each);
  return found;
}

bool Shelf::is_ours(const fs::path& path) const {
  return path.lexically_normal().string().starts_with(folder_.lexically_normal().string() + "/");
}

bool Shelf::remove(int id) {
  const std::lock_guard lock(mutex_);
  const auto found = shelved_.find(id);
  if (found == shelved_.end()) return false;
  const Shelved each = found->second;
  shelved_.erase(found);
  std::error_code none;
  if (!is_ours(each.path)) return true;
  fs::remove(each.path, none);
  if (each.made_from) fs::remove(each.data(), none);
  return true;
}

fs::path Shelf::new_folder() {
  const std::lock_guard lock(mutex_);
  const fs::path folder = folder_ / fmt::to_string(++last_folder_);
  fs::create_directories(folder);
  return folder;
}

}  // namespace sardonyx::serve
