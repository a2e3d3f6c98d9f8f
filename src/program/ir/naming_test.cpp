#include "program/ir/naming.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/diagnostic.h"

namespace sardonyx::program {
namespace {

constexpr const char* kLeaf = R"({"type": null, "context": null, "children_spec": []})";

std::string node(const std::string& type, const std::string& context,
                 std::vector<std::string> children) {
  std::string text =
      R"({"type": ")" + type + R"(", "context": )" + context + R"(, "children_spec": [)";
  for (std::size_t i = 0; i < children.size(); ++i) text += (i ? ", " : "") + children[i];
  return text + "]}";
}

std::string spec(const std::string& tree) { return "[1, " + tree + "]"; }
std::string tuple(std::vector<std::string> children) {
  return node("builtins.tuple", "\"null\"", std::move(children));
}

// What transformers' registration for torch.export gives for two layers.
std::string dynamic_cache() {
  const std::string two = node("builtins.list", "\"null\"", {kLeaf, kLeaf});
  return node("transformers.cache_utils.DynamicCache",
              R"("[[\"key_cache\", \"value_cache\"], [null, null]]")", {two, two});
}

struct Fixture {
  Program program;

  Value* input(const std::string& name) {
    Value* value = program.add_value();
    value->name = name;
    program.inputs.push_back({InputKind::kUser, value, "", true});
    return value;
  }
  Value* output(const std::string& name) {
    Value* value = program.add_value();
    value->name = name;
    program.outputs.push_back({OutputKind::kUser, value, ""});
    return value;
  }
};

using Names = std::vector<std::string>;

TEST(Names, KeepTheCapturedOnesByDefault) {
  Fixture f;
  Value* x = f.input("x");
  f.input("y_0");
  f.output("linear_1");
  f.program.outputs.push_back({OutputKind::kUser, x, ""});  // an input returned as it is
  f.output("linear_1");
  f.program.outputs.push_back({OutputKind::kBufferMutation, x, "bn.running_mean"});
  f.program.outputs.push_back({OutputKind::kUser, None{}, ""});
  EXPECT_EQ(input_names(f.program, {}), (Names{"x", "y_0"}));
  EXPECT_EQ(output_names(f.program, {}),
            (Names{"linear_1", "x_output", "linear_1_1", "bn.running_mean_updated", "output"}));
}

TEST(Names, OfCachesAreWhatRuntimesExpect) {
  Fixture f;
  for (const char* name : {"input_ids", "k0", "k1", "v0", "v1", "mask"}) f.input(name);
  for (const char* name : {"linear_14", "cat_7", "cat_11", "cat_8", "cat_12"}) f.output(name);
  f.program.input_spec = spec(
      tuple({tuple({}), node("builtins.dict", R"("[\"input_ids\", \"past_key_values\", \"mask\"]")",
                             {kLeaf, dynamic_cache(), kLeaf})}));
  f.program.output_spec =
      spec(node("transformers.modeling_outputs.CausalLMOutputWithPast",
                R"("[\"logits\", \"past_key_values\"]")", {kLeaf, dynamic_cache()}));
  EXPECT_EQ(input_names(f.program, {}),
            (Names{"input_ids", "past_key_values.0.key", "past_key_values.1.key",
                   "past_key_values.0.value", "past_key_values.1.value", "mask"}));
  EXPECT_EQ(output_names(f.program, {}), (Names{"logits", "present.0.key", "present.1.key",
                                                "present.0.value", "present.1.value"}));
}

TEST(Names, OfCachesFlattenedWithTheirWholeState) {
  Fixture f;
  for (const char* name : {"a", "b", "c", "d"}) f.input(name);
  const auto layers = [](int first) {
    return R"({\"_t\": \"obj\", \"s\": {\"layers\": [{\"_t\": \"obj\", \"s\": {)"
           R"(\"keys\": {\"_t\": \"tensor\", \"i\": )" +
           std::to_string(first) + R"(}, \"values\": {\"_t\": \"tensor\", \"i\": )" +
           std::to_string(first + 1) + R"(}}}]}})";
  };
  const std::string context = R"("{\"_t\": \"obj\", \"s\": {\"self_attention_cache\": )" +
                              layers(0) + R"(, \"cross_attention_cache\": )" + layers(2) +
                              R"(, \"is_updated\": {}}}")";
  const std::string cache =
      node("transformers.cache_utils:EncoderDecoderCache", context, {kLeaf, kLeaf, kLeaf, kLeaf});
  f.program.input_spec = spec(tuple({tuple({cache}), node("builtins.dict", "\"[]\"", {})}));
  const Names expected{"past_key_values.0.decoder.key", "past_key_values.0.decoder.value",
                       "past_key_values.0.encoder.key", "past_key_values.0.encoder.value"};
  EXPECT_EQ(input_names(f.program, {}), expected);
  // The only cache is called so whatever the parameter is.
  f.program.parameter_names = {"memory"};
  EXPECT_EQ(input_names(f.program, {}), expected);
}

TEST(Names, OfSeveralCachesAreTheirFieldsButForTheDecoders) {
  Fixture f;
  for (int i = 0; i < 8; ++i) {
    const std::string number = std::to_string(i);
    f.input(("i" + number).c_str());
    f.output(("o" + number).c_str());
  }
  const auto caches = [](const char* names) {
    return node("builtins.dict", names, {dynamic_cache(), dynamic_cache()});
  };
  f.program.input_spec = spec(tuple({tuple({}), caches(R"("[\"cache\", \"padding_cache\"]")")}));
  f.program.output_spec = spec(caches(R"("[\"past_states\", \"cache_params\"]")"));
  const Names inputs = input_names(f.program, {});
  EXPECT_EQ(inputs[0], "past_key_values.0.key");
  EXPECT_EQ(inputs[4], "padding_cache.0.key");
  const Names outputs = output_names(f.program, {});
  EXPECT_EQ(outputs[0], "present_states.0.key");
  EXPECT_EQ(outputs[4], "present.0.key");
}

TEST(Names, OfPairsOfCaches) {
  Fixture f;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) f.output(name);
  const std::string pair = node("transformers.cache_utils.EncoderDecoderCache",
                                R"("[\"self_attention_cache\", \"cross_attention_cache\"]")",
                                {dynamic_cache(), dynamic_cache()});
  f.program.output_spec = spec(node("builtins.dict", R"("[\"past_key_values\"]")", {pair}));
  const Names names = output_names(f.program, {});
  EXPECT_EQ(names[1], "present.1.decoder.key");
  EXPECT_EQ(names[6], "present.0.encoder.value");
  // The only cache is called so whatever the field is.
  f.program.output_spec = spec(node("builtins.dict", R"("[\"cache\"]")", {pair}));
  EXPECT_EQ(output_names(f.program, {})[0], "present.0.decoder.key");
}

TEST(Names, OfCachesThatAreTuples) {
  Fixture f;
  for (const char* name : {"a", "b", "c", "d"}) f.input(name);
  const std::string layer = tuple({kLeaf, kLeaf});
  f.program.parameter_names = {"past_key_values"};
  f.program.input_spec =
      spec(tuple({tuple({tuple({layer, layer})}), node("builtins.dict", "\"[]\"", {})}));
  EXPECT_EQ(input_names(f.program, {}),
            (Names{"past_key_values.0.key", "past_key_values.0.value", "past_key_values.1.key",
                   "past_key_values.1.value"}));
}

TEST(Names, OfNestedOutputsAreTheirKeys) {
  Fixture f;
  for (const char* name : {"a", "b", "c", "d", "e"}) f.output(name);
  const std::string dict = node("builtins.dict", R"("[\"boxes\", \"hidden\"]")",
                                {kLeaf, node("builtins.list", "\"null\"", {kLeaf, kLeaf})});
  const std::string data = node("my.Result", R"("[[\"score\"], [\"aux\"]]")", {kLeaf});
  f.program.output_spec = spec(tuple({dict, data, kLeaf}));
  EXPECT_EQ(output_names(f.program, {}), (Names{"boxes", "hidden.0", "hidden.1", "score", "e"}));
}

TEST(Names, WantedOnesWinAndStayUnique) {
  Fixture f;
  f.input("x");
  f.program.inputs.push_back({InputKind::kUser, nullptr, "flag", true});
  f.input("ids");
  f.output("x_1");
  f.output("b");
  const Names inputs = input_names(f.program, Names{"", "x"});
  EXPECT_EQ(inputs, (Names{"x_1", "flag", "x"}));
  EXPECT_EQ(output_names(f.program, inputs, Names{"", "y"}), (Names{"x_1_1", "y"}));
  for (const Names& wanted : {Names{"a", "b", "c"}, Names{"a", "a"}})
    EXPECT_THROW(input_names(f.program, wanted), base::Error);
  EXPECT_THROW(output_names(f.program, inputs, Names{"x"}), base::Error);
}

TEST(Names, SpecsThatAreNoneAreIgnored) {
  Fixture f;
  f.input("x");
  f.output("y");
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += R"({"type":"a","context":"","children_spec":[)";
  for (const std::string& text :
       {std::string("["), std::string("[1]"), std::string("[1, 2]"), std::string("{}"),
        spec(R"({"type": 3, "context": null, "children_spec": []})"),
        spec(R"({"type": "a", "context": null, "children_spec": {}})"), spec(deep),
        spec(tuple({kLeaf, kLeaf})), spec(node("a", "\"{\"", {})), std::string("\xff\xfe")}) {
    f.program.input_spec = text;
    f.program.output_spec = text;
    EXPECT_EQ(input_names(f.program, {}), Names{"x"}) << text.substr(0, 80);
    EXPECT_EQ(output_names(f.program, {}), Names{"y"}) << text.substr(0, 80);
  }
}

}  // namespace
}  // namespace sardonyx::program
