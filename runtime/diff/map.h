/* Which work-item wrote an element, and how often each work-group failed.
 *
 * Whoever knows who wrote what says so (diff_provenance). Without, the writer
 * is inferred: each dim of the tensor belongs to one axis of the launch's
 * global size, or to the inside of an item, so that the products fit exactly.
 * That is how kernels are usually written, but it is a guess: `rule` says what
 * was used, and how many other ways would have fitted. */
#ifndef VPU_RUNTIME_DIFF_MAP_H
#define VPU_RUNTIME_DIFF_MAP_H

#include "runtime/diff/compare.h"
#include "runtime/graph/graph.h"

typedef struct {
    uint32_t global[3], group[3], local[3]; /* ids of the item */
} diff_writer;

/* False: not known. element is in memory order. */
typedef struct {
    bool (*who)(void *user, uint32_t launch, uint32_t buffer, uint64_t element,
                diff_writer *out);
    void *user;
} diff_provenance;

typedef struct {
    bool known;
    char rule[256]; /* for people; "not known: ..." if it is not */
    const graph_launch *l;
    uint32_t launch, buffer;
    tensor_desc desc;
    int8_t axis[TENSOR_MAX_RANK]; /* -1 = inside an item */
    const diff_provenance *told;  /* NULL = inferred */
} diff_map;

/* desc: of the tensor as it is compared. told may be NULL and must outlive
 * *out. */
void diff_map_init(const graph *g, uint32_t launch, uint32_t buffer,
                   const tensor_desc *desc, const diff_provenance *told,
                   diff_map *out);
bool diff_map_who(const diff_map *m, uint64_t element, diff_writer *out);

/* Elements that differ, by work-group and by place. Both have at most so many
 * cells; several groups, or elements, share one if need be. */
enum { DIFF_MAX_CELLS = 1 << 18 };

typedef struct {
    uint32_t groups[3];
    uint64_t per_cell; /* groups in linear order that share a cell */
    uint32_t n_cells;  /* 0 = who wrote is not known */
    uint64_t *failed;  /* elements */
} diff_groups;

typedef struct {
    uint32_t width, height;  /* cells */
    uint64_t columns, rows;  /* elements: the last dim, and all others */
    uint32_t *failed;        /* elements per cell */
    uint32_t cell_w, cell_h; /* elements per cell */
} diff_heat;

typedef struct {
    const diff_map *map;
    diff_groups groups;
    diff_heat heat;
    tensor_desc desc;
} diff_places;

/* In a. Then give &watch to diff_compare. */
void diff_places_init(const diff_map *m, const tensor_desc *desc, arena *a,
                      diff_places *out, diff_watch *watch);

#endif
