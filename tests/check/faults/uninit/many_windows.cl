/* A helper's private windows begin to exist thousands of times.
 *
 * ARGS --shape in0=1x1x2x300 --shape out0=1x1x2x298
 * BIND <Tensor arg-name="line" type="input" port-index="0" format="BFYX"/>
 * BIND <Tensor arg-name="smooth" type="output" port-index="0" format="BFYX"/>
 * SIZE global="2,1,1" local="1,1,1"
 * CLEAN
 */
void in_order(half *low, half *high)
{
    half t = *low;

    *low = fmin(t, *high);
    *high = fmax(t, *high);
}

half middle(__global const half *of)
{
    half window[3];

    for (int n = 0; n < 3; n++)
        window[n] = of[n];
    in_order(window, window + 1);
    in_order(window + 1, window + 2);
    in_order(window, window + 1);
    return window[1];
}

__kernel void k(__global const half *restrict line,
                __global half *restrict smooth)
{
    int y = get_global_id(0);

    for (int round = 0; round < 5; round++)
        for (int x = 0; x < 298; x++)
            smooth[y * 298 + x] = middle(line + y * 300 + x);
}
