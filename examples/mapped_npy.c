/* An .npy file, mapped into memory, as the input of a graph: its pages are the
 * file's, and a run copies them once. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vpusim/vpu.h>

enum { N = 64, HEADER = 128, BYTES = HEADER + N * sizeof(float) };

/* A file of 64 floats, as numpy.save writes it. */
static int write_file(const char *path)
{
    char bytes[BYTES] = "\x93NUMPY\x01\0\x76\0{'descr': '<f4', 'fortran_order': False, 'shape': (64,), }";
    FILE *f = fopen(path, "wb");

    memset(bytes + 10 + strlen(bytes + 10), ' ', HEADER - 11 - strlen(bytes + 10));
    bytes[HEADER - 1] = '\n';
    for (int i = 0; i < N; i++)
        memcpy(bytes + HEADER + 4 * i, &(float){(float)(i - 32)}, 4);
    return !f || fwrite(bytes, BYTES, 1, f) != 1 || fclose(f);
}

int main(void)
{
    vpu_tensor_options input = {.struct_size = sizeof input, .role = VPU_ROLE_INPUT,
                                .shape = "64:f32"};
    vpu_add_options add = {.struct_size = sizeof add, .n_inputs = 1,
                           .output_role = VPU_ROLE_OUTPUT};
    int failed = write_file("input.npy"), file = open("input.npy", O_RDONLY);
    char *map = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, file, 0);
    vpu_error error = {.msg = "input.npy cannot be written or mapped"};
    vpu_context *context;
    vpu_graph *graph;
    vpu_tensor *x;
    vpu_operation *op;
    vpu_result *result;

    add.inputs = &x;
    if (failed || map == MAP_FAILED || vpu_context_create(&context, NULL, &error) ||
        vpu_graph_create(&graph, context, &error) ||
        vpu_graph_tensor(graph, &input, &x, &error) ||
        vpu_graph_add(graph, "relu", &add, &op, &error) ||
        vpu_tensor_import(x, map + HEADER, N * sizeof(float), &error) ||
        vpu_graph_finalize(graph, &error) || vpu_graph_run(graph, NULL, &result, &error))
        return fprintf(stderr, "%s\n", error.msg), 1;
    printf("relu(31) = %g, %llu bytes copied\n",
           ((float *)vpu_tensor_data(vpu_operation_output(op, 0)))[63],
           (unsigned long long)vpu_result_copied_bytes(result));
    return munmap(map, BYTES) || close(file);
}
