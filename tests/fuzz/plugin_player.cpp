#include "plugin_player.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/convert.h"
#include "api/plugin_host.h"

namespace sardonyx::fuzz {
namespace {

// Reads numbers off the bytes; zeros when they are at their end.
class Choices {
 public:
  explicit Choices(std::span<const std::byte> bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }

  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
  }

  std::int64_t wide() {
    std::array<std::byte, 8> bytes{};
    const std::size_t count = std::min(rest_.size(), bytes.size());
    std::copy_n(rest_.begin(), count, bytes.begin());
    rest_ = rest_.subspan(count);
    std::int64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  // Mostly small.
  std::int64_t integer() {
    const std::uint8_t kind = byte();
    return kind < 250 ? kind % 16 - 4 : wide();
  }

  template <class T>
  T one_of(const std::vector<T>& values) {
    return values.empty() ? T{} : values[byte() % values.size()];
  }

 private:
  std::span<const std::byte> rest_;
};

// Arguments of the program's operators, and what none has.
constexpr std::array kNames = {"self", "size",  "shape",     "tensors",
                               "dim",  "index", "src",       "other",
                               "s",    "start", "end",       "step",
                               "",     "axis",  "no such\n", static_cast<const char*>(nullptr)};

// What a translator holds on to between its calls.
class Player {
 public:
  Player(Choices& choices, const sardonyx_host& host, sardonyx_call* call)
      : choices_(choices), host_(host), call_(call) {
    for (const char* name : kNames)
      if (name && host.has(call, name)) known_.push_back(name);
  }

  // As many steps as its first byte says, so that the program's other calls have some.
  void run() {
    for (int left = choices_.byte() % 64; left > 0 && !choices_.done(); --left) step();
    // Mostly a result, so that the rest of the program is reached.
    if (choices_.byte() % 4 != 0) host_.result(call_, 0, value());
  }

 private:
  // Mostly one that the operator has, since what fails ends what a translator can do.
  const char* name() {
    const std::uint8_t which = choices_.byte();
    if (which < 16 || known_.empty()) return kNames[which % kNames.size()];
    return known_[which % known_.size()];
  }

  const char* op_type() {
    static const std::vector<const char*> all = {
        "Identity", "Relu", "Add",  "MatMul", "Concat", "Split", "Neg",     "Cast",
        "Reshape",  "TopK", "Loop", "If",     "NoSuch", nullptr, "Constant"};
    return choices_.one_of(all);
  }

  const char* domain() {
    static const std::vector<const char*> all = {"",      "",     "my.domain", "com.microsoft",
                                                 nullptr, "other"};
    return choices_.one_of(all);
  }

  sardonyx_value* value() { return choices_.one_of(values_); }
  sardonyx_node* node() { return choices_.one_of(nodes_); }

  std::vector<std::int64_t> integers() {
    std::vector<std::int64_t> made(choices_.byte() % 5);
    for (std::int64_t& each : made) each = choices_.integer();
    return made;
  }

  void ask() {
    const std::int64_t* integers = nullptr;
    const double* numbers = nullptr;
    switch (choices_.byte() % 10) {
      case 0:
        read_text(host_.op(call_));
        break;
      case 1:
        (void)host_.opset(call_);
        break;
      case 2:
        (void)host_.has(call_, name());
        break;
      case 3:
        (void)host_.tensor_count(call_, name());
        break;
      case 4:
        values_.push_back(
            host_.tensor_at(call_, name(), static_cast<std::size_t>(choices_.integer())));
        break;
      case 5:
        (void)host_.integer(call_, name());
        break;
      case 6:
        (void)host_.number(call_, name());
        break;
      case 7:
        read_text(host_.text(call_, name()));
        break;
      case 8:
        for (std::size_t i = host_.integers(call_, name(), &integers); i > 0; --i)
          sum_ += integers[i - 1] % 7;
        break;
      default:
        for (std::size_t i = host_.numbers(call_, name(), &numbers); i > 0; --i)
          sum_ += numbers[i - 1] > 0 ? 1 : 0;
    }
  }

  // All of what a text promises is read.
  void read_text(const char* text) { sum_ += text ? static_cast<std::int64_t>(strlen(text)) : 0; }

  void look_at(const sardonyx_value* value) {
    sum_ += host_.dtype(value) + host_.rank(value) % 9;
    (void)host_.dim(value, static_cast<std::int32_t>(choices_.integer()));
  }

  void set(sardonyx_node* node) {
    const std::vector<std::int64_t> held = integers();
    const std::vector<float> numbers(held.begin(), held.end());
    switch (choices_.byte() % 5) {
      case 0:
        return host_.set_int(node, name(), choices_.integer());
      case 1:
        return host_.set_float(node, name(), static_cast<float>(choices_.integer()));
      case 2:
        return host_.set_string(node, name(), host_.text(call_, name()));
      case 3:
        return host_.set_ints(node, name(), held.size(), held.data());
      default:
        return host_.set_floats(node, name(), numbers.size(), numbers.data());
    }
  }

  sardonyx_value* constant() {
    const std::vector<std::int64_t> dims = integers();
    const std::vector<std::byte> data(choices_.byte(), std::byte{1});
    const bool wrong = choices_.byte() % 16 == 0;
    return host_.constant(call_, static_cast<std::int32_t>(choices_.integer()),
                          wrong ? -1 : static_cast<std::int32_t>(dims.size()), dims.data(),
                          data.data(), data.size());
  }

  void step() {
    switch (choices_.byte() % 12) {
      case 0:
      case 1:
        values_.push_back(host_.tensor(call_, name()));
        break;
      case 2:
        return ask();
      case 3:
        return look_at(value());
      case 4:
        values_.push_back(constant());
        break;
      case 5:
        nodes_.push_back(host_.node(call_, domain(), op_type()));
        break;
      case 6:
      case 7:
        return host_.input(node(), value());
      case 8:
        return set(node());
      case 9:
        return host_.emit(node(), static_cast<std::size_t>(choices_.integer()));
      case 10:
        values_.push_back(host_.output(node(), static_cast<std::size_t>(choices_.integer())));
        break;
      default:
        return end();
    }
  }

  void end() {
    switch (choices_.byte() % 8) {
      case 0:
        return host_.refuse(call_, name(), name());
      case 1:
        return host_.domain_version(call_, domain(), choices_.integer());
      default:
        return host_.result(call_, static_cast<std::size_t>(choices_.integer()), value());
    }
  }

  Choices& choices_;
  const sardonyx_host& host_;
  sardonyx_call* call_;
  std::vector<const char*> known_;
  std::vector<sardonyx_value*> values_ = {nullptr};
  std::vector<sardonyx_node*> nodes_ = {nullptr};
  std::int64_t sum_ = 0;
};

void translate(void* user, const sardonyx_host* host, sardonyx_call* call) {
  Player(*static_cast<Choices*>(user), *host, call).run();
}

}  // namespace

void play_plugin(std::span<const std::byte> bytes, Program program) {
  Choices choices(bytes);
  std::map<std::string, aten::CustomTranslator, std::less<>> translators;
  sardonyx_registry registry{translators, {}};
  const char* const op = choices.byte() % 32 == 0 ? nullptr : "any";
  plugin::host().translate(&registry, op, translate, &choices);
  if (!registry.problem.empty()) return;
  const aten::CustomTranslator& played = translators.at("any");
  // Some of the program's operators are the library's own.
  const std::uint8_t which = choices.byte();
  int met = 0;
  const auto lookup = [&](const program::Call&) -> const aten::CustomTranslator* {
    return (which >> (met++ % 8)) & 1 ? &played : nullptr;
  };
  ConvertOptions options;
  options.optimize = choices.byte() % 2 == 0;
  (void)serialize(convert(std::move(program), options, lookup), {});
}

}  // namespace sardonyx::fuzz
