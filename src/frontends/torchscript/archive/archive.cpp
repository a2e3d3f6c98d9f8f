#include "frontends/torchscript/archive/archive.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "base/diagnostic.h"
#include "frontends/archive/pickle.h"
#include "frontends/torchscript/values/objects.h"

namespace sardonyx::torchscript {
namespace {

using archive::Pickle;
using archive::PickleItem;
using archive::ZipEntry;
using archive::ZipReader;

constexpr std::string_view kConstants = "constants.pkl";

// "model/", the folder that holds constants.pkl; nothing where none does.
const ZipEntry* constants_entry(const ZipReader& zip) {
  for (const ZipEntry& entry : zip.entries()) {
    if (entry.name.ends_with("/constants.pkl") &&
        std::count(entry.name.begin(), entry.name.end(), '/') == 1)
      return &entry;
  }
  return nullptr;
}

std::string dotted_to_path(std::string module) {
  std::ranges::replace(module, '.', '/');
  return "code/" + module + ".py";
}

std::pair<std::string, std::string> split_name(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos) return {};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

// A frame of Python's stack, as tracing writes it: "model.py(12): forward".
struct Frame {
  std::string_view file, text;
  int line = 0;
};

std::optional<Frame> frame_of(std::string_view text) {
  const std::size_t close = text.rfind("): "), open = text.rfind('(', close);
  if (close == text.npos || open == text.npos || open == 0) return std::nullopt;
  Frame frame{.file = text.substr(0, open), .text = text};
  const std::string_view digits = text.substr(open + 1, close - open - 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), frame.line);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return frame;
}

// The innermost frame of a stack that is neither PyTorch's nor the capture's own.
std::optional<Frame> user_frame(std::string_view stack) {
  while (!stack.empty()) {
    const std::size_t end = std::min(stack.find('\n'), stack.size());
    const std::optional<Frame> frame = frame_of(stack.substr(0, end));
    if (!frame) return std::nullopt;
    if (frame->file.find("/torch/") == stack.npos &&
        frame->file.find("/sardonyx/_capture/") == stack.npos) {
      return frame;
    }
    stack.remove_prefix(std::min(end + 1, stack.size()));
  }
  return std::nullopt;
}

// The marks of a file: offsets of its text, each with a range of the user's.
class Marks {
 public:
  explicit Marks(const Pickle& pickle) : pickle_(pickle) {}

  // ("FORMAT_WITH_STRING_TABLE", texts, ((offset, range, tag), ...)); older files have ranges that
  // hold their texts.
  std::vector<SourceMark> read() {
    std::vector<SourceMark> marks;
    const PickleItem& root = pickle_.root();
    const PickleItem* tag = pickle_.item(root, 0);
    const bool has_table = tag && tag->kind == PickleItem::Kind::kText;
    texts_ = has_table ? pickle_.item(root, 1) : nullptr;
    const PickleItem* entries = has_table ? pickle_.item(root, 2) : &root;
    if (!entries) return marks;
    for (const std::uint32_t index : entries->items) {
      const PickleItem& entry = pickle_.at(index);
      const PickleItem* offset = pickle_.item(entry, 0);
      const PickleItem* range = pickle_.item(entry, 1);
      if (!offset || !range || offset->integer < 0) continue;
      marks.push_back(mark(*range));
      marks.back().offset = static_cast<std::size_t>(offset->integer);
    }
    std::ranges::sort(marks, {}, &SourceMark::offset);
    return marks;
  }

 private:
  std::string text(const PickleItem& item) const {
    if (item.kind == PickleItem::Kind::kText) return item.text;
    if (item.kind == PickleItem::Kind::kInteger && texts_ && item.integer >= 0) {
      const PickleItem* found = pickle_.item(*texts_, static_cast<std::size_t>(item.integer));
      return found ? found->text : std::string();
    }
    std::string joined;
    const PickleItem* pieces = &item;
    if (item.kind == PickleItem::Kind::kCall) {  // build_intlist([...])
      const PickleItem* arguments = pickle_.item(item, 1);
      pieces = arguments ? pickle_.item(*arguments, 0) : nullptr;
    }
    if (!pieces) return joined;
    for (const std::uint32_t index : pieces->items) {
      const PickleItem& piece = pickle_.at(index);
      if (piece.kind == PickleItem::Kind::kInteger) joined += text(piece);
    }
    return joined;
  }

  // ((text, file, first line), start, end)
  SourceMark mark(const PickleItem& range) {
    SourceMark made;
    const PickleItem* source = pickle_.item(range, 0);
    const PickleItem* start = pickle_.item(range, 1);
    const PickleItem* file = source ? pickle_.item(*source, 1) : nullptr;
    const PickleItem* first = source ? pickle_.item(*source, 2) : nullptr;
    if (!file || !first || !start) return made;
    made.file = text(*file);
    const std::string whole = text(*pickle_.item(*source, 0));
    if (const std::optional<Frame> frame = user_frame(whole)) {
      made.file = frame->file;
      made.line = frame->line;
      made.text = frame->text;
      return made;
    }
    const std::size_t at =
        std::min(static_cast<std::size_t>(std::max<std::int64_t>(start->integer, 0)), whole.size());
    made.line = static_cast<int>(
        first->integer +
        std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    const std::size_t before = at == 0 ? whole.npos : whole.rfind('\n', at - 1);
    const std::size_t begin = before == whole.npos ? 0 : before + 1;
    const std::size_t text_start = std::min(whole.find_first_not_of(' ', begin), whole.size());
    made.text = whole.substr(text_start, whole.find('\n', text_start) - text_start);
    return made;
  }

  const Pickle& pickle_;
  const PickleItem* texts_ = nullptr;
};

}  // namespace

bool Archive::recognizes(const ZipReader& zip) { return constants_entry(zip) != nullptr; }

Archive::Archive(archive::Bytes bytes) : zip_(std::move(bytes)) {
  const ZipEntry* constants = constants_entry(zip_);
  if (!constants) {
    base::fail("SX1120", "the archive holds no TorchScript",
               "save the module with torch.jit.save; a torch.save() checkpoint holds no program");
  }
  prefix_ = std::string(constants->name.substr(0, constants->name.size() - kConstants.size()));
  const ZipEntry* order = find("byteorder");
  if (order && zip_.read(*order).text() == "big")
    base::fail("SX1103", "the archive was written on a big-endian machine");
  // From version 6 on it stands with what is known of the file itself.
  const ZipEntry* version = find(".data/version");
  if (!version) version = find("version");
  if (version)
    version_ = std::strtoll(std::string(zip_.read(*version).text()).c_str(), nullptr, 10);
  const ZipEntry* data = find("data.pkl");
  if (!data) base::fail("SX1120", "the archive has no data.pkl");
  root_ = read_object(Pickle(zip_.read(*data).data), "data/");
  if (root_.kind != AbstractValue::Kind::kObject)
    base::fail("SX1120", "the archive holds no module");
  name_parts(root_);
  constants_ = tensors("constants.pkl", "constants/");
  for (std::size_t i = 0; i < constants_.size(); ++i) {
    const std::string name = "CONSTANTS.c" + std::to_string(i);
    if (constants_[i].stored) constants_[i].stored->name = name;
    if (constants_[i].kind != AbstractValue::Kind::kQuantized) continue;
    const Container& parts = *constants_[i].held;
    for (std::size_t j = 0; j < parts.items.size(); ++j)
      if (parts.items[j].stored)
        parts.items[j].stored->name = j == 0 ? name : name + "." + parts.names[j];
  }
  const std::vector<AbstractValue> traced = tensors("traced_inputs.pkl", "traced_inputs/");
  for (std::size_t i = 0; i + 1 < traced.size(); i += 2) {
    if (traced[i].text == "forward" && traced[i + 1].held)
      traced_inputs_ = traced[i + 1].held->items;
  }
}

const ZipEntry* Archive::find(const std::string& name) const { return zip_.find(prefix_ + name); }

std::vector<AbstractValue> Archive::tensors(const std::string& pickle,
                                            const std::string& folder) const {
  const ZipEntry* entry = find(pickle);
  if (!entry) return {};
  const AbstractValue read = read_object(Pickle(zip_.read(*entry).data), folder);
  return read.held ? read.held->items : std::vector<AbstractValue>();
}

archive::Bytes Archive::storage(const std::string& name) const {
  const ZipEntry* entry = find(name);
  if (!entry) {
    base::fail("SX1107",
               "the archive has no entry '" + archive::printable(name) + "' with a tensor's bytes");
  }
  return zip_.read(*entry);
}

const SourceFile* Archive::file(const std::string& module) {
  const std::string path = dotted_to_path(module);
  const auto [found, is_new] = files_.try_emplace(path);
  if (!is_new) return found->second.get();
  const ZipEntry* entry = find(path);
  if (!entry) return nullptr;
  found->second = parse_source(path, std::string(zip_.read(*entry).text()));
  return found->second.get();
}

const Function* Archive::function(const std::string& name) {
  const auto [module, own] = split_name(name);
  const SourceFile* source = file(module);
  if (!source) return nullptr;
  const auto found = std::ranges::find(source->functions, own, &Function::name);
  return found == source->functions.end() ? nullptr : &*found;
}

const Class* Archive::class_of(const std::string& name) {
  const auto [module, own] = split_name(name);
  const SourceFile* source = file(module);
  if (!source) return nullptr;
  const auto found = std::ranges::find(source->classes, own, &Class::name);
  return found == source->classes.end() ? nullptr : &*found;
}

const SourceMark* Archive::mark(const SourceFile& file, std::size_t offset) {
  const auto [found, is_new] = marks_.try_emplace(&file);
  std::vector<SourceMark>& marks = found->second;
  if (is_new) {
    if (const ZipEntry* entry = find(file.name + ".debug_pkl")) {
      const archive::Bytes bytes = zip_.read(*entry);
      const Pickle pickle(bytes.data);
      marks = Marks(pickle).read();
    }
  }
  const auto after = std::ranges::upper_bound(marks, offset, {}, &SourceMark::offset);
  // What PyTorch put in between, assignments to attributes say, stands at no line of the user's.
  constexpr std::ptrdiff_t kFarthest = 4;
  for (auto mark = after; mark != marks.begin() && after - mark < kFarthest;)
    if (!(--mark)->file.empty()) return &*mark;
  return nullptr;
}

}  // namespace sardonyx::torchscript
