/* Translators of your own for `sardonyx convert --plugin lib.so`: the whole interface, in C.
 *
 *   static void triple(void* user, const sardonyx_host* host, sardonyx_call* call) {
 *     sardonyx_value* x = host->tensor(call, "x");
 *     const float three = 3.0f;
 *     sardonyx_node* mul = host->node(call, "", "Mul");
 *     host->input(mul, x);
 *     host->input(mul, host->constant(call, host->dtype(x), 0, NULL, &three, sizeof three));
 *     host->emit(mul, 1);
 *     host->result(call, 0, host->output(mul, 0));
 *   }
 *
 *   int sardonyx_plugin(const sardonyx_host* host, sardonyx_registry* registry) {
 *     if (host->version < SARDONYX_PLUGIN_VERSION) return 1;
 *     host->translate(registry, "mylib::triple", triple, NULL);
 *     return 0;
 *   }
 *
 * The interface is stable: later releases add functions at the end of sardonyx_host and raise its
 * version; what is here stays as it is. No function throws. Once something has failed (or the
 * translator has called `refuse`), further functions do nothing and give NULL, 0 or -1, which all
 * of them take, so a translator need not check after every step; the failure is reported with the
 * operator, its module and the user's source line.
 *
 * Handles belong to the call they were made in. Text and lists that functions give are valid until
 * the translator returns. Data types are ONNX's numbers (1 float32, 7 int64, 9 bool, ...). */
#ifndef SARDONYX_PLUGIN_H
#define SARDONYX_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SARDONYX_PLUGIN_VERSION 1

typedef struct sardonyx_registry sardonyx_registry;
typedef struct sardonyx_call sardonyx_call;   /* one captured call of an operator */
typedef struct sardonyx_value sardonyx_value; /* a value of the ONNX graph */
typedef struct sardonyx_node sardonyx_node;   /* a node that is being built */
typedef struct sardonyx_host sardonyx_host;

typedef void (*sardonyx_translator)(void* user, const sardonyx_host* host, sardonyx_call* call);

struct sardonyx_host {
  uint32_t version; /* SARDONYX_PLUGIN_VERSION of the program that loads the plugin */
  uint32_t size;    /* sizeof(sardonyx_host) there */

  /* --- while the plugin registers itself */

  /* `op`: "mylib::foo" for every overload, "mylib::foo.bar" for one. Stands above the library's
   * own translators. The last registration of a name counts. */
  void (*translate)(sardonyx_registry* registry, const char* op, sardonyx_translator translator,
                    void* user);

  /* --- the call: arguments by the names of the operator's schema */

  const char* (*op)(sardonyx_call* call); /* "mylib::foo.bar" */
  int64_t (*opset)(sardonyx_call* call);  /* the target's, of ONNX's own operators */
  /* 1 when the argument is there and not None, else 0; no failure. */
  int (*has)(sardonyx_call* call, const char* name);
  /* A tensor, a size or a number as a value; NULL for None. */
  sardonyx_value* (*tensor)(sardonyx_call* call, const char* name);
  size_t (*tensor_count)(sardonyx_call* call, const char* name); /* of a list */
  sardonyx_value* (*tensor_at)(sardonyx_call* call, const char* name, size_t index);
  int64_t (*integer)(sardonyx_call* call, const char* name); /* bools, dtypes too */
  double (*number)(sardonyx_call* call, const char* name);
  const char* (*text)(sardonyx_call* call, const char* name);
  /* Gives the number of elements and points `values` at them. */
  size_t (*integers)(sardonyx_call* call, const char* name, const int64_t** values);
  size_t (*numbers)(sardonyx_call* call, const char* name, const double** values);

  /* --- values */

  int32_t (*dtype)(const sardonyx_value* value);             /* 0 where unknown */
  int32_t (*rank)(const sardonyx_value* value);              /* -1 where unknown */
  int64_t (*dim)(const sardonyx_value* value, int32_t axis); /* -1 where it is not constant */

  /* --- building */

  /* `data` holds the elements in row-major order and is copied; `rank` 0 is a scalar. */
  sardonyx_value* (*constant)(sardonyx_call* call, int32_t dtype, int32_t rank, const int64_t* dims,
                              const void* data, size_t bytes);
  /* A node of ONNX's own operators (domain "") or of another domain. */
  sardonyx_node* (*node)(sardonyx_call* call, const char* domain, const char* op_type);
  void (*input)(sardonyx_node* node, sardonyx_value* value); /* NULL: an omitted input */
  void (*set_int)(sardonyx_node* node, const char* attribute, int64_t value);
  void (*set_float)(sardonyx_node* node, const char* attribute, float value);
  void (*set_string)(sardonyx_node* node, const char* attribute, const char* value);
  void (*set_ints)(sardonyx_node* node, const char* attribute, size_t count, const int64_t* values);
  void (*set_floats)(sardonyx_node* node, const char* attribute, size_t count, const float* values);
  /* Puts the finished node into the graph. */
  void (*emit)(sardonyx_node* node, size_t outputs);
  sardonyx_value* (*output)(sardonyx_node* node, size_t index);
  /* The version of a domain that the model imports; 1 where nobody says. */
  void (*domain_version)(sardonyx_call* call, const char* domain, int64_t version);

  /* --- the end */

  /* What output `index` of the operator is. */
  void (*result)(sardonyx_call* call, size_t index, sardonyx_value* value);
  /* This call cannot be translated: why, and what to do instead (may be NULL). */
  void (*refuse)(sardonyx_call* call, const char* message, const char* help);
};

/* What a plugin exports. Returns 0, or anything else when it cannot work with this host. */
#if defined(_WIN32)
__declspec(dllexport)
#elif defined(__GNUC__)
__attribute__((visibility("default")))
#endif
int sardonyx_plugin(const sardonyx_host* host, sardonyx_registry* registry);

#ifdef __cplusplus
}
#endif

#endif
