/* An image. */
__kernel void k(__global int *out, read_only image2d_t i) { out[0] = get_image_width(i); }
