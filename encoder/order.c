// SPDX-License-Identifier: MIT
// The lanes that wait, the earliest first: see order.h. Flusher context.
#include "encoder/order.h"

#include <stddef.h>

#include "encoder/lane.h"

void pft_order_wait(struct pft_lanes *lanes, struct pft_lane *lane, uint64_t ticks)
{
	struct pft_lane **link = &lanes->waiting;

	while (*link != NULL && (*link)->waits_at < ticks)
		link = &(*link)->next_waiting;
	lane->waits_at = ticks;
	lane->waits = true;
	lane->next_waiting = *link;
	*link = lane;
}

bool pft_order_pass(struct pft_lanes *lanes, uint64_t horizon)
{
	bool any = false;

	while (lanes->waiting != NULL && lanes->waiting->waits_at <= horizon) {
		struct pft_lane *lane = lanes->waiting;
		uint64_t until = horizon;

		lanes->waiting = lane->next_waiting;
		lane->waits = false;
		if (lanes->waiting != NULL && lanes->waiting->waits_at < horizon)
			until = lanes->waiting->waits_at;
		pft_lane_pass(lane, until);
		any = true;
	}
	return any;
}
