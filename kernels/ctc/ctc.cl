/* Greedy decoder of connectionist temporal classification.
 *
 * One work-item is one sequence: at every step it takes the class with the
 * largest score, the first of equal ones, and writes it unless it is the blank,
 * the last class, or repeats the step before. The sequence ends at the first
 * step whose mask is zero. What is left of the output row becomes -1. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void ctc(__global const half *restrict scores,
                  __global const half *restrict mask,
                  __global half *restrict dst, int T, int classes)
{
    const int N = get_global_size(0), n = get_global_id(0);
    int written = 0, last = -1;

    for (int t = 0; t < T && mask[t * N + n] != (half)0; t++) {
        __global const half *step = scores + (t * N + n) * classes;
        int best = 0;

        for (int c = 1; c < classes; c++)
            if (step[c] > step[best])
                best = c;
        if (best != last && best != classes - 1)
            dst[n * T + written++] = convert_half(best);
        last = best;
    }

    while (written < T)
        dst[n * T + written++] = (half)-1;
}
