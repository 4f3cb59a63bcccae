// SPDX-License-Identifier: MIT
// What of <string.h> the library and the static libraries in it use. Any context, hot too where the compiler
// asks for memset or memcpy by itself. The rule: a name of libc's for which a program may bring its own (a
// sanitizer does, and looks for its thread, or for the next definition, where neither is yet) is not called:
// these are hidden, so that ours are meant wherever we say their names.
//
// The compiler must not see through them: it would make a call to strlen of the loop in strlen (Makefile).
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	void *at = to;

	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(size) : : "memory");
	return to;
}

void *memmove(void *to, const void *from, size_t size)
{
	char *high = (char *)to + size - 1;
	const char *last = (const char *)from + size - 1;

	if ((uintptr_t)to - (uintptr_t)from >= size)
		return memcpy(to, from, size);
	__asm__ volatile("std\n\trep movsb\n\tcld" : "+D"(high), "+S"(last), "+c"(size) : : "memory", "cc");
	return to;
}

void *memset(void *to, int byte, size_t size)
{
	void *at = to;

	__asm__ volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(byte) : "memory");
	return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
	const unsigned char *left = a, *right = b;

	for (; size; left++, right++, size--)
		if (*left != *right)
			return *left - *right;
	return 0;
}

size_t strnlen(const char *text, size_t size)
{
	size_t length = 0;

	while (length < size && text[length])
		length++;
	return length;
}

size_t strlen(const char *text)
{
	return strnlen(text, SIZE_MAX);
}

int strncmp(const char *a, const char *b, size_t size)
{
	for (; size; a++, b++, size--)
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
	return 0;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, SIZE_MAX);
}

char *strchrnul(const char *text, int byte)
{
	while (*text && *text != (char)byte)
		text++;
	return (char *)text;
}

char *strchr(const char *text, int byte)
{
	char *found = strchrnul(text, byte);

	return *found == (char)byte ? found : NULL;
}

char *strrchr(const char *text, int byte)
{
	const char *found = NULL;

	do {
		if (*text == (char)byte)
			found = text;
	} while (*text++);
	return (char *)found;
}

void *memrchr(const void *memory, int byte, size_t size)
{
	const unsigned char *at = (const unsigned char *)memory + size;

	while (at != memory)
		if (*--at == (unsigned char)byte)
			return (void *)at;
	return NULL;
}

char *strstr(const char *text, const char *part)
{
	size_t size = strlen(part);

	while (*text && strncmp(text, part, size) != 0)
		text++;
	return strncmp(text, part, size) == 0 ? (char *)text : NULL;
}
