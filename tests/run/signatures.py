#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes random function signatures of C and C++ as source: callees, callers, and the types between them.

  signatures.py FUNCTIONS SEED DIRECTORY [VECTOR BYTES]

Half of the functions are C, half C++; vectors are up to 16 (default), 32 or 64 bytes wide. For each language
there are types.h, callees and callers; runner.c and signatures.h of tests/signatures complete them. The same
seed gives the same source.
"""
import os
import random
import sys

LARGEST_RECORD = 200
MOST_PARAMETERS = 24


# ---- types ------------------------------------------------------------------------------------------

class Scalar:
    """`bytes` of it are its value; the rest of a long double is not."""

    def __init__(self, name, definition, size, **how):
        self.name, self.definition, self.size = name, definition, size
        self.bytes = how.get("value", size)
        self.alignment = how.get("alignment", size)
        self.languages = how.get("languages", "c c++")
        self.promoted = how.get("promoted", True)  # may be passed where the callee declares nothing
        self.bitfield = how.get("bitfield", False)
        self.trivial = True

    def declare(self):
        return self.definition

    def fill(self, place):
        if self.name == "t_bool":
            return "fill_bool(random, &%s);" % place
        return "fill(random, &%s, %d);" % (place, self.bytes)

    def see(self, place):
        return "see(exchange, &%s, %d);" % (place, self.bytes)


def vector(name, element, size):
    return Scalar(name, "typedef %s %s __attribute__((vector_size(%d)));" % (element, name, size), size)


def alias(name, meaning, size, **how):
    return Scalar(name, "typedef %s %s;" % (meaning, name), size, **how)


SCALARS = [
    alias("t_bool", "bool", 1, promoted=False),
    alias("t_char", "char", 1, promoted=False),
    alias("t_schar", "signed char", 1, promoted=False),
    alias("t_uchar", "unsigned char", 1, promoted=False),
    alias("t_short", "short", 2, promoted=False),
    alias("t_ushort", "unsigned short", 2, promoted=False),
    alias("t_int", "int", 4, bitfield=True),
    alias("t_uint", "unsigned", 4, bitfield=True),
    alias("t_long", "long", 8, bitfield=True),
    alias("t_ulong", "unsigned long", 8, bitfield=True),
    alias("t_llong", "long long", 8),
    alias("t_int128", "__int128", 16),
    alias("t_uint128", "unsigned __int128", 16),
    Scalar("t_enum", "typedef enum { T_LOW = -2147483647 - 1, T_HIGH = 2147483647 } t_enum;", 4,
           promoted=False),
    alias("t_pointer", "void *", 8),
    Scalar("t_function", "typedef void (*t_function)(int);", 8),
    alias("t_float", "float", 4, promoted=False),
    alias("t_double", "double", 8),
    alias("t_ldouble", "long double", 16, value=10),
    alias("t_float128", "__float128", 16),
    alias("t_float16", "_Float16", 2, promoted=False, languages="c"),
    alias("t_cfloat", "__complex__ float", 8, alignment=4),
    alias("t_cdouble", "__complex__ double", 16, alignment=8),
    vector("t_v8i", "int", 8),
    vector("t_v16f", "float", 16),
    vector("t_v16d", "double", 16),
    vector("t_v16c", "char", 16),
    Scalar("t_member", "typedef int t_class::*t_member;", 8, languages="c++"),
    Scalar("t_method", "typedef int (t_class::*t_method)(long);", 16, alignment=8, languages="c++"),
]

WIDE = [vector("t_v32f", "float", 32), vector("t_v32l", "long", 32), vector("t_v64d", "double", 64),
        vector("t_v64c", "char", 64)]


class ComplexLongDouble(Scalar):
    """Two values with a gap."""

    def __init__(self):
        super().__init__("t_cldouble", "typedef __complex__ long double t_cldouble;", 32, alignment=16)

    def fill(self, place):
        return "fill(random, &%s, 10); fill(random, (char *)&%s + 16, 10);" % (place, place)

    def see(self, place):
        return "see(exchange, &%s, 10); see(exchange, (const char *)&%s + 16, 10);" % (place, place)


SCALARS.append(ComplexLongDouble())


class Field:
    def __init__(self, name, kind, count=0, bits=0):
        self.name, self.kind, self.count, self.bits = name, kind, count, bits

    def declare(self):
        suffix = "[%d]" % self.count if self.count else " : %d" % self.bits if self.bits else ""
        return "%s %s%s;" % (self.kind.name, self.name, suffix)

    def each(self, verb, place):
        if self.bits and verb == "fill":
            return "%s = (%s)random_word(random);" % (place, self.kind.name)
        if self.bits:
            return "see_number(exchange, (uint64_t)%s);" % place
        if self.count:
            return "for (int i = 0; i < %d; i++) { %s }" % (self.count, getattr(self.kind, verb)(place + "[i]"))
        return getattr(self.kind, verb)(place)


class Record:
    """A struct, or a union: of that the first member is what counts."""
    promoted = True
    languages = "c c++"
    bitfield = False
    trivial = True

    def __init__(self, name, word, fields, attribute, size, alignment):
        self.name, self.word, self.fields, self.attribute = name, word, fields, attribute
        self.size, self.alignment = size, alignment

    def declare(self):
        valued = self.fields[:1] if self.word == "union" else self.fields
        lines = ["typedef %s %s {" % (self.word, self.name)] + ["\t" + f.declare() for f in self.fields]
        lines.append("} %s%s;" % (self.attribute, self.name))
        for verb, argument in (("fill", "uint64_t *random, "), ("see", "struct exchange *exchange, const ")):
            lines += ["static inline void %s_%s(%s%s *value)" % (verb, self.name, argument, self.name), "{"]
            lines += ["\t" + f.each(verb, "value->" + f.name) for f in valued]
            lines.append("}")
        return "\n".join(lines)

    def fill(self, place):
        return "fill_%s(random, &%s);" % (self.name, place)

    def see(self, place):
        return "see_%s(exchange, &%s);" % (self.name, place)


class Tracked:
    """A class that is passed by reference to a copy, since copying it is not trivial: it knows where it lies."""
    promoted = False
    languages = "c++"
    bitfield = False
    trivial = False
    alignment = 8

    def __init__(self, words):
        self.name, self.size, self.words = "t_tracked%d" % words, 8 * words + 8, words

    def declare(self):
        return """struct {0} {{
	uint64_t words[{1}];
	const {0} *self;
	{0}() : self(this) {{}}
	{0}(const {0} &other) : self(this) {{ __builtin_memcpy(words, other.words, sizeof(words)); }}
	{0} &operator=(const {0} &other) {{ __builtin_memcpy(words, other.words, sizeof(words)); return *this; }}
	~{0}() {{ self = nullptr; }}
}};""".format(self.name, self.words)

    def fill(self, place):
        return "fill(random, %s.words, %d);" % (place, 8 * self.words)

    def see(self, place):
        return "see(exchange, %s.words, %d); see_number(exchange, %s.self == &%s);" % (
            place, 8 * self.words, place, place)


def round_up(size, alignment):
    return -(-size // alignment) * alignment


class Types:
    def __init__(self, dice, language, vector_bytes):
        self.dice = dice
        wide = [kind for kind in WIDE if kind.size <= vector_bytes]
        self.scalars = [kind for kind in SCALARS + wide if language in kind.languages.split()]
        self.records = []
        while len(self.records) < 40:
            record = self._record("t_record%d" % len(self.records))
            if record:
                self.records.append(record)
        self.tracked = [Tracked(1), Tracked(5)] if language == "c++" else []

    def declare(self):
        return "\n".join(kind.declare() for kind in self.scalars + self.records + self.tracked)

    def any(self):
        pools = [self.scalars, self.records, self.tracked or self.scalars]
        return self.dice.choice(self.dice.choices(pools, [5, 4, 1])[0])

    def promoted(self):
        """What va_arg finds: compilers disagree with themselves about where arguments of a larger alignment lie."""
        return self.dice.choice([k for k in self.scalars + self.records if k.promoted and k.alignment <= 16])

    def _record(self, name):
        """None when the dice made it too large."""
        word = self.dice.choice(["struct"] * 5 + ["union"])
        packed = self.dice.random() < 0.1
        attribute = "__attribute__((packed)) " if packed else self.dice.choice(
            [""] * 9 + ["__attribute__((aligned(%d))) " % self.dice.choice([16, 32, 64])])
        fields = [self._field("f%d" % i, packed) for i in range(self.dice.choice([1, 1, 2, 2, 3, 4, 6]))]
        if word == "union" and any(f.kind.alignment > 16 for f in fields):
            return None  # gcc 12 clears the upper half of such a result (vzeroupper)
        sizes = [round_up(f.kind.size * max(f.count, 1), 1 if packed else f.kind.alignment) for f in fields]
        alignment = 1 if packed else max(f.kind.alignment for f in fields)
        if "aligned" in attribute:
            alignment = max(alignment, int(attribute.split("aligned(")[1].split(")")[0]))
        most = round_up(sum(round_up(size, alignment) for size in sizes), alignment)
        return Record(name, word, fields, attribute, most, alignment) if most <= LARGEST_RECORD else None

    def _field(self, name, packed):
        nested = [] if packed else self.records
        kind = self.dice.choice(self.dice.choice([self.scalars, self.scalars, nested or self.scalars]))
        if kind.bitfield and self.dice.random() < 0.3:
            return Field(name, kind, bits=self.dice.randint(1, 8 * kind.size))
        if self.dice.random() < 0.3:
            return Field(name, kind, count=self.dice.choice([1, 2, 3, 4, 7, max(1, LARGEST_RECORD // kind.size)]))
        return Field(name, kind)


# ---- functions --------------------------------------------------------------------------------------

class Parameter:
    def __init__(self, name, kind, reference=False):
        self.name, self.kind, self.reference = name, kind, reference

    def type(self):
        return self.kind.name + (" &" if self.reference else " ")


class Function:
    """`extra`: what is passed behind the ellipsis, if there is one. `owner`: the class of a method."""

    def __init__(self, dice, types, language, number):
        self.name = "sig_%d" % number
        self.result = types.any() if dice.random() < 0.9 else None
        self.parameters = [Parameter("a%d" % i, types.any(), language == "c++" and dice.random() < 0.1)
                           for i in range(dice.choice([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 17, MOST_PARAMETERS]))]
        self.extra = []
        if dice.random() < 0.15:
            self.parameters.append(Parameter("last", types.scalars[[s.name for s in types.scalars].index("t_int")]))
            self.extra = [Parameter("x%d" % i, types.promoted()) for i in range(dice.randint(1, 12))]
        self.spoils = dice.random() < 0.3
        self.changes_control = dice.random() < 0.1
        self.owner = "class_of_" + self.name if language == "c++" and not self.extra and dice.random() < 0.3 else None
        # An exception lies in memory that is aligned to 16.
        self.throws = (language == "c++" and self.result is not None and self.result.alignment <= 16 and
                       not self.changes_control and dice.random() < 0.15)

    def result_type(self):
        return self.result.name if self.result else "void"

    def declared_parameters(self):
        words = [p.type() + p.name for p in self.parameters] + (["..."] if self.extra else [])
        return ", ".join(words) or "void"

    def declare(self):
        """As seen by both sides."""
        if not self.owner:
            return "%s %s(%s);" % (self.result_type(), self.name, self.declared_parameters())
        return "struct %s {\n\tlong state;\n\t%s %s(%s);\n};" % (
            self.owner, self.result_type(), self.name, self.declared_parameters())

    # ---- callee ----

    def _look(self):
        """Looks at everything that was passed."""
        if self.owner:
            yield "see(exchange, &state, 8);"
        for parameter in self.parameters:
            yield parameter.kind.see(parameter.name)
        if self.extra:
            yield "va_list list;"
            yield "va_start(list, last);"
            for parameter in self.extra:
                yield "{ %s value = va_arg(list, %s); %s }" % (
                    parameter.kind.name, parameter.kind.name, parameter.kind.see("value"))
            yield "va_end(list);"

    def _spoil(self):
        for parameter in self.parameters:
            if parameter.kind.trivial and not parameter.reference:
                yield "spoil(&%s, sizeof(%s));" % (parameter.name, parameter.name)

    def define(self):
        scope = self.owner + "::" if self.owner else ""
        lines = ["%s %s%s(%s)" % (self.result_type(), scope, self.name, self.declared_parameters()), "{",
                 "\tstruct exchange *exchange = exchange_of_library();",
                 "\tchar aligned[16] __attribute__((aligned(16)));", "\tsee_entry(exchange, aligned);"]
        lines += ["\t" + line for line in self._look()]
        if self.spoils:
            lines += ["\t" + line for line in self._spoil()]
        if self.changes_control:
            lines.append("\tchange_control(exchange);")
        if self.result:
            lines += ["\tuint64_t seed = exchange->result_seed, *random = &seed;", "\t%s result;" % self.result.name,
                      "\t" + self.result.fill("result"), "\t%s result;" % ("throw" if self.throws else "return")]
        return "\n".join(lines + ["}", ""])

    # ---- caller ----

    def _given(self):
        return "given_" + self.name + "."

    def _call(self, how):
        arguments = ", ".join(self._given() + p.name for p in self.parameters + self.extra)
        call = "%s(%s);" % (how, arguments)
        if not self.result:
            return call
        if self.throws:
            return "try {{ {0} }} catch (const {1} &thrown) {{ result_{2} = thrown; }}".format(
                call, self.result.name, self.name)
        return "result_%s = %s" % (self.name, call)

    def _pointer(self):
        scope = self.owner + "::" if self.owner else ""
        return "static %s (%s*volatile pointer_%s)(%s) = &%s%s;" % (
            self.result_type(), scope, self.name, self.declared_parameters(), scope, self.name)

    def _helper(self, verb, arguments, lines):
        return "static void %s_%s(%s)\n{\n%s}\n" % (verb, self.name, arguments, "".join("\t%s\n" % l for l in lines))

    def caller(self):
        """What a call needs lies in static variables: nothing of the caller's lives across the call."""
        every = self.parameters + self.extra
        object_fields = ["%s object;" % self.owner] if self.owner else []
        fields = object_fields + ["%s %s;" % (p.kind.name, p.name) for p in every]
        state = self._given() + "object.state"
        given = self._given()
        by_name = given + "object." + self.name if self.owner else self.name
        by_pointer = "(%sobject.*pointer_%s)" % (given, self.name) if self.owner else "pointer_" + self.name
        none = "(void)exchange;"
        return "\n".join([
            "static struct { %s } given_%s;" % (" ".join(fields) or "char nothing;", self.name),
            "static %s result_%s;" % (self.result.name, self.name) if self.result else "",
            self._pointer(),
            self._helper("by_name", "void", [self._call(by_name)]),
            self._helper("by_pointer", "void", [self._call(by_pointer)]),
            self._helper("give", "uint64_t *random", ["(void)random;", "(void)given_%s;" % self.name] +
                         (["fill(random, &%s, 8);" % state] if self.owner else []) +
                         [p.kind.fill(given + p.name) for p in every]),
            self._helper("expect", "struct exchange *exchange", [none] +
                         (["see(exchange, &%s, 8);" % state] if self.owner else []) +
                         [p.kind.see(given + p.name) for p in every]),
            self._helper("expect_result", "struct exchange *exchange, uint64_t *random",
                         [none, "(void)random;"] + (["%s result;" % self.result.name, self.result.fill("result"),
                                                     self.result.see("result")] if self.result else [])),
            self._helper("find_result", "struct exchange *exchange",
                         [none] + ([self.result.see("result_" + self.name)] if self.result else [])),
        ])

    def row(self):
        return '\t{"%s", %s, %d},' % (self.name, ", ".join("%s_%s" % (verb, self.name) for verb in (
            "by_name", "by_pointer", "give", "expect", "expect_result", "find_result")), self.changes_control)


# ---- files ------------------------------------------------------------------------------------------

HEAD = """// SPDX-License-Identifier: MIT
// Generated by tests/run/signatures.py.
"""

EXCHANGE = """struct exchange *exchange_of_library(void)
{
	static struct exchange exchange;

	return &exchange;
}
"""

CLASS = "struct t_class {\n\tint value;\n\tint method(long);\n};"


def types_file(types, functions, language):
    return "\n".join([HEAD, "#include <stdarg.h>", "#include <stdbool.h>", '#include "tests/signatures/signatures.h"',
                      CLASS if language == "c++" else "", types.declare(), *[f.declare() for f in functions], ""])


def callees_file(functions, types, has_exchange):
    return "\n".join([HEAD, '#include "%s"' % types, "", EXCHANGE if has_exchange else "",
                      *[f.define() for f in functions]])


def callers_file(functions, types, table):
    return "\n".join([HEAD, '#include "%s"' % types, "", *[f.caller() for f in functions], "",
                      "extern const struct signature %s[];" % table, "const struct signature %s[] = {" % table,
                      *[f.row() for f in functions], "\t{NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0},", "};", ""])


def tables_file(tables):
    return "\n".join([HEAD, '#include "tests/signatures/signatures.h"', "",
                      *["extern const struct signature %s[];" % table for table in tables],
                      "extern const struct signature *const signature_tables[];",
                      "const struct signature *const signature_tables[] = {%s, NULL};" % ", ".join(tables), ""])


def generate(count, seed, vector_bytes):
    """{file name: text}."""
    dice = random.Random(seed)
    files = {"tables.c": tables_file(["signatures_c", "signatures_cc"])}
    for language, suffix, first in (("c", "c", 0), ("c++", "cc", count // 2)):
        types = Types(dice, language, vector_bytes)
        numbers = range(first, count // 2 if language == "c" else count)
        functions = [Function(dice, types, language, number) for number in numbers]
        header = "types_%s.h" % suffix
        files[header] = types_file(types, functions, language)
        files["callees." + suffix] = callees_file(functions, header, language == "c")
        files["callers." + suffix] = callers_file(functions, header, "signatures_" + suffix)
    return files


def write(directory, files):
    os.makedirs(directory, exist_ok=True)
    for name, text in files.items():
        with open(os.path.join(directory, name), "w") as file:
            file.write(text)


if __name__ == "__main__":
    write(sys.argv[3], generate(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[4]) if len(sys.argv) > 4 else 16))
