// SPDX-License-Identifier: MIT
// Quantities as people read them: see units.h. Any context; pure.
#include "encoder/report/units.h"

#include <string.h>

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

void pft_text_add_size(struct pft_text *text, uint64_t bytes)
{
	static const char *const names[] = {" KiB", " MiB", " GiB", " TiB"};
	size_t unit = 0;

	if (bytes < 1024) {
		pft_text_add_number(text, bytes);
		pft_text_add(text, " B");
		return;
	}
	for (; unit < sizeof names / sizeof names[0] - 1 && bytes >> (10 * (unit + 2)) != 0; unit++)
		;
	add_tenths(text, (bytes >> (10 * unit)) * 10 / 1024);
	pft_text_add(text, names[unit]);
}

void pft_text_add_age(struct pft_text *text, uint64_t seconds)
{
	static const struct {
		const char *name;
		uint64_t seconds, below;
	} units[] = {{" s", 1, 60}, {" min", 60, 60 * 60}, {" h", 60 * 60, 48 * 60 * 60},
		{" d", 24 * 60 * 60, UINT64_MAX}};
	size_t unit = 0;

	while (unit < sizeof units / sizeof units[0] - 1 && seconds >= units[unit].below)
		unit++;
	pft_text_add_number(text, seconds / units[unit].seconds);
	pft_text_add(text, units[unit].name);
}

void pft_text_align_right(struct pft_text *text, size_t start, size_t width)
{
	size_t length = text->used - start;
	size_t pad = length < width ? width - length : 1;

	if (text->used + pad >= text->size)
		return;
	memmove(text->start + start + pad, text->start + start, length);
	memset(text->start + start, ' ', pad);
	text->used += pad;
	text->start[text->used] = '\0';
}

void pft_text_add_things(struct pft_text *text, uint64_t count, const char *one)
{
	pft_text_add_count(text, count);
	pft_text_add(text, " ");
	pft_text_add(text, one);
	if (count != 1)
		pft_text_add(text, "s");
}
