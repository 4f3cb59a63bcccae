// SPDX-License-Identifier: MIT
// A trace becomes Chrome JSON: see targets.h.
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/read/chrome.h"
#include "tests/fuzz/json.h"
#include "tests/fuzz/targets.h"

bool pft_fuzz_convert(const uint8_t *bytes, size_t size)
{
	int from = pft_fuzz_file(bytes, size);
	int to = pft_fuzz_file(NULL, 0);
	struct pft_chrome_result result = pft_chrome_convert(from, to);
	struct stat written;
	char *text;

	pft_fuzz_expect(result.error == 0, "JSON can be written");
	pft_fuzz_expect(fstat(to, &written) == 0, "a file has a size");
	text = malloc((size_t)written.st_size + 1);
	pft_fuzz_expect(
		text && pread(to, text, (size_t)written.st_size, 0) == written.st_size, "it can be read");
	if (!result.wrong)
		pft_fuzz_expect(pft_fuzz_is_json(text, (size_t)written.st_size), "what is written is JSON");
	free(text);
	close(from);
	close(to);
	return !result.wrong;
}
