/* One computation, every kind of copy.
 *
 * The tensor is 1x6x10x24 floats, the work-groups are 3 x 2: each has a block of
 * 6 channels, 5 rows, 8 columns, and 8 items which go down its 30 rows. A row of
 * the result is its neighbours swapped, doubled, plus the row's number. */
enum {
    CHANNELS = 6,
    HEIGHT = 10,
    WIDTH = 24,
    ROWS = 5,
    COLUMNS = 8,
    PLANE = HEIGHT * WIDTH,
    BLOCK = ROWS * COLUMNS, /* of one channel */
    FLOAT = sizeof(float)
};

#define ARGUMENTS                                                              \
    (__global const float *src, __global float *dst, __local float *in,        \
     __local float *out)
#define PRELOAD(name) __kernel void __dma_preload_##name ARGUMENTS
#define MAIN(name) __kernel void name ARGUMENTS
#define POSTWRITE(name) __kernel void __dma_postwrite_##name ARGUMENTS

static int corner(void)
{
    return get_group_id(1) * ROWS * WIDTH + get_group_id(0) * COLUMNS;
}

/* Element x of row i of the group's block, in DDR. */
static int at(int i, int x)
{
    return corner() + i / ROWS * PLANE + i % ROWS * WIDTH + x;
}

static void compute(__local const float *in, __local float *out)
{
    const int x = get_local_id(0);

    for (int i = 0; i < CHANNELS * ROWS; i++)
        out[i * COLUMNS + x] = in[i * COLUMNS + (x ^ 1)] * 2 + i;
}

/* 3-D transactions. */
PRELOAD(dma_3d)
{
    WorkGroupDmaCreate3DTransaction(
        src + corner(), in, COLUMNS * FLOAT, COLUMNS * FLOAT, WIDTH * FLOAT,
        COLUMNS * FLOAT, CHANNELS, PLANE * FLOAT, BLOCK * FLOAT, BLOCK * FLOAT,
        0);
}
MAIN(dma_3d)
{
    compute(in, out);
}
POSTWRITE(dma_3d)
{
    WorkGroupDmaCreate3DTransaction(
        out, dst + corner(), COLUMNS * FLOAT, COLUMNS * FLOAT, COLUMNS * FLOAT,
        WIDTH * FLOAT, CHANNELS, BLOCK * FLOAT, PLANE * FLOAT, BLOCK * FLOAT,
        0);
}

/* 2-D transactions whose sides have lines of different widths. */
PRELOAD(dma_widths)
{
    for (int c = 0; c < CHANNELS; c++)
        WorkGroupDmaCreateStrideTransaction(
            src + corner() + c * PLANE, in + c * BLOCK, COLUMNS * FLOAT,
            COLUMNS / 2 * FLOAT, WIDTH * FLOAT, COLUMNS / 2 * FLOAT,
            BLOCK * FLOAT, 0);
}
MAIN(dma_widths)
{
    compute(in, out);
}
POSTWRITE(dma_widths)
{
    for (int c = 0; c < CHANNELS; c++)
        WorkGroupDmaCreateStrideTransaction(
            out + c * BLOCK, dst + corner() + c * PLANE, BLOCK / 2 * FLOAT,
            COLUMNS * FLOAT, BLOCK / 2 * FLOAT, WIDTH * FLOAT, BLOCK * FLOAT,
            0);
}

/* Preload alone, of many small transactions. */
PRELOAD(dma_preload_only)
{
    for (int i = 0; i < CHANNELS * ROWS; i++)
        WorkGroupDmaCreateTransaction(src + at(i, 0), in + i * COLUMNS,
                                      COLUMNS * FLOAT, 0);
}
MAIN(dma_preload_only)
{
    const int x = get_local_id(0);

    for (int i = 0; i < CHANNELS * ROWS; i++)
        dst[at(i, x)] = in[i * COLUMNS + (x ^ 1)] * 2 + i;
}

/* Postwrite alone. */
MAIN(dma_postwrite_only)
{
    const int x = get_local_id(0);

    for (int i = 0; i < CHANNELS * ROWS; i++)
        out[i * COLUMNS + x] = src[at(i, x ^ 1)] * 2 + i;
}
POSTWRITE(dma_postwrite_only)
{
    for (int c = 0; c < CHANNELS; c++)
        WorkGroupDmaCreateStrideTransaction(
            out + c * BLOCK, dst + corner() + c * PLANE, COLUMNS * FLOAT,
            COLUMNS * FLOAT, COLUMNS * FLOAT, WIDTH * FLOAT, BLOCK * FLOAT, 0);
}

/* The later generation: destination first, elements, gaps, inside the kernel. */
MAIN(copy_3d)
{
    const int gap = WIDTH - COLUMNS, plane_gap = PLANE - ROWS * WIDTH;
    event_t e = async_work_group_copy_3D3D(in, src + corner(), COLUMNS, ROWS,
                                           gap, 0, CHANNELS, plane_gap, 0, 0);

    wait_group_events(1, &e);
    compute(in, out);
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_copy_3D3D(dst + corner(), out, COLUMNS, ROWS, 0, gap,
                                   CHANNELS, 0, plane_gap, 0);
    wait_group_events(1, &e);
}

MAIN(copy_2d)
{
    event_t e[CHANNELS];

    for (int c = 0; c < CHANNELS; c++)
        e[c] = async_work_group_copy_2D2D(in + c * BLOCK,
                                          src + corner() + c * PLANE, COLUMNS,
                                          ROWS, WIDTH - COLUMNS, 0, 0);
    wait_group_events(CHANNELS, e);
    compute(in, out);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int c = 0; c < CHANNELS; c++)
        e[c] = async_work_group_copy_2D2D(dst + corner() + c * PLANE,
                                          out + c * BLOCK, COLUMNS, ROWS, 0,
                                          WIDTH - COLUMNS, 0);
    wait_group_events(CHANNELS, e);
}

/* OpenCL 1.2's own copies: rows in, columns out. */
MAIN(copy_rows_and_columns)
{
    __local float columns[CHANNELS * BLOCK];
    const int x = get_local_id(0);
    event_t e = 0;

    for (int i = 0; i < CHANNELS * ROWS; i++)
        e = async_work_group_copy(in + i * COLUMNS, src + at(i, 0), COLUMNS, e);
    wait_group_events(1, &e);
    compute(in, out);
    for (int i = 0; i < CHANNELS * ROWS; i++)
        columns[(i / ROWS * COLUMNS + x) * ROWS + i % ROWS] =
            out[i * COLUMNS + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int c = 0; c < CHANNELS; c++)
        for (int column = 0; column < COLUMNS; column++)
            e = async_work_group_strided_copy(
                dst + corner() + c * PLANE + column,
                columns + (c * COLUMNS + column) * ROWS, ROWS, WIDTH, e);
    wait_group_events(1, &e);
}
