/* The kernels of the benchmark, and what a run of one takes. */
#ifndef VPU_TESTS_BENCH_ROWS_H
#define VPU_TESTS_BENCH_ROWS_H

/* One source on all three. */
typedef struct {
    const char *name;
    const char *run;       /* words after `vpu run` */
    const char *host;      /* words of clhost from FILE.cl on, or NULL */
    const char *host_part; /* the same for Oclgrind: 1 / share of the items */
    double share;
    double buffer_mib; /* inputs and outputs */
} bench_row;

enum { BENCH_ROWS = 9 };
extern const bench_row bench_rows[BENCH_ROWS];

/* Seconds of the launches in a report of `vpu run --json`: the median of its
 * repetitions. Exits with a message when the report has none. */
double bench_report_seconds(const char *report);
/* Of these, the host_engine_s. */
double bench_report_engine_seconds(const char *report);

/* bench --ways VPU: what each fast way of the cache model gains. */
void bench_ways(const char *vpu);

#endif
