/* Translators that the tests build into a shared library. */
#include "sardonyx/plugin.h"

#include <string.h>

/* scaled(Tensor x, float factor=2.0, *, int offset=0): x * factor + offset */
static void scaled(void* user, const sardonyx_host* host, sardonyx_call* call) {
  (void)user;
  sardonyx_value* x = host->tensor(call, "x");
  const float factor = (float)host->number(call, "factor");
  const float offset = host->has(call, "offset") ? (float)host->integer(call, "offset") : 0.0f;
  if (host->dtype(x) != 1) {
    host->refuse(call, "scaled takes float32 only", "cast the tensor");
    return;
  }
  sardonyx_node* mul = host->node(call, "", "Mul");
  host->input(mul, x);
  host->input(mul, host->constant(call, 1, 0, NULL, &factor, sizeof factor));
  host->emit(mul, 1);
  sardonyx_node* add = host->node(call, "", "Add");
  host->input(add, host->output(mul, 0));
  host->input(add, host->constant(call, 1, 0, NULL, &offset, sizeof offset));
  host->emit(add, 1);
  host->result(call, 0, host->output(add, 0));
}

/* halves(Tensor x, str names, int[] sizes): one node of a domain of its own, with every attribute */
static void halves(void* user, const sardonyx_host* host, sardonyx_call* call) {
  const int64_t* sizes = NULL;
  const size_t count = host->integers(call, "sizes", &sizes);
  const float numbers[] = {0.5f, 1.5f};
  sardonyx_value* x = host->tensor(call, "x");
  sardonyx_node* node = host->node(call, (const char*)user, "Halves");
  host->input(node, NULL);
  host->input(node, x);
  host->set_int(node, "rank", host->rank(x));
  host->set_int(node, "columns", host->dim(x, -1));
  host->set_int(node, "opset", host->opset(call));
  host->set_float(node, "half", 0.5f);
  host->set_string(node, "names", host->text(call, "names"));
  host->set_string(node, "op", host->op(call));
  host->set_ints(node, "sizes", count, sizes);
  host->set_floats(node, "numbers", 2, numbers);
  host->emit(node, 2);
  host->domain_version(call, (const char*)user, 3);
  host->result(call, 0, host->output(node, 0));
  host->result(call, 1, host->output(node, 1));
}

/* Everything that can go wrong, by the argument `how`; nothing of it may crash. */
static void careless(void* user, const sardonyx_host* host, sardonyx_call* call) {
  (void)user;
  const char* how = host->text(call, "how");
  if (strcmp(how, "argument") == 0) host->tensor(call, "no_such");
  if (strcmp(how, "operator") == 0) host->emit(host->node(call, "", "NoSuch"), 1);
  if (strcmp(how, "inputs") == 0) host->emit(host->node(call, "", "MatMul"), 1);
  if (strcmp(how, "unfinished") == 0) host->output(host->node(call, "", "Relu"), 0);
  if (strcmp(how, "result") == 0) host->result(call, 7, NULL);
  if (strcmp(how, "bytes") == 0) host->constant(call, 1, 0, NULL, how, 1);
  if (strcmp(how, "name") == 0) host->tensor(call, NULL);
  if (strcmp(how, "dims") == 0) host->constant(call, 1, -1, NULL, NULL, 0);
  if (strcmp(how, "sizes") == 0) {
    const int64_t large[] = {INT64_MAX / 2};
    host->constant(call, 1, 1, large, how, 4);
  }
  if (strcmp(how, "outputs") == 0) host->emit(host->node(call, "", "Relu"), (size_t)-1);
  if (strcmp(how, "no outputs") == 0) {
    sardonyx_node* relu = host->node(call, "", "Relu");
    host->input(relu, host->tensor(call, "x"));
    host->emit(relu, 0);
  }
  if (strcmp(how, "text") == 0) {
    sardonyx_node* named = host->node(call, "my.domain", "Named");
    host->set_string(named, "name", host->text(call, "no_such"));
    host->set_ints(named, "sizes", 3, NULL);
  }
  /* After a failure everything is taken and nothing happens. */
  sardonyx_node* node = host->node(call, "", "Relu");
  host->input(node, host->tensor(call, "x"));
  host->emit(node, 1);
  if (strcmp(how, "nothing") != 0) host->result(call, 0, host->output(node, 0));
}

int sardonyx_plugin(const sardonyx_host* host, sardonyx_registry* registry) {
  if (host->version < SARDONYX_PLUGIN_VERSION || host->size < sizeof(sardonyx_host)) return 1;
#ifdef UNWILLING
  return 42;
#endif
  host->translate(registry, "custom_tests::scaled", scaled, NULL);
  host->translate(registry, "custom_tests::halves", halves, "my.domain");
  host->translate(registry, "custom_tests::careless", careless, NULL);
  return 0;
}
