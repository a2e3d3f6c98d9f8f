// The models that the page has: the user's own files, uploads, and what was made of these.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::serve {

enum class Kind : std::uint8_t { kProgram, kModel, kWeights };

struct Shelved {
  int id = 0;
  Kind kind = Kind::kModel;
  std::string name;  // as the page shows it, and as it is saved
  std::filesystem::path path;
  std::optional<int> made_from;
  std::string settings;  // "onnxruntime-cpu, int4"; empty of what was not made here

  // Where external data of what was made here stands.
  std::filesystem::path data() const { return path.string() + ".data"; }
};

// Programs are zip archives, weights are safetensors files; all other files count as models.
Kind kind_of(const std::filesystem::path& path);
// "program", "model" or "weights".
const char* name_of(Kind kind);

// Whether a client may give a file this name: one part of a path, and nothing that a terminal or a
// header takes for something else.
bool is_file_name(std::string_view name);

// An object with the members id, name, kind, bytes, data, from, settings.
std::string to_json(const Shelved& each);

// All functions may be called from several threads.
class Shelf {
 public:
  explicit Shelf(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // A file that stays where it is.
  Shelved add(const std::filesystem::path& path, const std::string& name,
              std::optional<int> made_from = {}, const std::string& settings = {});
  std::optional<Shelved> find(int id) const;
  std::vector<Shelved> all() const;
  // Its file, too, unless it is the user's own.
  bool remove(int id);

  // A new folder of ours.
  std::filesystem::path new_folder();

 private:
  bool is_ours(const std::filesystem::path& path) const;

  std::filesystem::path folder_;
  mutable std::mutex mutex_;
  std::map<int, Shelved> shelved_;
  int last_id_ = 0, last_folder_ = 0;
};

}  // namespace sardonyx::serve
