/* What the keys and the mouse share. */
#ifndef VPU_VISUALIZER_CONTROL_PRIV_H
#define VPU_VISUALIZER_CONTROL_PRIV_H

#include "visualizer/control.h"

view *control_focused(control *k); /* the view that commands are for */
/* A selected group or stage is selected in the other trace as well. */
void control_link_selection(control *k);
/* The other trace shows the same stretch. */
void control_link_views(control *k);
void control_boxes(const control *k, paint_boxes *b); /* of the focused page */
void control_hover(control *k);      /* after the mouse or the views moved */
void control_tell_hover(control *k); /* in the line at the bottom */
/* The tick under the mouse, or the one in the middle. */
double control_anchor(const control *k);
/* Goes to a slice of what the panel of slices shows. */
void control_go_to_slice(control *k, const view_slice *s);
/* Counts the hits of the text anew. */
void control_begin_hits(control *k);
/* A finding of the focused trace, from 1, and what it is about: its stage is
 * shown, its cause alone is not pale, its line is chosen. The one that is
 * chosen: none any more. */
void control_choose_advice(control *k, uint32_t finding);
/* Selects the chosen row of the list in both traces and goes there. */
void control_go_to_change(control *k);

#endif
