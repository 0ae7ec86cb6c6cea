/* A network on the CPU plug-in, layer by layer. */
#include <jansson.h>
#include <string.h>

#include "base/file.h"
#include "base/oom.h"
#include "base/temp.h"
#include "runtime/graph/npy.h"
#include "runtime/openvino/process.h"

#define MAX_INDEX ((size_t)64 << 20)

typedef struct {
    const openvino_config *c;
    const char *path;
    const char *const *inputs;
    uint32_t n_inputs;
    char *folder;
    openvino_python python;
    arena *a;
    openvino_tensor *list;
    uint32_t n;
} job;

static vpu_status take(job *j, const char *name, const char *file,
                       openvino_tensor *out, vpu_error *err)
{
    tensor t;
    vpu_status st = npy_read(file_join(j->a, j->folder, file), j->a, &t, err);

    if (st)
        return st;
    if (t.desc.dtype != TENSOR_F32)
        return err_set(err, VPU_ERR_INTERNAL, "layer %s is not of floats",
                       name);
    *out = (openvino_tensor){
        .name = arena_strdup(j->a, name),
        .rank = t.desc.rank,
        .dims = arena_memdup(j->a, t.desc.dims, sizeof t.desc.dims),
        .data = t.data};
    return VPU_OK;
}

static vpu_status take_all(job *j, vpu_error *err)
{
    char *text;
    size_t n;
    json_t *index;
    const char *name;
    json_t *file;
    vpu_status st = file_read(file_join(j->a, j->folder, "outputs.json"),
                              MAX_INDEX, j->a, &text, &n, err);

    if (st)
        return st;
    index = json_loadb(text, n, 0, NULL);
    j->list = arena_array(j->a, openvino_tensor, json_object_size(index) + 1);
    json_object_foreach(index, name, file)
    {
        /* A tensor of more dims than ours have is not compared. */
        if (!st && json_is_string(file) &&
            !take(j, name, json_string_value(file), &j->list[j->n], NULL))
            j->n++;
    }
    json_decref(index);
    return st;
}

static vpu_status in_folder(void *user, vpu_error *err)
{
    job *j = user;
    const char **words = arena_array(j->a, const char *, j->n_inputs + 4);
    uint32_t n = 0;
    vpu_status st;

    words[n++] = "cpu";
    words[n++] = j->path;
    words[n++] = j->folder;
    for (uint32_t i = 0; i < j->n_inputs; i++)
        words[n++] = j->inputs[i];
    st = openvino_call(&j->python, words, n, j->folder, j->a, err);
    return st ? st : take_all(j, err);
}

static void remove_folder(void *user)
{
    temp_dir_remove(((job *)user)->folder);
}

vpu_status openvino_run_cpu(const openvino_config *c, const char *path,
                            const char *const *inputs, uint32_t n_inputs,
                            arena *a, openvino_tensor **out, uint32_t *n,
                            vpu_error *err)
{
    job j = {
        .c = c, .path = path, .inputs = inputs, .n_inputs = n_inputs, .a = a};
    vpu_status st = openvino_find(c, a, &j.python, err);

    if (!st)
        st = temp_dir(a, "vpusim-network", &j.folder, err);
    if (!st)
        st = oom_finally(in_folder, remove_folder, &j, err);
    *out = j.list;
    *n = j.n;
    return st;
}
