/* Converts a .pt2 archive: convert model.pt2 model.onnx [OPSET] */
#include <sardonyx/c.h>
#include <stdio.h>

int main(int argc, char** argv) {
  sardonyx_error* error = NULL;
  sardonyx_options* options = sardonyx_options_new();
  sardonyx_program* program = NULL;
  sardonyx_model* model = NULL;
  int failed = 1;

  if (argc < 3) {
    fputs("usage: convert model.pt2 model.onnx [OPSET]\n", stderr);
    sardonyx_options_free(options);
    return 2;
  }
  if ((argc < 4 || sardonyx_options_set(options, "opset", argv[3], &error) == 0) &&
      (program = sardonyx_read(argv[1], options, &error)) != NULL &&
      (model = sardonyx_convert(program, options, &error)) != NULL &&
      sardonyx_write(model, argv[2], options, &error) == 0) {
    printf("%s: %lld nodes\n", argv[2], (long long)sardonyx_node_count(model));
    failed = 0;
  }
  if (failed) fprintf(stderr, "%s\n", sardonyx_error_text(error));
  sardonyx_error_free(error);
  sardonyx_model_free(model);
  sardonyx_program_free(program);
  sardonyx_options_free(options);
  return failed;
}
