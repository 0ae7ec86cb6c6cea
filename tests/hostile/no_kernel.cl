/* No kernel at all. */
int x(void) { return 1; }
