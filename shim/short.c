// SPDX-License-Identifier: MIT
// Short pure functions: in dev mode they would be most of a trace and say the least. Asked at startup.
// The rule: a function is listed when it takes a few nanoseconds on ordinary input and calls nothing. What
// allocates (strdup), translates (strerror) or follows the locale's tables at length (strcoll, strftime) is
// work of its own and stays in the trace. PFT_FUNCS brings the others back.
#include <string.h>

#include "shim/select.h"

// Names without decoration: __memcpy_chk and memcpy are one (see undecorated).
static const char *const table[] = {
	// bytes
	"memcpy", "memmove", "mempcpy", "memccpy", "memset", "memset_explicit", "explicit_bzero", "memcmp",
	"memcmpeq", "memchr", "memrchr", "rawmemchr", "memmem", "memfrob", "bcopy", "bzero", "bcmp", "swab",
	"ffs", "ffsl", "ffsll", "htonl", "htons", "ntohl", "ntohs",
	// strings
	"strlen", "strnlen", "strcpy", "strncpy", "stpcpy", "stpncpy", "strlcpy", "strlcat", "strcat",
	"strncat", "strcmp", "strncmp", "strcasecmp", "strncasecmp", "strcasecmp_l", "strncasecmp_l",
	"strverscmp", "strchr", "strrchr", "strchrnul", "index", "rindex", "strspn", "strcspn", "strpbrk",
	"strstr", "strcasestr", "strtok", "strtok_r", "strsep", "basename", "xpg_basename",
	// numbers in strings
	"atoi", "atol", "atoll", "atof", "strtol", "strtoll", "strtoul", "strtoull", "strtoimax", "strtoumax",
	"strtof", "strtod", "strtold", "strtol_internal", "strtoul_internal", "strtoll_internal",
	"strtoull_internal", "strtod_internal", "isoc23_strtol", "isoc23_strtoll", "isoc23_strtoul",
	"isoc23_strtoull", "isoc23_strtoimax", "isoc23_strtoumax",
	// wide strings
	"wmemcpy", "wmemmove", "wmempcpy", "wmemset", "wmemcmp", "wmemchr", "wcslen", "wcsnlen", "wcscpy",
	"wcsncpy", "wcpcpy", "wcpncpy", "wcslcpy", "wcslcat", "wcscat", "wcsncat", "wcscmp", "wcsncmp",
	"wcscasecmp", "wcsncasecmp", "wcschr", "wcsrchr", "wcschrnul", "wcsspn", "wcscspn", "wcspbrk",
	"wcsstr", "wcstok", "wcstol", "wcstoll", "wcstoul", "wcstoull", "wcwidth",
	// characters
	"isalnum", "isalpha", "isascii", "isblank", "iscntrl", "isdigit", "isgraph", "islower", "isprint",
	"ispunct", "isspace", "isupper", "isxdigit", "toascii", "tolower", "toupper", "tolower_l",
	"toupper_l", "iswalnum", "iswalpha", "iswblank", "iswcntrl", "iswdigit", "iswgraph", "iswlower",
	"iswprint", "iswpunct", "iswspace", "iswupper", "iswxdigit", "iswctype", "iswctype_l", "towlower",
	"towupper", "towlower_l", "towupper_l", "towctrans", "btowc", "wctob", "mbrlen", "mbrtowc", "wcrtomb",
	"mblen", "mbtowc", "wctomb", "mbsinit", "ctype_get_mb_cur_max",
	// where a thread's data is
	"errno_location", "h_errno_location", "ctype_b_loc", "ctype_tolower_loc", "ctype_toupper_loc",
	"pthread_self", "pthread_equal", "pthread_getspecific", "thrd_current", "thrd_equal", "tss_get",
	// arithmetic
	"abs", "labs", "llabs", "imaxabs", "div", "ldiv", "lldiv", "imaxdiv", "fabs", "floor", "ceil",
	"round", "trunc", "rint", "nearbyint", "lround", "llround", "lrint", "llrint", "fmin", "fmax", "fdim",
	"fma", "copysign", "frexp", "ldexp", "scalbn", "scalbln", "modf", "logb", "ilogb", "sqrt", "isnan",
	"isinf", "finite", "signbit", "fpclassify", "nextafter", "fmod", "remainder"};

// Arithmetic has a form for each type: floor, floorf, floorl.
static bool is_variant(const char *name, size_t length, const char *listed)
{
	size_t stem = strlen(listed);

	if (strncmp(name, listed, stem) != 0)
		return false;
	return length == stem || (length == stem + 1 && (name[stem] == 'f' || name[stem] == 'l'));
}

// Without the two underscores of an internal alias and the ending of a fortified form: where the name in
// between begins, and its length.
static const char *undecorated(const char *symbol, size_t *length)
{
	static const char fortified[] = "_chk";
	const size_t ending = sizeof(fortified) - 1;

	if (!strncmp(symbol, "__", 2))
		symbol += 2;
	*length = strlen(symbol);
	if (*length > ending && !strcmp(symbol + *length - ending, fortified))
		*length -= ending;
	return symbol;
}

bool pft_dev_leaves_out(const char *symbol)
{
	size_t length;
	const char *name = undecorated(symbol, &length);

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (*name == *table[i] && is_variant(name, length, table[i]))
			return true;
	return false;
}
