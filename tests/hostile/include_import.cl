/* Includes what is no source: import. */
#import "/dev/null"
__kernel void k(__global int *out) { out[0] = 1; }
