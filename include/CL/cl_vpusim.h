/* What the simulated VPU tells an OpenCL program besides OpenCL's own answers:
 * extension cl_vpusim_queries. All are read with functions of OpenCL 1.2, whose
 * errors they have; asked of another device, they are CL_INVALID_VALUE there.
 * docs/opencl.md.
 *
 * Memory of answers is the caller's, as for every query. Any thread may ask.
 * Cycles are those of docs/timing.md: legal schedules and a model of memory,
 * whose parameters `vpu machine` lists with their sources. */
#ifndef CL_VPUSIM_H
#define CL_VPUSIM_H

#include <stddef.h> /* of the sizes that queries take */

#define CL_VPUSIM_QUERIES_EXTENSION "cl_vpusim_queries"

/* --- clGetEventProfilingInfo, of kernels and tasks on a queue with
 * CL_QUEUE_PROFILING_ENABLE; of other commands
 * CL_PROFILING_INFO_NOT_AVAILABLE. cl_ulong unless it says otherwise. */

/* Cycles of the device, dispatch included. */
#define CL_PROFILING_COMMAND_CYCLES_VPUSIM 0x76707501
/* cl_ulong[]: cycles of all SHAVEs together by what they went to, in the order
 * of CL_DEVICE_CYCLE_CAUSES_VPUSIM. Their sum is cycles x SHAVEs. */
#define CL_PROFILING_COMMAND_SHAVE_CYCLES_VPUSIM 0x76707502
/* Bytes that the kernel loads, stores, and moves by DMA; and those that crossed
 * the bus of the DDR. */
#define CL_PROFILING_COMMAND_LOAD_BYTES_VPUSIM 0x76707503
#define CL_PROFILING_COMMAND_STORE_BYTES_VPUSIM 0x76707504
#define CL_PROFILING_COMMAND_DMA_BYTES_VPUSIM 0x76707505
#define CL_PROFILING_COMMAND_DDR_BYTES_VPUSIM 0x76707506
/* cl_uint: SHAVEs the launch was dispatched to. */
#define CL_PROFILING_COMMAND_SHAVES_VPUSIM 0x76707507
/* cl_uint: work-items in one run of the vectorized code; 1: scalar. */
#define CL_PROFILING_COMMAND_VECTOR_FACTOR_VPUSIM 0x76707508
/* cl_uint: bytes of CMX that a work-group has. */
#define CL_PROFILING_COMMAND_CMX_BYTES_VPUSIM 0x76707509

/* --- clGetDeviceInfo */

/* char[]: names of causes, ";" between them. */
#define CL_DEVICE_CYCLE_CAUSES_VPUSIM 0x76707511

/* --- clGetKernelWorkGroupInfo. cl_uint[2] each: of the scalar and of the
 * vectorized program; 0 where there is none. CL_OUT_OF_RESOURCES: the program
 * cannot be read. */

/* Bundles, empty ones included. */
#define CL_KERNEL_BUNDLES_VPUSIM 0x76707521
/* Registers of the integer and of the vector file that it names. */
#define CL_KERNEL_I_REGISTERS_VPUSIM 0x76707522
#define CL_KERNEL_V_REGISTERS_VPUSIM 0x76707523
/* Registers that did not fit and live in memory. */
#define CL_KERNEL_SPILLS_VPUSIM 0x76707524
/* Work-items in one run of it. */
#define CL_KERNEL_VECTOR_FACTORS_VPUSIM 0x76707525
/* char[]: why the kernel was not vectorized, with the place; "": it was. */
#define CL_KERNEL_NOT_VECTORIZED_VPUSIM 0x76707526

#endif
