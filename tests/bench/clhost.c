/* Times one kernel on any OpenCL device:
 *
 *   clhost PLATFORM RUNS FILE.cl KERNEL GX,GY,GZ LX,LY,LZ ARG...
 *
 * PLATFORM is part of the platform's name. ARG is in:N or out:N (N floats in a
 * buffer), int:V, float:V or local:BYTES. Prints the seconds of each run, one a
 * line: host clock from the launch to its end, with nothing else queued, after
 * one run that does not count. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;

static void check(cl_int rc, const char *what)
{
    if (rc == CL_SUCCESS)
        return;
    fprintf(stderr, "clhost: %s: OpenCL error %d\n", what, (int)rc);
    exit(2);
}

static void open_device(const char *wanted)
{
    cl_platform_id platforms[16];
    cl_uint n = 0;
    char name[256];
    cl_int rc;

    check(clGetPlatformIDs(16, platforms, &n), "clGetPlatformIDs");
    for (cl_uint i = 0; i < n && i < 16; i++) {
        check(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name,
                                name, NULL),
              "clGetPlatformInfo");
        if (!strstr(name, wanted))
            continue;
        check(
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL),
            "clGetDeviceIDs");
        context = clCreateContext(NULL, 1, &device, NULL, NULL, &rc);
        check(rc, "clCreateContext");
        queue = clCreateCommandQueue(context, device, 0, &rc);
        check(rc, "clCreateCommandQueue");
        return;
    }
    fprintf(stderr, "clhost: no OpenCL platform named %s\n", wanted);
    exit(3);
}

static char *read_source(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);

    if (!f || !text || !fread(text, 1, (1 << 20) - 1, f)) {
        perror(path);
        exit(2);
    }
    fclose(f);
    return text;
}

static cl_kernel build(const char *path, const char *entry)
{
    char *text = read_source(path), *log;
    const char *source = text;
    cl_int rc;
    cl_program p = clCreateProgramWithSource(context, 1, &source, NULL, &rc);
    cl_kernel k;

    check(rc, "clCreateProgramWithSource");
    free(text);
    if (clBuildProgram(p, 1, &device, "", NULL, NULL) != CL_SUCCESS) {
        log = calloc(1, 1 << 16);
        clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_LOG, 1 << 16, log,
                              NULL);
        fprintf(stderr, "clhost: %s:\n%s\n", path, log ? log : "");
        exit(2);
    }
    k = clCreateKernel(p, entry, &rc);
    check(rc, entry);
    return k;
}

static void set_buffer(cl_kernel k, cl_uint i, size_t n)
{
    float *data = calloc(n, sizeof *data);
    cl_mem m;
    cl_int rc;

    if (!data)
        exit(2);
    for (size_t j = 0; j < n; j++)
        data[j] = (float)(j * 2654435761u % 4096) / 2048.0f - 1.0f;
    m = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                       n * sizeof *data, data, &rc);
    check(rc, "clCreateBuffer");
    free(data);
    check(clSetKernelArg(k, i, sizeof m, &m), "clSetKernelArg");
}

static void set_arg(cl_kernel k, cl_uint i, const char *arg)
{
    const char *value = strchr(arg, ':');
    cl_int whole;
    cl_float real;

    value = value ? value + 1 : "";
    whole = (cl_int)strtol(value, NULL, 0);
    real = strtof(value, NULL);
    if (!strncmp(arg, "in:", 3) || !strncmp(arg, "out:", 4))
        set_buffer(k, i, strtoul(value, NULL, 0));
    else if (!strncmp(arg, "int:", 4))
        check(clSetKernelArg(k, i, sizeof whole, &whole), arg);
    else if (!strncmp(arg, "float:", 6))
        check(clSetKernelArg(k, i, sizeof real, &real), arg);
    else if (!strncmp(arg, "local:", 6))
        check(clSetKernelArg(k, i, strtoul(value, NULL, 0), NULL), arg);
    else
        check(CL_INVALID_VALUE, arg);
}

static void parse_sizes(const char *text, size_t size[3])
{
    if (sscanf(text, "%zu,%zu,%zu", &size[0], &size[1], &size[2]) != 3)
        check(CL_INVALID_VALUE, text);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double launch(cl_kernel k, const size_t *global, const size_t *local)
{
    double start = now();

    check(
        clEnqueueNDRangeKernel(queue, k, 3, NULL, global, local, 0, NULL, NULL),
        "clEnqueueNDRangeKernel");
    check(clFinish(queue), "clFinish");
    return now() - start;
}

int main(int argc, char **argv)
{
    size_t global[3], local[3];
    cl_kernel k;

    if (argc < 7) {
        fprintf(stderr, "usage: clhost PLATFORM RUNS FILE.cl KERNEL GX,GY,GZ "
                        "LX,LY,LZ ARG...\n");
        return 2;
    }
    open_device(argv[1]);
    k = build(argv[3], argv[4]);
    parse_sizes(argv[5], global);
    parse_sizes(argv[6], local);
    for (int i = 7; i < argc; i++)
        set_arg(k, (cl_uint)(i - 7), argv[i]);
    launch(k, global, local);
    for (long i = strtol(argv[2], NULL, 0); i > 0; i--)
        printf("%.9f\n", launch(k, global, local));
    return 0;
}
