/* Line ends of others. */
__kernel
void
k(__global
int
*out)
{
out[0]
=
1;
}
