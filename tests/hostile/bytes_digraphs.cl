/* Digraphs and trigraphs. */
%:define A <%
__kernel void k(__global int *out) A out<:0:> = 1; %>
