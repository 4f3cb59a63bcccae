// SPDX-License-Identifier: MIT
// The page of a report, up to its data and from there on, as scripts/make-page built it. Read by html.c.
	.section .rodata
	.globl	pft_page_head, pft_page_head_end, pft_page_tail, pft_page_tail_end
pft_page_head:
	.incbin	"page/head.html"
pft_page_head_end:
pft_page_tail:
	.incbin	"page/tail.html"
pft_page_tail_end:

	.section .note.GNU-stack,"",@progbits
