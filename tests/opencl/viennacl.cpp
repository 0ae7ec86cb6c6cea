// ViennaCL's linear algebra in float on whatever OpenCL device is first, against
// plain loops. One line a case; the last one counts.
#include <cmath>
#include <cstdio>
#include <vector>

#define VIENNACL_WITH_OPENCL
#include <viennacl/compressed_matrix.hpp>
#include <viennacl/linalg/cg.hpp>
#include <viennacl/linalg/inner_prod.hpp>
#include <viennacl/linalg/norm_2.hpp>
#include <viennacl/linalg/prod.hpp>
#include <viennacl/matrix.hpp>
#include <viennacl/vector.hpp>

static int passed, failed;

static void expect(const char *what, double got, double want, double tolerance)
{
    bool ok = std::fabs(got - want) <= tolerance * (1 + std::fabs(want));

    std::printf("  %s %s: %.7g, expected %.7g\n", ok ? "ok  " : "FAIL", what,
                got, want);
    (ok ? passed : failed)++;
}

static float value(unsigned i)
{
    return (float)(i * 37 % 101) / 64 - 0.75f;
}

static void vectors()
{
    const unsigned n = 1000;
    std::vector<float> x(n), y(n), z(n);
    viennacl::vector<float> dx(n), dy(n), dz(n);
    double dot = 0, norm = 0, worst = 0;

    for (unsigned i = 0; i < n; i++) {
        x[i] = value(i);
        y[i] = value(i + 7);
        dot += (double)x[i] * y[i];
        norm += (double)x[i] * x[i];
    }
    viennacl::copy(x, dx);
    viennacl::copy(y, dy);
    dz = 2.0f * dx - 0.5f * dy;
    viennacl::copy(dz, z);
    for (unsigned i = 0; i < n; i++)
        worst = std::fmax(worst, std::fabs(z[i] - (2 * x[i] - 0.5f * y[i])));
    expect("2 x - y / 2, largest difference", worst, 0, 1e-6);
    expect("inner product", (float)viennacl::linalg::inner_prod(dx, dy), dot,
           1e-5);
    expect("norm", (float)viennacl::linalg::norm_2(dx), std::sqrt(norm), 1e-5);
}

static void matrices()
{
    const unsigned m = 48, k = 33, n = 40;
    std::vector<std::vector<float>> a(m, std::vector<float>(k)),
        b(k, std::vector<float>(n)), c(m, std::vector<float>(n));
    viennacl::matrix<float> da(m, k), db(k, n), dc(m, n);
    double worst = 0;

    for (unsigned i = 0; i < m; i++)
        for (unsigned j = 0; j < k; j++)
            a[i][j] = value(i * k + j);
    for (unsigned i = 0; i < k; i++)
        for (unsigned j = 0; j < n; j++)
            b[i][j] = value(i * n + j + 3);
    viennacl::copy(a, da);
    viennacl::copy(b, db);
    dc = viennacl::linalg::prod(da, db);
    viennacl::copy(dc, c);
    for (unsigned i = 0; i < m; i++)
        for (unsigned j = 0; j < n; j++) {
            double sum = 0;

            for (unsigned l = 0; l < k; l++)
                sum += (double)a[i][l] * b[l][j];
            worst = std::fmax(worst, std::fabs(sum - c[i][j]));
        }
    expect("matrix product, largest difference", worst, 0, 1e-4);
}

// -u'' = 1 on a line: the solution is a parabola.
static void solver()
{
    const unsigned n = 63;
    const double h = 1.0 / (n + 1);
    std::vector<std::map<unsigned, float>> rows(n);
    std::vector<float> f(n, (float)(h * h)), u(n);
    viennacl::compressed_matrix<float> a(n, n);
    viennacl::vector<float> df(n), du;
    double worst = 0;

    for (unsigned i = 0; i < n; i++) {
        rows[i][i] = 2;
        if (i)
            rows[i][i - 1] = -1;
        if (i + 1 < n)
            rows[i][i + 1] = -1;
    }
    viennacl::copy(rows, a);
    viennacl::copy(f, df);
    du = viennacl::linalg::solve(a, df, viennacl::linalg::cg_tag(1e-6, 200));
    viennacl::copy(du, u);
    for (unsigned i = 0; i < n; i++) {
        double x = (i + 1) * h;

        worst = std::fmax(worst, std::fabs(u[i] - x * (1 - x) / 2));
    }
    expect("conjugate gradients, largest difference", worst, 0, 1e-4);
}

int main()
{
    vectors();
    matrices();
    solver();
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
