// SPDX-License-Identifier: MIT
// pft-convert [-o FILE] [--force] TRACE: writes a finished trace as Chrome JSON. Called by `pft convert`. A
// program of its own on top of the reader and the
// writer. The rule: the output appears whole or not at all, and nothing is overwritten unless asked for.
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "encoder/fail.h"
#include "encoder/output.h"
#include "encoder/read/chrome.h"

// "{path}{ending}", without an ending .pftrace that the path may have.
static char *named_after(const char *path, const char *ending)
{
	static const char trace_ending[] = ".pftrace";
	size_t length = strlen(path), cut = sizeof trace_ending - 1;
	char *name;

	if (length > cut && strcmp(path + length - cut, trace_ending) == 0)
		length -= cut;
	if (asprintf(&name, "%.*s%s", (int)length, path, ending) < 0)
		pft_fail(PFT_FAILED, "out of memory");
	return name;
}

static void convert(const char *trace, const char *output, bool force)
{
	int from = open(trace, O_RDONLY | O_CLOEXEC);
	struct pft_chrome_result result;

	if (from < 0)
		pft_fail(PFT_REFUSED, "%s: %s", trace, strerror(errno));
	pft_output_check(output, force);
	pft_progress_start_file("converting", trace, from);
	result = pft_chrome_convert(from, pft_output_open(output));
	pft_progress_end();
	if (result.wrong)
		pft_fail(PFT_REFUSED, "%s: %s", trace, result.wrong);
	if (result.error)
		pft_fail(PFT_FAILED, "%s: cannot be written: %s", output, strerror(-result.error));
	pft_output_put_in_place(output, force);
	if (result.left_out)
		fprintf(stderr, "pft: %llu events were left out: nothing says when or where they happened\n",
			(unsigned long long)result.left_out);
	fprintf(stderr, "pft: trace: %s\n", output);
}

int main(int count, char **arguments)
{
	static const struct option options[] = {{"force", no_argument, NULL, 'f'}, {NULL, 0, NULL, 0}};
	const char *output = NULL;
	bool force = false;
	int option;

	opterr = 0;
	while ((option = getopt_long(count, arguments, "o:", options, NULL)) >= 0) {
		switch (option) {
		case 'o':
			output = optarg;
			break;
		case 'f':
			force = true;
			break;
		default:
			pft_fail(PFT_REFUSED, "%s: no such option, or it lacks its value; see pft convert -h",
				arguments[optind - 1]);
		}
	}
	if (optind != count - 1)
		pft_fail(PFT_REFUSED, "%s; see pft convert -h",
			optind < count ? "one trace at a time" : "no trace is given");
	convert(arguments[optind], output ? output : named_after(arguments[optind], ".json"), force);
	return 0;
}
