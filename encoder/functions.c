// SPDX-License-Identifier: MIT
// Reading symbol tables: see functions.h. Flusher context. The rule: nothing in a file is believed but what
// was found to lie inside of it.
#include "encoder/functions.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "encoder/base/sys_x86_64.h"

#define SYMBOLS_MAX (4u << 20)
#define NAME_MAX_BYTES 4096
#define CHUNK 64 // symbols that are read at once
#define NOTE_BYTES 256

// What tells a file from one that took its place.
struct identity {
	dev_t device;
	ino_t inode;
	off_t bytes;
	struct timespec modified;
};

struct function {
	uint64_t start;
	uint32_t bytes; // 0: not said
	uint32_t name; // offset in the strings, above the bit that says: local
};

struct pft_functions {
	const char *path;
	struct identity identity;
	uint64_t strings_at, strings_bytes; // in the file
	struct function *all; // by start, those that other objects see first
	uint32_t count;
};

struct file {
	int fd;
	Elf64_Shdr *sections;
	size_t section_count;
};

// ---- the file ---------------------------------------------------------------------------------------

static bool read_at(int fd, void *to, size_t bytes, uint64_t at)
{
	return pft_sys4(SYS_pread64, fd, to, bytes, at) == (long)bytes;
}

static bool identify(int fd, struct identity *identity)
{
	struct stat about;

	if (pft_sys_fstat(fd, &about) < 0 || !S_ISREG(about.st_mode))
		return false;
	*identity = (struct identity){about.st_dev, about.st_ino, about.st_size, about.st_mtim};
	return true;
}

static bool is_same(const struct identity *a, const struct identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->bytes == b->bytes &&
	       a->modified.tv_sec == b->modified.tv_sec && a->modified.tv_nsec == b->modified.tv_nsec;
}

// -1 when it cannot be opened. What is no regular file may block or do things when it is opened.
static int open_file(const char *path)
{
	return (int)pft_sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
}

static bool read_sections(struct file *file, struct pft_arena *arena)
{
	Elf64_Ehdr header;

	if (!read_at(file->fd, &header, sizeof(header), 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
		header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr) ||
		header.e_shnum == 0)
		return false;
	file->section_count = header.e_shnum;
	file->sections = pft_arena_alloc(arena, file->section_count * sizeof(*file->sections));
	return file->sections && read_at(file->fd, file->sections,
					 file->section_count * sizeof(*file->sections), header.e_shoff);
}

static const Elf64_Shdr *section_of(const struct file *file, Elf64_Word type)
{
	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].sh_type == type)
			return &file->sections[i];
	return NULL;
}

// A note is its header, the name "GNU" and the id.
static bool is_build_id(const struct file *file, const Elf64_Shdr *section, const uint8_t *id, size_t bytes)
{
	struct {
		Elf64_Nhdr header;
		char name[4];
		uint8_t id[NOTE_BYTES];
	} note = {.header = {0}};

	return section->sh_type == SHT_NOTE && bytes <= NOTE_BYTES &&
	       section->sh_size >= sizeof(note.header) + sizeof(note.name) + bytes &&
	       read_at(file->fd, &note, sizeof(note.header) + sizeof(note.name) + bytes,
		       section->sh_offset) &&
	       note.header.n_type == NT_GNU_BUILD_ID && memcmp(note.name, "GNU", 4) == 0 &&
	       note.header.n_descsz >= bytes && memcmp(note.id, id, bytes) == 0;
}

static bool has_build_id(const struct file *file, const uint8_t *id, size_t bytes)
{
	for (size_t i = 0; i < file->section_count && bytes != 0; i++)
		if (is_build_id(file, &file->sections[i], id, bytes))
			return true;
	return bytes == 0;
}

// ---- the functions ----------------------------------------------------------------------------------

static bool is_function(const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_name < UINT32_MAX / 2;
}

static struct function function_of(const Elf64_Sym *symbol)
{
	return (struct function){
		.start = symbol->st_value,
		.bytes = symbol->st_size < UINT32_MAX ? (uint32_t)symbol->st_size : UINT32_MAX,
		.name = symbol->st_name | (ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ? 1u << 31 : 0),
	};
}

static bool is_before(const struct function *a, const struct function *b)
{
	return a->start != b->start ? a->start < b->start : a->name < b->name;
}

static void sift(struct function *heap, uint32_t root, uint32_t count)
{
	struct function moved = heap[root];
	uint32_t child;

	while ((child = 2 * root + 1) < count) {
		if (child + 1 < count && is_before(&heap[child], &heap[child + 1]))
			child++;
		if (!is_before(&moved, &heap[child]))
			break;
		heap[root] = heap[child];
		root = child;
	}
	heap[root] = moved;
}

// The C library's sort may allocate.
static void heap_sort(struct function *all, uint32_t count)
{
	for (uint32_t root = count / 2; root-- > 0;)
		sift(all, root, count);
	while (count > 1) {
		struct function last = all[--count];

		all[count] = all[0];
		all[0] = last;
		sift(all, 0, count);
	}
}

static bool read_symbols(struct pft_functions *functions, const struct file *file, const Elf64_Shdr *table,
	struct pft_arena *arena)
{
	uint64_t symbols = table->sh_size / sizeof(Elf64_Sym);
	Elf64_Sym chunk[CHUNK];

	if (symbols > SYMBOLS_MAX)
		return false;
	functions->all = pft_arena_alloc(arena, symbols * sizeof(*functions->all));
	if (!functions->all)
		return false;
	for (uint64_t i = 0; i < symbols; i += CHUNK) {
		uint64_t count = symbols - i < CHUNK ? symbols - i : CHUNK;

		if (!read_at(file->fd, chunk, count * sizeof(*chunk), table->sh_offset + i * sizeof(*chunk)))
			return false;
		for (uint64_t j = 0; j < count; j++)
			if (is_function(&chunk[j]))
				functions->all[functions->count++] = function_of(&chunk[j]);
	}
	return true;
}

static void read_file(struct pft_functions *functions, struct file *file, const uint8_t *build_id,
	size_t build_id_bytes, struct pft_arena *arena)
{
	const Elf64_Shdr *table;

	if (!identify(file->fd, &functions->identity) || !read_sections(file, arena) ||
		!has_build_id(file, build_id, build_id_bytes))
		return;
	table = section_of(file, SHT_SYMTAB);
	if (!table)
		table = section_of(file, SHT_DYNSYM);
	if (!table || table->sh_link >= file->section_count)
		return;
	functions->strings_at = file->sections[table->sh_link].sh_offset;
	functions->strings_bytes = file->sections[table->sh_link].sh_size;
	if (!read_symbols(functions, file, table, arena))
		functions->count = 0;
	heap_sort(functions->all, functions->count);
}

struct pft_functions *pft_functions_read(
	const char *path, const uint8_t *build_id, size_t build_id_bytes, struct pft_arena *arena)
{
	struct pft_functions *functions = pft_arena_alloc(arena, sizeof(*functions));
	struct file file = {.fd = open_file(path)};

	if (functions && file.fd >= 0) {
		functions->path = path;
		read_file(functions, &file, build_id, build_id_bytes, arena);
	}
	if (file.fd >= 0)
		pft_sys_close(file.fd);
	return functions;
}

// ---- names ------------------------------------------------------------------------------------------

// The first that starts behind `address`, or the count.
static uint32_t first_behind(const struct pft_functions *functions, uint64_t address)
{
	uint32_t low = 0, high = functions->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (functions->all[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// Where the size is not said, as in assembly, it goes up to the next one, but not far.
#define UNSAID_BYTES 4096

static bool covers(const struct function *function, uint64_t address)
{
	return address - function->start < (function->bytes ? function->bytes : UNSAID_BYTES);
}

// Functions may lie within others, so a few are looked at; of those with one start, the first.
#define LOOK_BACK 16

static const struct function *function_at(const struct pft_functions *functions, uint64_t address)
{
	uint32_t behind = first_behind(functions, address);
	uint32_t last = behind > LOOK_BACK ? behind - LOOK_BACK : 0;
	const struct function *found = NULL;

	for (uint32_t i = behind; i-- > last;) {
		const struct function *function = &functions->all[i];

		if (found && function->start != found->start)
			break;
		if (covers(function, address))
			found = function;
	}
	return found;
}

static const char *read_name(
	const struct pft_functions *functions, int fd, uint32_t name, struct pft_arena *arena)
{
	uint64_t room = functions->strings_bytes > name ? functions->strings_bytes - name : 0;
	char *text;

	if (room > NAME_MAX_BYTES)
		room = NAME_MAX_BYTES;
	text = pft_arena_alloc(arena, room + 1);
	return text && room && read_at(fd, text, room, functions->strings_at + name) && *text ? text : NULL;
}

const char *pft_functions_name(
	const struct pft_functions *functions, uint64_t address, struct pft_arena *arena)
{
	const struct function *function = function_at(functions, address);
	const char *name = NULL;
	struct identity identity;
	int fd;

	if (!function)
		return NULL;
	fd = open_file(functions->path);
	if (fd < 0)
		return NULL;
	if (identify(fd, &identity) && is_same(&identity, &functions->identity))
		name = read_name(functions, fd, function->name & ~(1u << 31), arena);
	pft_sys_close(fd);
	return name;
}
