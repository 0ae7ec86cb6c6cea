#include "tests/bench/rows.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

const bench_row bench_rows[BENCH_ROWS] = {
    {"GRN float, DDR, 1x16x256x512",
     "kernels/grn/layer.xml --layer GRNFloat --shape in0=1x16x256x512:f32 "
     "--param bias=1.0",
     "kernels/grn/grn_f32.cl grn_f32 512,256,1 512,1,1 in:2097152 out:2097152 "
     "int:16 float:1.0",
     "kernels/grn/grn_f32.cl grn_f32 512,8,1 512,1,1 in:65536 out:65536 "
     "int:16 float:1.0",
     32, 16},
    /* More than the host's caches hold. */
    {"GRN float, DDR, 1x16x1024x512",
     "kernels/grn/layer.xml --layer GRNFloat --shape in0=1x16x1024x512:f32 "
     "--param bias=1.0",
     "kernels/grn/grn_f32.cl grn_f32 512,1024,1 512,1,1 in:8388608 "
     "out:8388608 int:16 float:1.0",
     "kernels/grn/grn_f32.cl grn_f32 512,8,1 512,1,1 in:65536 out:65536 "
     "int:16 float:1.0",
     128, 64},
    {"matmul float, tiled, 512x512x512",
     "kernels/matmul/layer.xml --layer MatMulFloat --shape in0=512x512:f32 "
     "--shape in1=512x512:f32 --shape out0=512x512:f32",
     "kernels/matmul/matmul_f32.cl matmul_f32 512,512,1 16,16,1 in:262144 "
     "in:262144 out:262144 int:512 int:512",
     "kernels/matmul/matmul_f32.cl matmul_f32 512,16,1 16,16,1 in:8192 "
     "in:262144 out:8192 int:512 int:512",
     32, 3},
    {"GRN half, DDR, 1x16x256x512",
     "kernels/grn/layer.xml --layer GRN --shape in0=1x16x256x512 "
     "--param bias=1.0",
     NULL, NULL, 0, 8},
    {"GRN half, DMA, 1x16x256x512",
     "kernels/grn/layer.xml --layer GRNDma --shape in0=1x16x256x512 "
     "--param bias=1.0",
     NULL, NULL, 0, 8},
    {"matmul half, tiled, 512x512x512",
     "kernels/matmul/layer.xml --layer MatMul --shape in0=512x512 "
     "--shape in1=512x512 --shape out0=512x512",
     NULL, NULL, 0, 1.5},
    {"stencil float, 1024x1024",
     "tests/bench/layer.xml --layer Stencil --shape in0=1x1x1032x1040:f32",
     "tests/bench/stencil.cl stencil 1024,1024,1 1024,1,1 in:1073280 "
     "out:1073280 int:1040",
     "tests/bench/stencil.cl stencil 1024,32,1 1024,1,1 in:1073280 "
     "out:1073280 int:1040",
     32, 8},
    {"reduction float, 16384 groups of 256",
     "tests/bench/layer.xml --layer Reduction "
     "--shape in0=1x1x1x4194304:f32 --shape out0=1x1x1x16384:f32",
     "tests/bench/reduction.cl reduction 4194304,1,1 256,1,1 in:4194304 "
     "out:16384 local:1024",
     "tests/bench/reduction.cl reduction 65536,1,1 256,1,1 in:65536 "
     "out:256 local:1024",
     64, 16},
    {"1,000,000 one-item work-groups",
     "tests/bench/layer.xml --layer Tiny --shape in0=1x1x1x1000000:f32",
     "tests/bench/tiny.cl tiny 1000000,1,1 1,1,1 in:1000000 out:1000000",
     "tests/bench/tiny.cl tiny 10000,1,1 1,1,1 in:10000 out:10000", 100, 7.6},
};

static double sum_of_stages(const char *report, const char *key)
{
    json_t *r = json_loads(report, 0, NULL), *stage;
    double s = 0;
    size_t i;

    json_array_foreach(json_object_get(r, "stages"), i, stage) s +=
        json_number_value(json_object_get(stage, key));
    json_decref(r);
    if (s <= 0) {
        fprintf(stderr, "bench: no %s in the report\n", key);
        exit(1);
    }
    return s;
}

double bench_report_seconds(const char *report)
{
    return sum_of_stages(report, "host_run_s");
}

double bench_report_engine_seconds(const char *report)
{
    return sum_of_stages(report, "host_engine_s");
}
