// SPDX-License-Identifier: MIT
// Quantities as people read them: see units.h. Any context; pure.
#include "encoder/report/units.h"

#include <stddef.h>

// `tenths` of a unit; with a decimal below ten.
static void add_tenths(struct pft_text *text, uint64_t tenths)
{
	if (tenths >= 100) {
		pft_text_add_number(text, (tenths + 5) / 10);
		return;
	}
	pft_text_add_number(text, tenths / 10);
	pft_text_add(text, ".");
	pft_text_add_number(text, tenths % 10);
}

void pft_text_add_duration(struct pft_text *text, uint64_t ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{" s", 1000000000}, {" ms", 1000000}, {" us", 1000}};

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (ns < units[i].ns)
			continue;
		add_tenths(text, ns / (units[i].ns / 10));
		pft_text_add(text, units[i].name);
		return;
	}
	pft_text_add_number(text, ns);
	pft_text_add(text, " ns");
}

void pft_text_add_share(struct pft_text *text, double share)
{
	add_tenths(text, share > 0 ? (uint64_t)(share * 1000 + 0.5) : 0);
	pft_text_add(text, " %");
}

void pft_text_add_count(struct pft_text *text, uint64_t count)
{
	if (count < 1000) {
		pft_text_add_number(text, count);
		return;
	}
	pft_text_add_count(text, count / 1000);
	pft_text_add(text, ",");
	pft_text_add_padded(text, count % 1000, 3);
}
