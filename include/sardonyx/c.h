/* Sardonyx from C, and from any language that calls C.
 *
 *   sardonyx_error* error = NULL;
 *   sardonyx_program* program = sardonyx_read("model.pt2", NULL, &error);
 *   sardonyx_model* model = program ? sardonyx_convert(program, NULL, &error) : NULL;
 *   if (!model || sardonyx_write(model, "model.onnx", NULL, &error) != 0)
 *     fputs(sardonyx_error_text(error), stderr);
 *   sardonyx_error_free(error);
 *   sardonyx_model_free(model);
 *   sardonyx_program_free(program);
 *
 * Text is UTF-8 and ends with a zero byte. What a function returns is the caller's to free, unless
 * it says otherwise. On failure a function returns NULL, or something other than 0, and puts the
 * reason into `*error`, where `error` is not NULL. Nothing is thrown, and no handle is shared
 * between threads. `options` may be NULL: all as it is by default. Every *_free takes NULL.
 */
#ifndef SARDONYX_C_H
#define SARDONYX_C_H

#include <stddef.h>
#include <stdint.h>

#include "sardonyx/export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sardonyx_program sardonyx_program; /* what PyTorch captured */
typedef struct sardonyx_model sardonyx_model;     /* an ONNX model */
typedef struct sardonyx_options sardonyx_options; /* words by name */
typedef struct sardonyx_error sardonyx_error;     /* diagnostics, at least one */

SARDONYX_API const char* sardonyx_version(void); /* "0.1.0"; not to be freed */

/* --- options */

SARDONYX_API sardonyx_options* sardonyx_options_new(void);
/* Names are those of the command line without dashes, numbers are written out, flags are "true" or
 * "false": opset, runtime, input-names, output-names, optimize, keep-weights, plugin, fall-through,
 * input, dynamic, external-data, metadata, disable, stop-after, record-rules. What is a list there
 * takes one more each time. 0, or SX1005 in `*error` for a name or value that there is not. */
SARDONYX_API int sardonyx_options_set(sardonyx_options* options, const char* name,
                                      const char* value, sardonyx_error** error);
SARDONYX_API void sardonyx_options_free(sardonyx_options* options);

/* --- programs and models */

/* A file of torch.export.save() or torch.jit.save(). */
SARDONYX_API sardonyx_program* sardonyx_read(const char* path, const sardonyx_options* options,
                                             sardonyx_error** error);
SARDONYX_API void sardonyx_program_free(sardonyx_program* program);

/* Uses the program up, whatever comes of it; it is to be freed all the same. */
SARDONYX_API sardonyx_model* sardonyx_convert(sardonyx_program* program,
                                              const sardonyx_options* options,
                                              sardonyx_error** error);
SARDONYX_API sardonyx_model* sardonyx_read_model(const char* path, sardonyx_error** error);
/* In place; after a failure the model is only to be freed. */
SARDONYX_API int sardonyx_optimize(sardonyx_model* model, const sardonyx_options* options,
                                   sardonyx_error** error);
/* Nodes of the main graph and all bodies. */
SARDONYX_API int64_t sardonyx_node_count(const sardonyx_model* model);
/* Atomically: on failure, what was at `path` before is still there. */
SARDONYX_API int sardonyx_write(const sardonyx_model* model, const char* path,
                                const sardonyx_options* options, sardonyx_error** error);
/* The model as bytes, for sardonyx_bytes_free(); fails above 2 GB. */
SARDONYX_API char* sardonyx_serialize(const sardonyx_model* model, const sardonyx_options* options,
                                      size_t* size, sardonyx_error** error);
SARDONYX_API void sardonyx_bytes_free(char* bytes);
SARDONYX_API void sardonyx_model_free(sardonyx_model* model);

/* --- errors; texts live as long as the error */

SARDONYX_API const char* sardonyx_error_text(const sardonyx_error* error); /* all, for people */
SARDONYX_API size_t sardonyx_error_count(const sardonyx_error* error);
SARDONYX_API const char* sardonyx_error_code(const sardonyx_error* error, size_t index);
SARDONYX_API const char* sardonyx_error_message(const sardonyx_error* error, size_t index);
SARDONYX_API const char* sardonyx_error_help(const sardonyx_error* error, size_t index);
SARDONYX_API void sardonyx_error_free(sardonyx_error* error);

#ifdef __cplusplus
}
#endif

#endif
