/* lsp.h: the language server: the Language Server Protocol 3.17 over a pair of streams.
 *
 *   transport.c    messages in and out: headers, JSON
 *   server.c       the order of things: lifecycle, dispatch by methods.def, when texts are analysed
 *   documents.c    the texts that editors have open
 *   positions.c    places as the protocol has them: lines and UTF-16 or UTF-8 units, URIs
 *   analysis.c     a text's tree, and its program where the text is whole
 *   layouts.c      the layouts of its tiles
 *   scopes.c       the names of a tree: who binds them, who reads them
 *   cursor.c       what stands around a place of a text that need not be whole
 *   resolve.c      from places and names to the evaluator's objects
 *   words.c        signatures and sentences of objects, as people read them
 *   and a file for each thing that is offered.
 *
 * What goes wrong in a request is its answer (Failure), and so is an internal error of the
 * compiler, behind which the texts are analysed anew; nothing ends the server but the end of its
 * input and `exit`. JSON is libjansson's: functions that give json_t * give a new reference. */
#ifndef TILEC_LSP_LSP_H
#define TILEC_LSP_LSP_H

#include "build/build.h"
#include "eval/inspect.h"

#include <jansson.h>

/* ---- transport.c ---- */

typedef struct Transport {
    int in, out; /* file descriptors */
    Buf received;
    size_t taken; /* of it */
    bool has_ended;
} Transport;

typedef enum Received {
    RECEIVED_MESSAGE,
    RECEIVED_NOTHING, /* so far */
    RECEIVED_BROKEN,  /* a message that is no JSON, or has no length; it is left out */
    RECEIVED_END,
} Received;

/* The next message, waiting `milliseconds` at most for more input; -1: until there is some. */
Received transport_receive(Transport *transport, int milliseconds, json_t **message);
bool transport_has_input(Transport *transport); /* at once, or the end */
/* Takes the reference. */
void transport_send(Transport *transport, json_t *message);
/* Takes the reference of the parameters. */
void transport_notify(Transport *transport, const char *method, json_t *params);
void transport_free(Transport *transport);

/* ---- positions.c ---- */

typedef enum Encoding { ENCODING_UTF16, ENCODING_UTF8 } Encoding;

/* Out of range: the end of the line, or of the text. */
uint32_t position_to_offset(const Source *source, Encoding encoding, const json_t *position);
/* So many units the first bytes of a text are. */
uint32_t text_units(Encoding encoding, const char *text, size_t bytes);
json_t *range_from_span(Encoding encoding, Span span);
/* The path of a file's URI; a URI of another kind as it is. In the arena. */
const char *path_from_uri(Arena *arena, const char *uri);
const char *uri_from_path(Arena *arena, const char *path);

/* ---- scopes.c ---- */

typedef enum BlockKind { BLOCK_MODULE, BLOCK_CLASS, BLOCK_FUNCTION, BLOCK_COMPREHENSION } BlockKind;

typedef struct Block Block;

/* What a name means in a block: all its occurrences, in all blocks. */
typedef struct Symbols Symbols;
typedef struct NameUse {
    Span span; /* of the name alone */
    Name name;
    struct LocalName *local; /* NULL: no block of the text binds it */
    const Node *node;        /* Name, arg, FunctionDef, ClassDef, alias, keyword, ... */
    bool binds;
} NameUse;
typedef VEC(NameUse *) UseVec;

typedef struct LocalName {
    Name name;
    Block *block; /* that binds it */
    UseVec uses;
    bool is_parameter, is_import;
} LocalName;
typedef VEC(LocalName *) LocalVec;

struct Block {
    BlockKind kind;
    const Node *node; /* Module, ClassDef, FunctionDef, Lambda, a comprehension */
    Block *parent;
    Name name; /* of a class or function */
    LocalVec locals;
    Map by_name; /* Name -> LocalName */
    Map outside; /* Name -> Block: declared global or nonlocal */
};
typedef VEC(Block *) BlockVec;

struct Symbols {
    BlockVec blocks; /* outer ones first; the module's is the first */
    UseVec uses;
};

Symbols *symbols_of(Arena *arena, Interner *names, const Module *module);
/* The name at an offset, or that ends there; NULL: none. */
const NameUse *symbols_at(const Symbols *symbols, uint32_t offset);
/* The name as the block sees it; NULL: it is bound nowhere. */
LocalName *block_find(const Block *block, Name name);
/* The name itself in a definition, parameter, import, ... */
Span name_span(const Node *node);

/* ---- analysis.c ---- */

typedef struct Server Server;

/* A kernel of the text, and what it becomes when its tiles have layouts; NULL: it failed, or nobody
 * has asked. */
typedef struct LaidOut {
    const Kernel *typed;
    Kernel *laid_out;
    bool is_tried;
} LaidOut;

/* A text, once: its tree, as far as it could be read, and its program. */
typedef struct Analysis {
    Session *session;
    const Source *source;
    const Module *module;
    Symbols *symbols;
    Program *program; /* NULL: it is not evaluated, or not whole */
    VEC(LaidOut) kernels;
} Analysis;

Analysis *analysis_parse(const char *path, const char *text, size_t length);
/* The same evaluated, as `tilec check` does. *interrupted: a message came meanwhile; it is not to
 * be used. */
Analysis *analysis_evaluate(Server *server, const char *path, const char *text, size_t length,
                            bool *interrupted);
void analysis_free(Analysis *analysis);

/* ---- layouts.c ---- */

void layouts_keep(Analysis *analysis, const ExportList *exports);
void layouts_free(Analysis *analysis);
/* The layout, as IR has it, of the value of an expression that a name stands for, of one of these
 * types, "a | b"; NULL: there is none. In the message's arena. */
const char *layout_at(Server *server, Analysis *values, Span span, Name name, const char *types);

/* ---- documents.c ---- */

typedef struct Document {
    char *uri, *path;
    Buf text;
    json_int_t version;
    Analysis *tree;   /* of this text; NULL: not read yet */
    Analysis *values; /* evaluated, of this text or of an earlier one; NULL: there is none */
    bool is_current;  /* values are of this text */
    bool is_pending;  /* its diagnostics are to be made */
    bool is_library;  /* the standard library's: it has none */
    int interruptions;
    struct Document *next;
} Document;

const Analysis *document_tree(Document *document);
void document_free(Document *document);

/* ---- server.c ---- */

enum {
    FAILURE_PARSE = -32700,
    FAILURE_REQUEST = -32600,
    FAILURE_METHOD = -32601,
    FAILURE_PARAMETERS = -32602,
    FAILURE_INTERNAL = -32603,
    FAILURE_NOT_INITIALIZED = -32002,
    FAILURE_CANCELLED = -32800,
    FAILURE_REFUSED = -32803,
};

typedef struct Failure {
    int code; /* 0: none */
    const char *message;
} Failure;

typedef enum LifeStage { LIFE_NEW, LIFE_RUNNING, LIFE_SHUT_DOWN, LIFE_OVER } LifeStage;

struct Server {
    const Options *options;
    const Target *target; /* that gradients are made for */
    Transport transport;
    Encoding encoding;
    LifeStage stage;
    bool exited_well, markdown;
    json_t *waiting; /* messages that were received and not handled */
    Document *documents;
    char *library_folder; /* where the standard library's text is for editors; NULL: not yet */
    Arena *arena;         /* of one message */
    /* What is at work, for the case that it never comes back. */
    const json_t *request; /* the number of a request that is not answered; NULL: none */
    Document *analysed;    /* whose text is; NULL: none */
    char fault[256];       /* what happened */
};

/* Serves until the end. 0: it was shut down before it was told to exit. */
ExitStatus serve(const Options *options, const Target *target, int in, int out);
/* The document and the offset that a request's parameters name; NULL: *failure says why. One of
 * which no text was evaluated yet is analysed first. */
Document *request_document(Server *server, const json_t *params, Failure *failure);
Document *request_place(Server *server, const json_t *params, uint32_t *offset, Failure *failure);

#define REQUEST(method, handler)                                                                   \
    json_t *handler(Server *server, const json_t *params, Failure *failure);
#define NOTIFICATION(method, handler) void handler(Server *server, const json_t *params);
#include "lsp/methods.def"
#undef REQUEST
#undef NOTIFICATION

/* ---- diagnostics.c ---- */

/* Analyses the document, and tells the editor. */
void publish(Server *server, Document *document);

/* ---- cursor.c ---- */

bool is_name_byte(char c); /* that a name may have, UTF-8's above ASCII among them */

typedef struct Cursor {
    bool in_text;      /* in a string or a comment */
    uint32_t begin;    /* of the word before the offset */
    uint32_t dot;      /* the '.' before that; UINT32_MAX: there is none */
    uint32_t receiver; /* where what stands before the dot begins, of names and dots; = dot: none */
    uint32_t call;     /* the '(' of the call that is open; UINT32_MAX: none */
    uint32_t callee;   /* where what is called begins, as of a receiver; = call: none */
    int argument;      /* the one at the offset, from 0 on */
    Span keyword;      /* `name` of `name=` that it begins with; source NULL: none */
    uint32_t line;     /* where its statement begins */
} Cursor;

Cursor cursor_at(const Source *source, uint32_t offset);
/* The block of `symbols` whose classes and functions have the names of those that the line stands
 * in, by its indentation; the module's if there is none. */
Block *cursor_block(const Source *source, uint32_t line, const Symbols *symbols);

/* ---- resolve.c ---- */

/* What a text of names and dots stands for in a block of the values' text; NULL: unknown. */
Object *resolve_path(const Analysis *values, Block *block, const char *text, size_t length);
/* The object that a name was where it is bound or read; NULL: unknown. */
Object *resolve_local(const Analysis *values, const LocalName *local);
/* Where the evaluator has seen its value: of a definition, all of that. */
Span use_place(const NameUse *use);
/* How the values of a name were described; NULL: nothing evaluated it. */
const char *local_text(const Analysis *values, const LocalName *local);
/* The attribute, or the keyword of a call, whose name has the offset; NULL: none. */
const Node *named_part_at(const Module *module, uint32_t offset);

/* ---- words.c ---- */

typedef struct Label {
    uint32_t begin, end; /* in bytes of the text */
} Label;
typedef VEC(Label) LabelVec;

/* "name(a, b: int32 = 1)", and where each parameter is in it. */
void put_signature(Arena *arena, const char *name, const ObjectFacts *facts, Buf *out,
                   LabelVec *parameters);
/* The names that keywords may have. */
void parameter_names(Arena *arena, Interner *names, const ObjectFacts *facts, Names *out);
bool facts_can_be_called(const ObjectFacts *facts);
/* Its docstring, what the manual says of it (sentences.awk), the comment above it, or the
 * compiler's own sentence; NULL: none. */
const char *documentation(Arena *arena, const ObjectFacts *facts);

typedef struct Sentence {
    const char *dialect, *name, *text;
} Sentence;
extern const Sentence sentences[];
extern const size_t sentence_count;

/* ---- signature.c ---- */

/* What the call at the cursor calls. False: it is unknown, or cannot be called. */
bool cursor_callee(const Analysis *values, const Source *source, const Cursor *cursor,
                   ObjectFacts *facts);

/* ---- library.c ---- */

/* A location in a file that editors can open; the standard library's text is put into one. */
json_t *location_of(Server *server, Span span);
#endif
