/* grn_check SEED BIAS OUTPUT.npy...: do outputs of a GRN layer whose input was
 * random:SEED equal the plain C computation? The shape comes from the files,
 * which must agree in it. Exit status 0 when all are equal, 1 when not, 2 for
 * anything else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/npy.h"
#include "tests/kernels/ref.h"

static ref_tensor want;

static void compute(const tensor_desc *d, uint64_t seed, double bias)
{
    ref_tensor in = {.is_half = d->dtype == TENSOR_F16};

    memcpy(in.dims, d->dims, sizeof in.dims);
    want = in;
    ref_alloc(&in);
    ref_alloc(&want);
    ref_random(&in, 0, seed);
    ref_grn(&in, bias, &want);
    ref_free(&in);
}

static int check(const char *path, uint64_t seed, double bias, arena *a)
{
    vpu_error err = {0};
    char text[1024];
    size_t differ;
    tensor t;

    if (npy_read(path, a, &t, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 2;
    }
    if (t.desc.rank != 4 || t.desc.dtype > TENSOR_F32) {
        fprintf(stderr, "%s: %s is no output of a GRN layer\n", path,
                tensor_desc_text(a, &t.desc));
        return 2;
    }
    if (!want.data)
        compute(&t.desc, seed, bias);
    if (memcmp(want.dims, t.desc.dims, sizeof want.dims) ||
        want.is_half != (t.desc.dtype == TENSOR_F16)) {
        fprintf(stderr, "%s: not the shape and type of the first file\n", path);
        return 2;
    }
    differ = ref_compare(&want, t.data, text, sizeof text);
    if (differ)
        printf("%s: %zu of %zu elements differ from plain C%s\n", path, differ,
               ref_elements(&want), text);
    else
        printf("%s: all %zu elements equal plain C, bit for bit\n", path,
               ref_elements(&want));
    return differ != 0;
}

int main(int argc, char **argv)
{
    arena *a = arena_create(0);
    int rc = 0;

    if (argc < 4) {
        fprintf(stderr, "usage: grn_check SEED BIAS OUTPUT.npy...\n");
        return 2;
    }
    for (int i = 3; i < argc && rc < 2; i++) {
        int one = check(argv[i], strtoull(argv[1], NULL, 0),
                        strtod(argv[2], NULL), a);

        rc = one > rc ? one : rc;
    }
    ref_free(&want);
    arena_destroy(a);
    return rc;
}
