/* CLBlast's routines in float and half on whatever OpenCL device is first,
 * against plain loops. One line a case; the last one counts. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <clblast_c.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 40, N = 24, K = 33 };

static int passed, failed;
static cl_context context;
static cl_command_queue queue;

static void expect(const char *what, int status, double worst, double tolerance)
{
    int ok = !status && worst <= tolerance;

    printf("  %s %s: status %d, largest difference %.3g\n",
           ok ? "ok  " : "FAIL", what, status, worst);
    *(ok ? &passed : &failed) += 1;
}

static float value(unsigned i)
{
    return (float)(i * 29 % 83) / 64 - 0.5f;
}

static void open_device(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int error = clGetPlatformIDs(1, &platform, NULL);

    if (!error)
        error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    if (!error)
        context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    if (!error)
        queue = clCreateCommandQueue(context, device, 0, &error);
    if (error) {
        printf("no device: %d\n", error);
        exit(1);
    }
}

static cl_mem put(const float *data, size_t n)
{
    return clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, n * sizeof *data,
                          (void *)data, NULL);
}

static void get(cl_mem from, float *data, size_t n)
{
    clEnqueueReadBuffer(queue, from, CL_TRUE, 0, n * sizeof *data, data, 0,
                        NULL, NULL);
    clReleaseMemObject(from);
}

static void axpy(void)
{
    float x[1000], y[1000], out[1000];
    double worst = 0;
    cl_mem dx, dy;
    int status;

    for (unsigned i = 0; i < 1000; i++) {
        x[i] = value(i);
        y[i] = value(i + 11);
    }
    dx = put(x, 1000);
    dy = put(y, 1000);
    status = CLBlastSaxpy(1000, 1.5f, dx, 0, 1, dy, 0, 1, &queue, NULL);
    get(dy, out, 1000);
    clReleaseMemObject(dx);
    for (unsigned i = 0; i < 1000; i++)
        worst = fmax(worst, fabs(out[i] - (1.5 * x[i] + y[i])));
    expect("SAXPY", status, worst, 1e-6);
}

static void dot(void)
{
    float x[500], y[500], out;
    double want = 0;
    cl_mem dx, dy, result;
    int status;

    for (unsigned i = 0; i < 500; i++) {
        x[i] = value(i);
        y[i] = value(i + 5);
        want += (double)x[i] * y[i];
    }
    dx = put(x, 500);
    dy = put(y, 500);
    result = put(&x[0], 1);
    status = CLBlastSdot(500, result, 0, dx, 0, 1, dy, 0, 1, &queue, NULL);
    get(result, &out, 1);
    clReleaseMemObject(dx);
    clReleaseMemObject(dy);
    expect("SDOT", status, fabs(out - want), 1e-4);
}

static void gemm(void)
{
    static float a[M * K], b[K * N], c[M * N], out[M * N];
    double worst = 0;
    cl_mem da, db, dc;
    int status;

    for (unsigned i = 0; i < M * K; i++)
        a[i] = value(i);
    for (unsigned i = 0; i < K * N; i++)
        b[i] = value(i + 17);
    for (unsigned i = 0; i < M * N; i++)
        c[i] = value(i + 3);
    da = put(a, M * K);
    db = put(b, K * N);
    dc = put(c, M * N);
    status = CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo,
                          CLBlastTransposeNo, M, N, K, 2.0f, da, 0, K, db, 0, N,
                          0.5f, dc, 0, N, &queue, NULL);
    get(dc, out, M * N);
    clReleaseMemObject(da);
    clReleaseMemObject(db);
    for (unsigned i = 0; i < M; i++)
        for (unsigned j = 0; j < N; j++) {
            double sum = 0;

            for (unsigned k = 0; k < K; k++)
                sum += (double)a[i * K + k] * b[k * N + j];
            worst = fmax(worst,
                         fabs(out[i * N + j] - (2 * sum + 0.5 * c[i * N + j])));
        }
    expect("SGEMM", status, worst, 1e-4);
}

static void gemv(void)
{
    static float a[M * K], x[K], y[M], out[M];
    double worst = 0;
    cl_mem da, dx, dy;
    int status;

    for (unsigned i = 0; i < M * K; i++)
        a[i] = value(i);
    for (unsigned i = 0; i < K; i++)
        x[i] = value(i + 9);
    da = put(a, M * K);
    dx = put(x, K);
    dy = put(y, M);
    status = CLBlastSgemv(CLBlastLayoutRowMajor, CLBlastTransposeNo, M, K, 1.0f,
                          da, 0, K, dx, 0, 1, 0.0f, dy, 0, 1, &queue, NULL);
    get(dy, out, M);
    clReleaseMemObject(da);
    clReleaseMemObject(dx);
    for (unsigned i = 0; i < M; i++) {
        double sum = 0;

        for (unsigned k = 0; k < K; k++)
            sum += (double)a[i * K + k] * x[k];
        worst = fmax(worst, fabs(out[i] - sum));
    }
    expect("SGEMV", status, worst, 1e-4);
}

int main(void)
{
    open_device();
    axpy();
    dot();
    gemv();
    gemm();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
