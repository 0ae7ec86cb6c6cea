/* A copy made by the DMA engine, started from inside the kernel.
 *
 * One work-item, alone in its work-group, brings one row to its private memory
 * in parts and sends each on. Work-item transactions connect global and private
 * memory; an event has to be waited for before the private array is used again.
 */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define PART 256

__kernel void copy_item_dma(__global const half *restrict src,
                            __global half *restrict dst, int W)
{
    const size_t row =
        (get_global_id(1) * get_global_size(0) + get_global_id(0)) * W;
    half part[PART];

    for (int x = 0; x < W; x += PART) {
        const size_t bytes = min(W - x, PART) * sizeof(half);
        item_dma_event_t in =
            WorkItemDmaCreateTransaction(src + row + x, part, bytes, 0);

        WaitWorkItemDmaEvents(1, &in);

        item_dma_event_t out =
            WorkItemDmaCreateTransaction(part, dst + row + x, bytes, 0);

        WaitWorkItemDmaEvents(1, &out);
    }
}
