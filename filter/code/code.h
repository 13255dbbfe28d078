/* SPDX-License-Identifier: MIT */
/*
 * code.h - a code object and the process whose interpreter runs it, as a code table (docs/marker.md) describes them.
 *
 * Both are made and owned by codes.h, and live until codes_free().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "shared/event.h"
#include "base/map.h"
#include "base/pool.h"
#include "base/time_span.h"
#include "compiled.h"

struct copy;	 /* copies.h: a thread's copy of a code object's bytecode */
struct dispatch; /* dispatch.h: the table of handlers */
struct walk;	 /* walk.h: control flow of a code object */
struct function; /* function.h: what is known about a code object's calls and loops */

struct instr {
	uint32_t offset; /* bytes */
	int32_t line;	 /* -1: none */
	int32_t target;	 /* bytes; -1: no jump */
	uint8_t base;
	uint8_t adaptive; /* equals base unless the interpreter specialised it, if threads have copies in any of them */
	bool back_edge : 1; /* a JUMP_BACKWARD: what PEP 669's JUMP reports of loops */
	bool handler : 1;   /* a PUSH_EXC_INFO: an exception handler begins with it */
	bool resume : 1;    /* a RESUME: where an activation begins or continues */
	uint8_t first;	    /* the adaptive opcode at the time the code object was first seen */
};

/* The loop that a back-edge repeats (heads.h). Few instructions are one, so this is beside them. */
struct back_edge {
	uint32_t offset; /* its own, bytes */
	int32_t head;	 /* bytes; -1: it repeats nothing */
	int32_t line;	 /* of its loop; 0: unknown */
};

/* What an opcode means for the shape of its code object. */
enum opcode_role {
	ROLE_NONE,
	ROLE_BACK_EDGE,
	ROLE_HANDLER,
	ROLE_RESUME,
	ROLE_GENERATOR,
};

struct code {
	uint32_t id;
	bool known;	/* false: its line was missing; file is "?" and qualname "code ID" */
	bool excluded;	/* mode opcodes: recorded so that recovery can follow it, not for sinks */
	bool generator; /* its activations can be resumed */
	bool coroutine; /* the same, and its table says that it is one */
	bool c;		/* a C function: in file CODE_C_FILE; has no bytecode */
	bool collects;	/* the same: garbage collections of `generation`, in file CODE_GC_FILE */
	uint8_t generation;
	bool label;		   /* a name of the program's own (ocular.span, ocular.request), or of a task */
	bool profiled;		   /* a C function: cProfile has a row for it, called `name` */
	uint8_t selected;	   /* of selection.c; 0: not asked yet */
	uint8_t rank;		   /* 1 and more: origin_rank() + 1; 0: not asked yet */
	uint8_t trio;		   /* of subjects.c; 0: not asked yet */
	struct function *function; /* owned by function.c; NULL: nothing has been counted */
	bool final;		   /* a `specialized` line was seen: adaptive opcodes are what ran */
	int32_t final_pid;	   /* the process whose line that is: the code's own, else the lowest of forks */
	char *file;
	char *owner; /* the file whose code it is, of code that lies in none (origin.h); NULL: `file`'s, or not known */
	char *qualname;
	char *name; /* co_name, if the table has it: code_name(); of a C function what cProfile writes */
	int64_t firstlineno;
	uint64_t address;	 /* in the traced process; 0: unknown */
	uint32_t units;		 /* length in code units; 0: unknown */
	uint32_t line_lookup_ns; /* what the interpreter takes to look up a LINE event's line at its end; 0: nothing */
	int64_t entry;		 /* bytes: the first RESUME, where PY_START fires; -1: unknown */
	uint32_t ninstrs;
	struct instr *instrs; /* ascending offsets */
	uint32_t nback_edges;
	struct back_edge *back_edges;	    /* ascending offsets; none: heads_mark() was not called, or found none */
	uint32_t ncopies;		    /* 0: threads have no copies of their own, */
	struct copy *copies;		    /* else those whose opcodes are known */
	struct process *process;	    /* the names from its interpreter's header: after exec one of `before` */
	struct walk *walk;		    /* owned by recover.c, freed with the code; NULL: not needed yet */
	struct code *of;		    /* which one this is a copy of (codes_part.h); NULL: it is none */
	struct code *ran_before;	    /* in the list of those of its process that ran (process.ran) */
	void (*release)(struct code *code); /* function.c sets it, to free `function`; else NULL */
};

/* The file of C functions, as in cProfile. */
#define CODE_C_FILE "~"
/* The same of garbage collections. */
#define CODE_GC_FILE	 "<gc>"
#define CODE_GENERATIONS 3

/* And of names of imports and of types of exceptions, which are no code. */
#define CODE_IMPORT_FILE    "<import>"
#define CODE_EXCEPTION_FILE "<exception>"
/* And of tasks and requests. */
#define CODE_SUBJECT_FILE "<subject>"
/* The same of names that the program gives itself, and of their data: all of it, keys (an array), or a text. */
#define CODE_LABEL_FILE "<label>"
#define CODE_DATA_FILE	"<data>"
#define CODE_KEYS_FILE	"<keys>"
#define CODE_TEXT_FILE	"<text>"

/* A thread, and which copies it runs (copies.h). */
struct copier {
	uint32_t tid, copy;
};

/* A process's duty cycle (ring.h). All 0: it has none. */
struct duty {
	uint64_t start_ns, window_ns, period_ns;
	uint64_t begun_ns, ended_ns; /* tracing began, and ended or was last seen */
};

/*
 * Cycles of one callback with its marker, or a sum of such: the least and the most of what was measured, at start and
 * stop. 0: not known.
 */
struct callback {
	uint64_t least, most;
};

/* What was run, and where its files lie (origin.h). NULL: the header does not say. */
struct program {
	char *folder; /* the current one at its start */
	char *stdlib;
	char *name; /* command_line.h */
};

/*
 * The contents of a table's header; of several headers the last one's, except `before`. Strings are NULL if the header
 * lacks them.
 */
struct process {
	int32_t pid;
	int64_t read; /* bytes of its table that were read, of codes that grow */
	bool found;   /* a table exists and has a header */
	int err;      /* its table could not be read: codes_process refuses it */
	char *python;
	char *mode;
	char *backend;
	char *argv; /* joined by blanks */
	struct program program;
	char *untraced;	       /* why this process could not be traced; NULL: it could */
	bool greenlets_untold; /* it has greenlets, whose switches are not told */
	uint64_t tsc_hz;
	uint32_t coarse;     /* its threads read the time for one word of so many; 0: for each */
	int64_t realtime_ns; /* wall clock at its start, since the epoch; 0: unknown */
	struct wall began;   /* of its first header */
	uint8_t markers;     /* version of the markers it wrote */
	uint32_t first_id;
	int32_t parent;	    /* -1: none */
	bool whole;	    /* traced from before its program began */
	bool looks_twice;   /* its interpreter looks up the line before, too, for a LINE event: CPython up to 3.12.3 */
	bool starts_late;   /* its interpreter checks signals before PY_START (CPython 3.13 and later) */
	bool free_threaded; /* its interpreter can do without a GIL */
	bool unspecialized; /* and specialises nothing: before CPython 3.14 */
	bool identity;	    /* its markers tell which generator is resumed */
	bool jit;	    /* its interpreter compiles hot loops */
	bool waits;	    /* its threads tell what they wait for */
	bool waits_unseen;  /* they would, but its calls could not be seen */
	bool program_only;  /* what runs only because it is traced was not counted */
	char *opnames[256];
	uint8_t roles[256];	   /* of these: enum opcode_role */
	bool able[256];		   /* by base opcode: the interpreter has specialised forms of it */
	bool ables;		   /* the header has that list */
	struct dispatch *dispatch; /* mode opcodes; else NULL */
	struct callback callbacks[OP_COUNT];
	uint64_t lost;	  /* of `stop` lines: words the emitter dropped */
	uint64_t emitted; /* of `stop` lines: words the emitter wrote, all threads */
	bool flight;	  /* most of what was emitted was overwritten, as intended */
	struct duty duty;
	int killed;		/* by this signal, and the recorder has all that it wrote; 0: not known to be */
	bool stopped;		/* a `stop` line was seen: `emitted` and `lost` are complete */
	uint64_t received;	/* words that arrived, counted by decode.c */
	uint64_t added;		/* of these, by the recorder: CPU words */
	uint64_t missing;	/* words missing in gaps, counted by decode.c */
	struct process *of;	/* which one this is a copy of (codes_part.h); NULL: it is none */
	struct process *before; /* the same pid before it exec'ed an interpreter with other opcodes; NULL: none */
	struct code **codes;	/* [id - base] */
	uint32_t base, ncodes;
	struct code *ran; /* those with a function, the last that began to run first: few of many ids may be used */
	struct code *collections[CODE_GENERATIONS]; /* stand for garbage collections; NULL: none yet */
	struct compiled compiled;
	struct map threads; /* tid -> char *name */
	struct copier *copiers;
	uint32_t ncopiers;
	struct pool pool; /* its code objects, their names, instrs and back_edges, */
	char *file;	  /* and in it the file of the last one */
	struct map names; /* hash of file, qualname and line -> struct code: of codes_intern */
	uint32_t named;	  /* codes below this are in names */
	uint32_t taken;	  /* codes below this are all in use */
};

/* The instruction at `offset` or the last one before it; ninstrs if there is none. */
uint32_t code_index(const struct code *code, int64_t offset);

/* What heads_mark() found out about the instruction at `offset`; NULL: nothing. */
const struct back_edge *code_back_edge(const struct code *code, int64_t offset);

/* Where the loop begins that a jump back repeats. -1: it repeats none. */
int64_t code_head(const struct code *code, const struct instr *in);

/* By file, first line and qualname; the second by process and id where these are equal: <0, 0 or >0, for qsort. */
int code_place_order(const struct code *a, const struct code *b);
int code_order(const struct code *a, const struct code *b);

/* Its co_name: the table's, else what follows the last dot of its qualname. */
const char *code_name(const struct code *code);

/* More lines than this between a code object's first and last are taken for damage. */
#define CODE_LINES_MOST 100000

/* The first and the last line of its instructions. False: none is known. */
bool code_lines(const struct code *code, int32_t *first, int32_t *last);

/* "?" if the interpreter's names are not known. */
const char *process_opname(const struct process *p, uint8_t opcode);

/* The opcode of that name, 0 if there is none. */
uint8_t process_opcode(const struct process *p, const char *name);

/* The name of a thread, or NULL. */
const char *process_thread_name(const struct process *p, int32_t tid);
