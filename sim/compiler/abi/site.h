/* Places of a kernel that code compiled for checking tells of, and the memory
 * its pointers come from. Numbers in compiled code are indices into these
 * tables; 0 is "unknown" in both. */
#ifndef VPU_SIM_COMPILER_ABI_SITE_H
#define VPU_SIM_COMPILER_ABI_SITE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    SITE_NONE,
    SITE_LOAD,
    SITE_STORE,
    SITE_ATOMIC,
    SITE_BLOCK_WRITE, /* memset, memcpy's destination; as long as a call says */
    SITE_BLOCK_READ,
    SITE_COPY,    /* a DMA transfer */
    SITE_WAIT,    /* for transfers */
    SITE_BARRIER, /* collective */
    SITE_ARRAY,   /* a private array begins to exist: nothing is in it */
    SITE_UNDEF,   /* so does a private variable */
    SITE_DIVIDE,  /* by zero, or the least number by -1 */
    SITE_SHIFT,   /* by its width and more */
    SITE_TO_INT,  /* a float no integer of the type is near to */
    SITE_HALF,    /* infinite as half, finite operands */
    SITE_NAN,     /* not finite from finite operands */
    SITE_INDEX,   /* not below the length of an array within its memory */
    SITE_DECIDE,  /* a condition */
    SITE_ADDRESS, /* a value that becomes an address or a size */
    SITE_OUTPUT   /* a value stored to global memory */
} sim_site_kind;

/* Where in the source; `in` is the call that inlined this, NULL = none. */
typedef struct sim_place {
    const char *file; /* as clang was given it, or found it */
    uint32_t line, col;
    const struct sim_place *in;
} sim_place;

typedef struct {
    sim_site_kind kind;
    uint8_t variant; /* sim_variant_kind */
    sim_place at;
    uint32_t object; /* the memory its pointer comes from */
    uint32_t bytes, align, element_bytes; /* of an access */
    /* A load of local memory that nobody writes between the same barriers: of
     * its words only matters that they are written, in this group. */
    bool only_read;
    bool is_signed;   /* DIVIDE, TO_INT */
    uint32_t bits;    /* SHIFT, TO_INT: of the integer */
    const char *name; /* UNDEF, ARRAY: the variable; "" = none known */
    uint32_t fences;  /* BARRIER: 1 orders local memory, 2 global */
    bool conditional; /* ATOMIC: compare and exchange, which may only read */
    uint32_t from;    /* COPY: object of the source; `object` is the
                         destination's. WAIT: `object` is the list's */
    bool by_item;     /* COPY, WAIT: a work-item's own (WorkItemDma…) */
} sim_site;

typedef enum {
    SIM_MEM_UNKNOWN,
    SIM_MEM_ARG,      /* what argument `index` points to */
    SIM_MEM_LOCAL,    /* a __local array of the program */
    SIM_MEM_CONSTANT, /* a __constant one */
    SIM_MEM_PRIVATE   /* a private array */
} sim_mem_kind;

typedef struct {
    sim_mem_kind kind;
    uint32_t index; /* ARG: argument; LOCAL: sim_kernel.locals, by name */
    const char *name;
    uint32_t bytes;  /* of all but ARG and UNKNOWN */
    bool written;    /* some variant writes through a pointer to it; a write
                        through an unknown pointer sets it for all */
    bool restricted; /* ARG: declared restrict */
    bool local;      /* ARG: local_data */
    bool copied;     /* some transfer has it as its destination */
    /* Not 0: every access to it is of one aligned element of so many bytes, so
     * what is known of the first of them is known of all. */
    uint32_t element;
    bool sent; /* some transfer has it as its source */
    /* What of each padding_period bytes belongs to no field of a struct; NULL =
     * nothing. */
    const bool *padding;
    uint32_t padding_period;
} sim_object;

static inline bool sim_object_is_local(const sim_object *o)
{
    return o->kind == SIM_MEM_LOCAL || (o->kind == SIM_MEM_ARG && o->local);
}

typedef struct {
    sim_site *sites;
    uint32_t n_sites;
    sim_object *objects;
    uint32_t n_objects;
    bool tainted; /* compiled with values' origins */
} sim_sites;

#endif
