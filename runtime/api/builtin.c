/* The library's own kinds of operations. What their tensors and values mean is
 * in docs/library.md, "Kinds of operations". */
#include <string.h>

#include "base/err.h"
#include "runtime/api/api_priv.h"

__asm__(".section .rodata\n"
        "vpu_operations_start:\n"
        ".incbin \"runtime/api/operations.cl\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char vpu_operations_start[];

static int64_t value(const vpu_call *c, const char *name)
{
    for (size_t i = 0; i < c->n_values; i++)
        if (!strcmp(c->values[i].name, name))
            return c->values[i].integer;
    return 0;
}

/* From 0; from the end where it is negative. */
static vpu_status find_axis(const vpu_call *c, uint32_t *out, vpu_error *err)
{
    int64_t rank = vpu_tensor_rank(c->inputs[0]), axis = value(c, "axis");

    if (axis < -rank || axis >= rank)
        return err_set(err, VPU_ERR_INVALID,
                       "axis %lld of a tensor of %lld dims", (long long)axis,
                       (long long)rank);
    *out = (uint32_t)(axis < 0 ? axis + rank : axis);
    return VPU_OK;
}

static uint32_t product(const vpu_tensor *t, uint32_t from, uint32_t to)
{
    uint32_t n = 1;

    for (uint32_t i = from; i < to; i++)
        n *= vpu_tensor_dim(t, i);
    return n;
}

static bool same_shape(const vpu_tensor *a, const vpu_tensor *b)
{
    bool same = vpu_tensor_type(a) == vpu_tensor_type(b) &&
                vpu_tensor_rank(a) == vpu_tensor_rank(b);

    for (uint32_t i = 0; i < vpu_tensor_rank(a); i++)
        same = same && vpu_tensor_dim(a, i) == vpu_tensor_dim(b, i);
    return same;
}

/* --- shapes --------------------------------------------------------------- */

static vpu_status as_both(void *user, const vpu_call *c, size_t i,
                          vpu_shape *out, vpu_error *err)
{
    (void)user, (void)i, (void)out;
    return same_shape(c->inputs[0], c->inputs[1])
               ? VPU_OK
               : err_set(err, VPU_ERR_MISMATCH,
                         "tensors %s and %s differ in shape or element type",
                         vpu_tensor_name(c->inputs[0]),
                         vpu_tensor_name(c->inputs[1]));
}

static vpu_status of_type(void *user, const vpu_call *c, size_t i,
                          vpu_shape *out, vpu_error *err)
{
    int64_t type = value(c, "type");

    (void)user, (void)i;
    if (type < 0 || type > UINT32_MAX || !vpu_type_bytes((uint32_t)type))
        return err_set(err, VPU_ERR_INVALID, "type %lld is no vpu_type",
                       (long long)type);
    out->type = (uint32_t)type;
    return VPU_OK;
}

static const char *const axes[] = {"axis0", "axis1", "axis2",
                                   "axis3", "axis4", "axis5"};

static vpu_status permuted(void *user, const vpu_call *c, size_t output,
                           vpu_shape *out, vpu_error *err)
{
    const vpu_tensor *t = c->inputs[0];
    uint32_t seen = 0;

    (void)user, (void)output;
    for (uint32_t i = 0; i < out->rank; i++) {
        int64_t axis = value(c, axes[i]);

        if (axis < 0 || axis >= out->rank || seen & 1u << axis)
            return err_set(
                err, VPU_ERR_INVALID,
                "%s is %lld: axis0 to axis%u are each of 0 to %u once", axes[i],
                (long long)axis, out->rank - 1, out->rank - 1);
        seen |= 1u << axis;
        out->dims[i] = vpu_tensor_dim(t, (uint32_t)axis);
    }
    return VPU_OK;
}

static vpu_status joined(void *user, const vpu_call *c, size_t output,
                         vpu_shape *out, vpu_error *err)
{
    const vpu_tensor *b = c->inputs[1];
    uint32_t axis = 0;
    vpu_status st = find_axis(c, &axis, err);

    (void)user, (void)output;
    if (st)
        return st;
    if (vpu_tensor_rank(b) != out->rank || vpu_tensor_type(b) != out->type)
        return err_set(err, VPU_ERR_MISMATCH,
                       "tensors %s and %s differ in rank or element type",
                       vpu_tensor_name(c->inputs[0]), vpu_tensor_name(b));
    for (uint32_t i = 0; i < out->rank; i++)
        if (i != axis && vpu_tensor_dim(b, i) != out->dims[i])
            return err_set(err, VPU_ERR_MISMATCH,
                           "dim %u of %s is %u, of %s %u: only dim %u, the "
                           "axis, may differ",
                           i, vpu_tensor_name(c->inputs[0]), out->dims[i],
                           vpu_tensor_name(b), vpu_tensor_dim(b, i), axis);
    out->dims[axis] += vpu_tensor_dim(b, axis);
    return VPU_OK;
}

/* Rows, columns and the length of sums of a matrix as it is taken. */
static void matrix(const vpu_tensor *t, bool transposed, uint32_t size[2])
{
    uint32_t rank = vpu_tensor_rank(t);

    size[transposed] = vpu_tensor_dim(t, rank - 2);
    size[!transposed] = vpu_tensor_dim(t, rank - 1);
}

static vpu_status multiplied(void *user, const vpu_call *c, size_t output,
                             vpu_shape *out, vpu_error *err)
{
    const vpu_tensor *a = c->inputs[0], *b = c->inputs[1];
    uint32_t rank = vpu_tensor_rank(a), m[2], n[2];

    (void)user, (void)output;
    if (rank < 2 || vpu_tensor_rank(b) != rank)
        return err_set(err, VPU_ERR_MISMATCH,
                       "%s has %u dims, %s %u: both need the same number, 2 or "
                       "more",
                       vpu_tensor_name(a), rank, vpu_tensor_name(b),
                       vpu_tensor_rank(b));
    matrix(a, value(c, "transpose_a"), m);
    matrix(b, value(c, "transpose_b"), n);
    if (m[1] != n[0])
        return err_set(err, VPU_ERR_MISMATCH,
                       "%s is taken as %ux%u, %s as %ux%u: the columns of the "
                       "first are the rows of the second",
                       vpu_tensor_name(a), m[0], m[1], vpu_tensor_name(b), n[0],
                       n[1]);
    for (uint32_t i = 0; i + 2 < rank; i++)
        if (vpu_tensor_dim(a, i) != vpu_tensor_dim(b, i))
            return err_set(err, VPU_ERR_MISMATCH,
                           "dim %u of %s is %u, of %s %u", i,
                           vpu_tensor_name(a), vpu_tensor_dim(a, i),
                           vpu_tensor_name(b), vpu_tensor_dim(b, i));
    out->dims[rank - 2] = m[0];
    out->dims[rank - 1] = n[1];
    return VPU_OK;
}

/* All dims but the last are rows. */
static vpu_status connected(void *user, const vpu_call *c, size_t output,
                            vpu_shape *out, vpu_error *err)
{
    const vpu_tensor *x = c->inputs[0], *w = c->inputs[1], *b = c->inputs[2];
    uint32_t depth = out->dims[out->rank - 1];

    (void)user, (void)output;
    if (vpu_tensor_rank(w) != 2 || vpu_tensor_dim(w, 1) != depth)
        return err_set(err, VPU_ERR_MISMATCH,
                       "weights %s need 2 dims, the last of them %u as that of "
                       "%s",
                       vpu_tensor_name(w), depth, vpu_tensor_name(x));
    if (product(b, 0, vpu_tensor_rank(b)) != vpu_tensor_dim(w, 0))
        return err_set(err, VPU_ERR_MISMATCH, "bias %s needs %u elements",
                       vpu_tensor_name(b), vpu_tensor_dim(w, 0));
    out->dims[out->rank - 1] = vpu_tensor_dim(w, 0);
    return VPU_OK;
}

/* 0: the window does not fit. */
static uint32_t windows(uint32_t size, uint32_t window, int64_t stride,
                        int64_t pad)
{
    int64_t room = (int64_t)size + 2 * pad - window;

    return room < 0 ? 0 : (uint32_t)(room / stride + 1);
}

static vpu_status convolved(void *user, const vpu_call *c, size_t output,
                            vpu_shape *out, vpu_error *err)
{
    const vpu_tensor *x = c->inputs[0], *w = c->inputs[1], *b = c->inputs[2];
    int64_t stride = value(c, "stride"), pad = value(c, "pad");

    (void)user, (void)output;
    if (out->rank != 4 || vpu_tensor_rank(w) != 4 ||
        vpu_tensor_dim(w, 1) != out->dims[1])
        return err_set(err, VPU_ERR_MISMATCH,
                       "%s and weights %s need 4 dims, NCHW and OIHW, with C "
                       "equal to I",
                       vpu_tensor_name(x), vpu_tensor_name(w));
    if (product(b, 0, vpu_tensor_rank(b)) != vpu_tensor_dim(w, 0))
        return err_set(err, VPU_ERR_MISMATCH, "bias %s needs %u elements",
                       vpu_tensor_name(b), vpu_tensor_dim(w, 0));
    if (stride < 1 || stride > INT16_MAX || pad < 0 || pad > INT16_MAX)
        return err_set(err, VPU_ERR_INVALID,
                       "stride is %lld, pad %lld: at least 1 and 0",
                       (long long)stride, (long long)pad);
    out->dims[1] = vpu_tensor_dim(w, 0);
    for (int d = 2; d < 4; d++) {
        uint32_t window = vpu_tensor_dim(w, (uint32_t)d);

        out->dims[d] = windows(out->dims[d], window, stride, pad);
        if (!out->dims[d])
            return err_set(err, VPU_ERR_MISMATCH,
                           "a window of %u does not fit into dim %d of %s",
                           window, d, vpu_tensor_name(x));
    }
    return VPU_OK;
}

/* --- sizes ---------------------------------------------------------------- */

/* The last two dims, and all others. */
static vpu_status by_planes(void *user, const vpu_call *c, vpu_sizes *out,
                            vpu_error *err)
{
    const vpu_tensor *t = c->outputs[0];
    uint32_t rank = vpu_tensor_rank(t);

    (void)user, (void)err;
    out->global[0] = vpu_tensor_dim(t, rank - 1);
    out->global[1] = rank > 1 ? vpu_tensor_dim(t, rank - 2) : 1;
    out->global[2] = rank > 2 ? product(t, 0, rank - 2) : 1;
    return VPU_OK;
}

static vpu_status by_rows(void *user, const vpu_call *c, vpu_sizes *out,
                          vpu_error *err)
{
    const vpu_tensor *t = c->outputs[0];
    uint32_t rank = vpu_tensor_rank(t);

    (void)user, (void)err;
    out->global[0] = vpu_tensor_dim(t, rank - 1);
    out->global[1] = product(t, 0, rank - 1);
    return VPU_OK;
}

/* What is behind the axis, and what is in front of it. */
static vpu_status around_axis(void *user, const vpu_call *c, vpu_sizes *out,
                              vpu_error *err)
{
    const vpu_tensor *t = c->outputs[0];
    uint32_t axis = 0;
    vpu_status st = find_axis(c, &axis, err);

    (void)user;
    out->global[0] = product(t, axis + 1, vpu_tensor_rank(t));
    out->global[1] = product(t, 0, axis);
    return st;
}

/* A row is what one step of the dims in front of the axis is long. */
static vpu_status by_joined_rows(void *user, const vpu_call *c, vpu_sizes *out,
                                 vpu_error *err)
{
    const vpu_tensor *t = c->outputs[0];
    uint32_t axis = 0;
    vpu_status st = find_axis(c, &axis, err);

    (void)user;
    out->global[0] = product(t, axis, vpu_tensor_rank(t));
    out->global[1] = product(t, 0, axis);
    return st;
}

/* --- numbers that kernels get -------------------------------------------- */

static vpu_status is(vpu_value *out, int64_t number)
{
    out->integer = number;
    return VPU_OK;
}

/* n0 to n3, the output's outer dims, and s0 to s5, the steps of its dims in the
 * input, as if it had six dims, the first of them 1. */
static vpu_status permute_value(void *user, const vpu_call *c, const char *name,
                                vpu_value *out, vpu_error *err)
{
    const vpu_tensor *t = c->inputs[0];
    uint32_t rank = vpu_tensor_rank(t), outer = VPU_MAX_RANK - rank;
    uint32_t i = (uint32_t)(name[1] - '0');

    (void)user, (void)err;
    if (i < outer)
        return is(out, *name == 'n');
    if (*name == 'n')
        return is(out, vpu_tensor_dim(c->outputs[0], i - outer));
    return is(out, product(t, (uint32_t)value(c, axes[i - outer]) + 1, rank));
}

static bool are_packed(const vpu_call *c)
{
    return vpu_tensor_is_packed(c->inputs[0]) &&
           vpu_tensor_is_packed(c->outputs[0]);
}

static vpu_status copy_variant(void *user, const vpu_call *c, vpu_variant *out,
                               vpu_error *err)
{
    (void)user, (void)err;
    if (!are_packed(c))
        out->kernel = "copy_strided";
    return VPU_OK;
}

static vpu_status copy_sizes(void *user, const vpu_call *c, vpu_sizes *out,
                             vpu_error *err)
{
    const vpu_tensor *t = c->outputs[0];

    if (!are_packed(c))
        return by_planes(user, c, out, err);
    out->global[0] = product(t, 0, vpu_tensor_rank(t));
    return VPU_OK;
}

/* Element for element, behind the offsets; or by strides:
 * n0 to n3, the outer dims, in0 to in5 and out0 to out5, the strides, as if
 * there were six dims; behind "in" and "out" alone the offset. In elements. */
static vpu_status copy_value(void *user, const vpu_call *c, const char *name,
                             vpu_value *out, vpu_error *err)
{
    const vpu_tensor *t = *name == 'o' ? c->outputs[0] : c->inputs[0];
    uint32_t rank = vpu_tensor_rank(t), outer = VPU_MAX_RANK - rank;
    uint32_t element = vpu_type_bytes(vpu_tensor_type(t));
    const char *digit = name + strcspn(name, "0123456789");
    uint32_t i = (uint32_t)(*digit - '0');
    uint64_t number;

    (void)user;
    if (!*digit)
        number = vpu_tensor_offset(t) / element;
    else if (i < outer)
        number = *name == 'n';
    else
        number = *name == 'n' ? vpu_tensor_dim(t, i - outer)
                              : vpu_tensor_stride(t, i - outer) / element;
    if (number > INT32_MAX)
        return err_set(err, VPU_ERR_LIMIT,
                       "%s of tensor %s is %llu elements, more than an int "
                       "holds",
                       name, vpu_tensor_name(t), (unsigned long long)number);
    return is(out, (int64_t)number);
}

/* n elements along the axis, `inner` apart; row_a and row_b of all behind it.
 */
static vpu_status axis_value(void *user, const vpu_call *c, const char *name,
                             vpu_value *out, vpu_error *err)
{
    const vpu_tensor *t = c->inputs[!strcmp(name, "row_b")];
    uint32_t axis = 0;
    vpu_status st = find_axis(c, &axis, err);

    (void)user;
    if (st)
        return st;
    if (!strcmp(name, "n"))
        return is(out, vpu_tensor_dim(t, axis));
    return is(out, product(t, !strcmp(name, "inner") ? axis + 1 : axis,
                           vpu_tensor_rank(t)));
}

/* Steps of a matrix of C columns: C along its rows, 1 along its columns. Sums
 * go along the columns of the first, as it is taken, and the rows of the
 * second. */
static vpu_status matmul_value(void *user, const vpu_call *c, const char *name,
                               vpu_value *out, vpu_error *err)
{
    bool of_b = name[strlen(name) - 1] == 'b', step = !strncmp(name, "step", 4);
    const vpu_tensor *t = c->inputs[of_b];
    bool transposed = value(c, of_b ? "transpose_b" : "transpose_a");
    uint32_t rank = vpu_tensor_rank(t), size[2];

    (void)user, (void)err;
    matrix(t, transposed, size);
    if (!strcmp(name, "depth"))
        return is(out, size[1]);
    if (!strncmp(name, "plane", 5))
        return is(out, product(t, rank - 2, rank));
    return is(out,
              (step == transposed) != of_b ? vpu_tensor_dim(t, rank - 1) : 1);
}

/* --- the table ------------------------------------------------------------ */

static const char *const one_input[] = {"input"};
static const char *const two_inputs[] = {"a", "b"};
static const char *const weighted[] = {"input", "weights", "bias"};
static const char *const one_output[] = {"output"};

static const vpu_parameter slope[] = {{.name = "slope", .is_real = 1}};
static const vpu_parameter scaling[] = {
    {.name = "factor", .is_real = 1},
    {.name = "offset", .is_real = 1, .optional = 1}};
static const vpu_parameter new_type[] = {{.name = "type"}};
static const vpu_parameter permutation[] = {
    {.name = "axis0"},
    {.name = "axis1", .optional = 1, .preset = 1},
    {.name = "axis2", .optional = 1, .preset = 2},
    {.name = "axis3", .optional = 1, .preset = 3},
    {.name = "axis4", .optional = 1, .preset = 4},
    {.name = "axis5", .optional = 1, .preset = 5},
    {.name = "n0", .computed = 1},
    {.name = "n1", .computed = 1},
    {.name = "n2", .computed = 1},
    {.name = "n3", .computed = 1},
    {.name = "s0", .computed = 1},
    {.name = "s1", .computed = 1},
    {.name = "s2", .computed = 1},
    {.name = "s3", .computed = 1},
    {.name = "s4", .computed = 1},
    {.name = "s5", .computed = 1}};
static const vpu_parameter copying[] = {
    {.name = "in", .computed = 1},   {.name = "out", .computed = 1},
    {.name = "n0", .computed = 1},   {.name = "n1", .computed = 1},
    {.name = "n2", .computed = 1},   {.name = "n3", .computed = 1},
    {.name = "in0", .computed = 1},  {.name = "in1", .computed = 1},
    {.name = "in2", .computed = 1},  {.name = "in3", .computed = 1},
    {.name = "in4", .computed = 1},  {.name = "in5", .computed = 1},
    {.name = "out0", .computed = 1}, {.name = "out1", .computed = 1},
    {.name = "out2", .computed = 1}, {.name = "out3", .computed = 1},
    {.name = "out4", .computed = 1}, {.name = "out5", .computed = 1}};
static const vpu_parameter joining[] = {{.name = "axis"},
                                        {.name = "row_a", .computed = 1},
                                        {.name = "row_b", .computed = 1}};
static const vpu_parameter normalizing[] = {
    {.name = "axis", .optional = 1, .preset = -1},
    {.name = "n", .computed = 1},
    {.name = "inner", .computed = 1}};
static const vpu_parameter multiplying[] = {
    {.name = "transpose_a", .optional = 1},
    {.name = "transpose_b", .optional = 1},
    {.name = "depth", .computed = 1},
    {.name = "row_a", .computed = 1},
    {.name = "step_a", .computed = 1},
    {.name = "column_b", .computed = 1},
    {.name = "step_b", .computed = 1},
    {.name = "plane_a", .computed = 1},
    {.name = "plane_b", .computed = 1}};
static const vpu_parameter connecting[] = {
    {.name = "depth", .expression = "in1_1"}};
static const vpu_parameter convolving[] = {
    {.name = "stride", .optional = 1, .preset = 1},
    {.name = "pad", .optional = 1},
    {.name = "channels", .expression = "in0_1"},
    {.name = "height", .expression = "in0_2"},
    {.name = "width", .expression = "in0_3"},
    {.name = "rows", .expression = "in1_2"},
    {.name = "columns", .expression = "in1_3"},
    {.name = "filters", .expression = "in1_0"}};

#define LIST(member, list) \
    .member = list, .n_##member = sizeof list / sizeof *list
#define KIND(kind_name, function)                       \
    .struct_size = sizeof(vpu_kind), .name = kind_name, \
    .source = vpu_operations_start, .kernel = function, \
    LIST(outputs, one_output)
/* Element for element. */
#define UNARY(kind_name, function, ...)                                       \
    {KIND(kind_name, function), LIST(inputs, one_input), .global = "B*F*Y*X", \
     .reach = "0", __VA_ARGS__}
#define BINARY(kind_name)                                  \
    {KIND(kind_name, kind_name), LIST(inputs, two_inputs), \
     .global = "B*F*Y*X", .find_shape = as_both, .reach = "0"}

const vpu_kind api_builtin[] = {
    UNARY("copy", "copy", .strided = 1, LIST(parameters, copying),
          .find_variant = copy_variant, .find_sizes = copy_sizes,
          .find_value = copy_value),
    UNARY("convert", "convert", LIST(parameters, new_type),
          .find_shape = of_type),
    UNARY("relu", "relu", .user = NULL),
    UNARY("sigmoid", "sigmoid", .user = NULL),
    UNARY("tanh", "tanh_", .user = NULL),
    UNARY("leaky_relu", "leaky_relu", LIST(parameters, slope)),
    UNARY("scale", "scale", LIST(parameters, scaling)),
    BINARY("add"),
    BINARY("subtract"),
    BINARY("multiply"),
    BINARY("maximum"),
    BINARY("minimum"),
    {KIND("permute", "permute"), LIST(inputs, one_input),
     LIST(parameters, permutation), .find_shape = permuted,
     .find_sizes = by_planes, .find_value = permute_value},
    {KIND("concat", "concat"), LIST(inputs, two_inputs),
     LIST(parameters, joining), .find_shape = joined,
     .find_sizes = by_joined_rows, .find_value = axis_value},
    {KIND("softmax", "softmax"), LIST(inputs, one_input),
     LIST(parameters, normalizing), .find_sizes = around_axis,
     .find_value = axis_value},
    {KIND("matmul", "matmul"), LIST(inputs, two_inputs),
     LIST(parameters, multiplying), .find_shape = multiplied,
     .find_sizes = by_planes, .find_value = matmul_value},
    {KIND("fully_connected", "fully_connected"), LIST(inputs, weighted),
     LIST(parameters, connecting), .find_shape = connected,
     .find_sizes = by_rows},
    {KIND("convolution", "convolution"), LIST(inputs, weighted),
     LIST(parameters, convolving), .find_shape = convolved,
     .find_sizes = by_planes},
    {.name = NULL}};
