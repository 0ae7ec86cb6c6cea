/* Fills the padding of a tensor (border.c): work-items are elements of it with its
 * padding, of the last dim, the one in front of it, and all others. Those of the
 * tensor itself do nothing. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define DIM(i) int size##i, int before##i, int all##i, int stride##i

/* Place x of a dim of n elements: the element whose value stands there. */
static int nearest(int x, int n)
{
    return x < 0 ? 0 : x < n ? x : n - 1;
}

__kernel void fill_border(__global ELEMENT *data, int offset, int is_constant,
                          float value, DIM(0), DIM(1), DIM(2), DIM(3), DIM(4),
                          DIM(5))
{
    int z = get_global_id(2);
    int x5 = (int)get_global_id(0) - before5, x4 = (int)get_global_id(1) - before4;
    int x3 = z % all3 - before3, x2 = z / all3 % all2 - before2;
    int x1 = z / all3 / all2 % all1 - before1;
    int x0 = z / all3 / all2 / all1 - before0;
    int n5 = nearest(x5, size5), n4 = nearest(x4, size4), n3 = nearest(x3, size3);
    int n2 = nearest(x2, size2), n1 = nearest(x1, size1), n0 = nearest(x0, size0);
    int to = offset + x0 * stride0 + x1 * stride1 + x2 * stride2 + x3 * stride3 +
             x4 * stride4 + x5 * stride5;
    int from = offset + n0 * stride0 + n1 * stride1 + n2 * stride2 +
               n3 * stride3 + n4 * stride4 + n5 * stride5;

    if (to != from)
        data[to] = is_constant ? (ELEMENT)value : data[from];
}
