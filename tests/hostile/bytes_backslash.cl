/* Lines that go on. */
__kernel vo\
id k(__global int *o\
ut) { out[0] = 1; }\
