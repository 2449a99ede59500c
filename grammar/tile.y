/* tile.y: the grammar of the language: Python 3.11's, and the type parameters and `type` statements
 * of 3.12. Rules in the order of the language reference; actions only call constructors.
 *
 * It accepts a little too much (any expression as a target, `(a as b)` as an atom): check.c refuses
 * the rest with a better message than a grammar could. */
%name TileParser
%token_prefix TOKEN_
%token_type {Token}
%default_type {Node *}
%extra_context {Parser *parser}
%stack_size 0
%start_symbol start

%include {
#define NDEBUG /* else the template keeps its trace in variables of the file */
#include "syntax/parser.h"

#include <assert.h>
#include <stdlib.h>
}

/* BAD is text that is no token; FIELD comes first where an expression alone is read. */
%token BAD FIELD.
%fallback NAME CASE.

%syntax_error {
    bool expected[YYNTOKEN] = {false};
    for (int kind = 1; kind < YYNTOKEN; kind++)
        expected[kind] = yy_find_shift_action((YYCODETYPE)kind, yypParser->yytos->stateno) !=
                         YY_ERROR_ACTION;
    (void)yymajor;
    parser_syntax_error(parser, TOKEN, expected, YYNTOKEN);
}
%stack_overflow { parser_out_of_stack(parser); }

start ::= file.
start ::= FIELD items(A).       { parser->expression = make_tuple_or_one(parser, A); }
start ::= FIELD yield_expr(A).  { parser->expression = A; }

/* ---- statements ---- */

%type file_lines {Items *}
%type stmts {Items *}
%type stmt {Items *}
%type simple_line {Items *}
%type smalls {Items *}
%type suite {Items *}

/* The module keeps its statements as they come: they survive an error that ends the file. */
file ::= .
file ::= file stmt(A).          { items_join(parser, parser->body, A); }

stmts(A) ::= stmt(A).
stmts(R) ::= stmts(A) stmt(B).  { R = items_join(parser, A, B); }

stmt(A) ::= simple_line(A).
stmt(R) ::= compound(A).        { R = items_new(parser, A); }
/* A block whose header is wrong is read for its own errors only: what it meant is unknown. */
stmt(R) ::= error NEWLINE.      { R = items_new(parser, NULL); yypParser->yyerrcnt = -1; }
stmt(R) ::= error NEWLINE INDENT stmts DEDENT. { R = items_new(parser, NULL); }

simple_line(R) ::= smalls(A) NEWLINE.          { R = A; }
simple_line(R) ::= smalls(A) SEMI(S) NEWLINE.  { R = items_end(A, S.end); }
smalls(R) ::= small(A).                        { R = items_new(parser, A); }
smalls(R) ::= smalls(A) SEMI small(B).         { R = items_add(parser, A, B); }

suite(A) ::= simple_line(A).
suite(R) ::= NEWLINE INDENT stmts(A) DEDENT.          { R = A; }
suite(R) ::= NEWLINE INDENT stmts(A) error DEDENT.    { R = A; }

/* ---- simple statements ---- */

small(R) ::= items(A). {
    Node *value = make_tuple_or_one(parser, A);
    R = MAKE(Expr, node_begin(value), node_end(value), .value = value);
}
small(R) ::= yield_expr(A).   { R = MAKE(Expr, node_begin(A), node_end(A), .value = A); }
small(R) ::= items(A) EQ rhs(B). {
    R = make_assign(parser, make_tuple_or_one(parser, A), B);
}
small(R) ::= items(A) COLON test(B). {
    R = make_annotated(parser, make_tuple_or_one(parser, A), B, NULL);
}
small(R) ::= items(A) COLON test(B) EQ value(C). {
    R = make_annotated(parser, make_tuple_or_one(parser, A), B, C);
}
small(R) ::= items(A) AUGEQ(O) value(B). {
    Node *target = make_tuple_or_one(parser, A);
    R = MAKE(AugAssign, node_begin(target), node_end(B), .target = target,
             .op = token_operator(parser, O), .value = B);
}
value(A) ::= yield_expr(A).
value(R) ::= items(A).        { R = make_tuple_or_one(parser, A); }
%type rhs {Items *}
rhs(R) ::= value(A).          { R = items_new(parser, A); }
rhs(R) ::= rhs(A) EQ value(B). { R = items_add(parser, A, B); }

small(R) ::= DEL(K) targets(A). {
    R = MAKE(Delete, K.begin, A->end, .targets = items_list(A));
}
small(R) ::= PASS(K).         { R = MAKE(Pass, K.begin, K.end, ); }
small(R) ::= BREAK(K).        { R = MAKE(Break, K.begin, K.end, ); }
small(R) ::= CONTINUE(K).     { R = MAKE(Continue, K.begin, K.end, ); }
small(R) ::= RETURN(K).       { R = MAKE(Return, K.begin, K.end, ); }
small(R) ::= RETURN(K) items(A). {
    Node *value = make_tuple_or_one(parser, A);
    R = MAKE(Return, K.begin, node_end(value), .value = value);
}
small(R) ::= RAISE(K).        { R = MAKE(Raise, K.begin, K.end, ); }
small(R) ::= RAISE(K) test(A). { R = MAKE(Raise, K.begin, node_end(A), .exc = A); }
small(R) ::= RAISE(K) test(A) FROM test(B). {
    R = MAKE(Raise, K.begin, node_end(B), .exc = A, .cause = B);
}
small(R) ::= GLOBAL(K) names(A). {
    R = MAKE(Global, K.begin, A->end, .names = items_names(parser, A));
}
small(R) ::= NONLOCAL(K) names(A). {
    R = MAKE(Nonlocal, K.begin, A->end, .names = items_names(parser, A));
}
small(R) ::= ASSERT(K) test(A). { R = MAKE(Assert, K.begin, node_end(A), .test = A); }
small(R) ::= ASSERT(K) test(A) COMMA test(B). {
    R = MAKE(Assert, K.begin, node_end(B), .test = A, .msg = B);
}
small(R) ::= TYPE(K) name(N) type_params(P) EQ test(V). {
    R = MAKE(TypeAlias, K.begin, node_end(V), .name = N, .type_params = items_list(P), .value = V);
}

%type names {Items *}
names(R) ::= name(A).                 { R = items_new(parser, A); }
names(R) ::= names(A) COMMA name(B).  { R = items_add(parser, A, B); }
name(R) ::= NAME(T).                  { R = make_name(parser, T); }

small(R) ::= IMPORT(K) modules(A). {
    R = MAKE(Import, K.begin, A->end, .names = items_list(A));
}
small(R) ::= FROM(K) dots(D) IMPORT imported(A). {
    R = make_import_from(parser, K, D, NULL, A, A->end);
}
small(R) ::= FROM(K) dots(D) dotted(M) IMPORT imported(A). {
    R = make_import_from(parser, K, D, M, A, A->end);
}
small(R) ::= FROM(K) dotted(M) IMPORT imported(A). {
    R = make_import_from(parser, K, 0, M, A, A->end);
}
dotted(R) ::= dotted_names(A).        { R = make_dotted(parser, A); }
%type dotted_names {Items *}
dotted_names(R) ::= name(A).                      { R = items_new(parser, A); }
dotted_names(R) ::= dotted_names(A) DOT name(B).  { R = items_add(parser, A, B); }
%type dots {int}
dots(A) ::= dot(A).
dots(R) ::= dots(A) dot(B).           { R = A + B; }
%type dot {int}
dot(R) ::= DOT.                       { R = 1; }
dot(R) ::= ELLIPSIS.                  { R = 3; }

%type modules {Items *}
modules(R) ::= module(A).                   { R = items_new(parser, A); }
modules(R) ::= modules(A) COMMA module(B).  { R = items_add(parser, A, B); }
module(R) ::= dotted(A). {
    R = MAKE(alias, node_begin(A), node_end(A), .name = NODE_AS(Name, A)->id);
}
module(R) ::= dotted(A) AS NAME(T). {
    R = MAKE(alias, node_begin(A), T.end, .name = NODE_AS(Name, A)->id,
             .asname = token_text(parser, T));
}
%type imported {Items *}
imported(R) ::= STAR(T). {
    R = items_new(parser, MAKE(alias, T.begin, T.end, .name = token_text(parser, T)));
}
imported(A) ::= imported_names(A).
imported(R) ::= LPAR imported_names(A) RPAR(T).             { R = items_end(A, T.end); }
imported(R) ::= LPAR imported_names(A) COMMA RPAR(T).       { R = items_end(A, T.end); }
%type imported_names {Items *}
imported_names(R) ::= imported_name(A).                     { R = items_new(parser, A); }
imported_names(R) ::= imported_names(A) COMMA imported_name(B). { R = items_add(parser, A, B); }
imported_name(R) ::= NAME(T). {
    R = MAKE(alias, T.begin, T.end, .name = token_text(parser, T));
}
imported_name(R) ::= NAME(T) AS NAME(U). {
    R = MAKE(alias, T.begin, U.end, .name = token_text(parser, T), .asname = token_text(parser, U));
}

/* ---- compound statements ---- */

%type orelse {Items *}
%type tail {Items *}
%type finally {Items *}
%type handlers {Items *}

compound(R) ::= IF(K) named(T) COLON suite(B) tail(E). {
    R = MAKE(If, K.begin, items_last(B, E, NULL), .test = T, .body = items_list(B),
             .orelse = items_list(E));
}
tail(A) ::= orelse(A).
tail(R) ::= ELIF(K) named(T) COLON suite(B) tail(E). { R = make_else(parser, K, T, B, E); }
orelse(R) ::= .               { R = NULL; }
orelse(R) ::= ELSE COLON suite(B). { R = B; }

compound(R) ::= WHILE(K) named(T) COLON suite(B) orelse(E). {
    R = MAKE(While, K.begin, items_last(B, E, NULL), .test = T, .body = items_list(B),
             .orelse = items_list(E));
}
compound(A) ::= for_stmt(A).
compound(R) ::= ASYNC(K) for_stmt(A).  { R = make_async(parser, K, A); }
for_stmt(R) ::= FOR(K) targets(T) IN items(I) COLON suite(B) orelse(E). {
    R = MAKE(For, K.begin, items_last(B, E, NULL), .target = make_tuple_or_one(parser, T),
             .iter = make_tuple_or_one(parser, I), .body = items_list(B), .orelse = items_list(E));
}

compound(R) ::= TRY(K) COLON suite(B) handlers(H) orelse(E) finally(F). {
    R = make_try(parser, K, B, H, E, F);
}
compound(R) ::= TRY(K) COLON suite(B) FINALLY COLON suite(F). {
    R = make_try(parser, K, B, NULL, NULL, F);
}
finally(R) ::= .                     { R = NULL; }
finally(R) ::= FINALLY COLON suite(B). { R = B; }
handlers(R) ::= handler(A).          { R = items_new(parser, A); }
handlers(R) ::= handlers(A) handler(B). { R = items_add(parser, A, B); }
handler(R) ::= EXCEPT(K) COLON suite(B). {
    R = make_handler(parser, K, NULL, NULL, B);
}
handler(R) ::= EXCEPT(K) test(T) COLON suite(B). {
    R = make_handler(parser, K, T, NULL, B);
}
handler(R) ::= EXCEPT(K) test(T) AS NAME(N) COLON suite(B). {
    R = make_handler(parser, K, T, &N, B);
}
handler(R) ::= EXCEPT(K) STAR test(T) COLON suite(B). {
    R = make_handler(parser, K, T, NULL, B);
}
handler(R) ::= EXCEPT(K) STAR test(T) AS NAME(N) COLON suite(B). {
    R = make_handler(parser, K, T, &N, B);
}

compound(A) ::= with_stmt(A).
compound(R) ::= ASYNC(K) with_stmt(A).  { R = make_async(parser, K, A); }
with_stmt(R) ::= WITH(K) with_items(A) COLON suite(B). { R = make_with(parser, K, A, B); }
%type with_items {Items *}
with_items(R) ::= with_item(A).                      { R = items_new(parser, A); }
with_items(R) ::= with_items(A) COMMA with_item(B).  { R = items_add(parser, A, B); }
with_item(R) ::= test(A). {
    R = MAKE(withitem, node_begin(A), node_end(A), .context_expr = A);
}
with_item(R) ::= test(A) AS expr(B). {
    R = MAKE(withitem, node_begin(A), node_end(B), .context_expr = A, .optional_vars = B);
}

/* ---- definitions ---- */

compound(A) ::= def(A).
compound(R) ::= decorators(D) def(A).   { R = make_decorated(parser, D, A); }
%type decorators {Items *}
decorators(R) ::= decorator(A).                { R = items_new(parser, A); }
decorators(R) ::= decorators(A) decorator(B).  { R = items_add(parser, A, B); }
decorator(R) ::= AT named(A) NEWLINE.          { R = A; }

def(A) ::= funcdef(A).
def(R) ::= ASYNC(K) funcdef(A).   { R = make_async(parser, K, A); }
funcdef(R) ::= DEF(K) NAME(N) type_params(T) LPAR params(P) RPAR(E) returns(X) COLON suite(B). {
    R = MAKE(FunctionDef, K.begin, B->end, .name = token_text(parser, N),
             .args = make_arguments(parser, P, E.begin), .body = items_list(B), .returns = X,
             .type_params = items_list(T));
}
returns(R) ::= .                  { R = NULL; }
returns(R) ::= ARROW test(A).     { R = A; }
def(R) ::= CLASS(K) NAME(N) type_params(T) COLON suite(B). {
    R = make_class(parser, K, N, T, NULL, B);
}
def(R) ::= CLASS(K) NAME(N) type_params(T) LPAR RPAR COLON suite(B). {
    R = make_class(parser, K, N, T, NULL, B);
}
def(R) ::= CLASS(K) NAME(N) type_params(T) LPAR args(A) RPAR COLON suite(B). {
    R = make_class(parser, K, N, T, A, B);
}

%type params {Params *}
%type param_list {Params *}
%type param {Param}
params(R) ::= .                            { R = NULL; }
params(A) ::= param_list(A).
params(R) ::= param_list(A) COMMA.         { R = A; }
param_list(R) ::= param(A).                { R = params_add(parser, NULL, A); }
param_list(R) ::= param_list(A) COMMA param(B). { R = params_add(parser, A, B); }
param(R) ::= typed(A).                     { R = make_param(PARAM_PLAIN, A, NULL, (Token){0}); }
param(R) ::= typed(A) EQ test(B).          { R = make_param(PARAM_PLAIN, A, B, (Token){0}); }
param(R) ::= SLASH(T).                     { R = make_param(PARAM_SLASH, NULL, NULL, T); }
param(R) ::= STAR(T).                      { R = make_param(PARAM_STAR, NULL, NULL, T); }
param(R) ::= STAR(T) typed(A).             { R = make_param(PARAM_STAR, A, NULL, T); }
param(R) ::= STAR(T) NAME(N) COLON star_expr(A). {
    R = make_param(PARAM_STAR, make_arg(parser, N, A), NULL, T);
}
param(R) ::= DOUBLESTAR(T) typed(A).       { R = make_param(PARAM_DOUBLE_STAR, A, NULL, T); }
typed(R) ::= NAME(N).                      { R = make_arg(parser, N, NULL); }
typed(R) ::= NAME(N) COLON test(A).        { R = make_arg(parser, N, A); }

%type lambda_params {Params *}
%type lambda_param {Param}
lambda_params(R) ::= lambda_param(A).      { R = params_add(parser, NULL, A); }
lambda_params(R) ::= lambda_params(A) COMMA lambda_param(B). { R = params_add(parser, A, B); }
lambda_param(R) ::= untyped(A).            { R = make_param(PARAM_PLAIN, A, NULL, (Token){0}); }
lambda_param(R) ::= untyped(A) EQ test(B). { R = make_param(PARAM_PLAIN, A, B, (Token){0}); }
lambda_param(R) ::= SLASH(T).              { R = make_param(PARAM_SLASH, NULL, NULL, T); }
lambda_param(R) ::= STAR(T).               { R = make_param(PARAM_STAR, NULL, NULL, T); }
lambda_param(R) ::= STAR(T) untyped(A).    { R = make_param(PARAM_STAR, A, NULL, T); }
lambda_param(R) ::= DOUBLESTAR(T) untyped(A). { R = make_param(PARAM_DOUBLE_STAR, A, NULL, T); }
untyped(R) ::= NAME(N).                    { R = make_arg(parser, N, NULL); }

%type type_params {Items *}
%type type_param_list {Items *}
type_params(R) ::= .                                      { R = NULL; }
type_params(R) ::= LSQB type_param_list(A) RSQB.          { R = A; }
type_params(R) ::= LSQB type_param_list(A) COMMA RSQB.    { R = A; }
type_param_list(R) ::= type_param(A).                     { R = items_new(parser, A); }
type_param_list(R) ::= type_param_list(A) COMMA type_param(B). { R = items_add(parser, A, B); }
type_param(R) ::= NAME(N). {
    R = MAKE(TypeVar, N.begin, N.end, .name = token_text(parser, N));
}
type_param(R) ::= NAME(N) COLON test(A). {
    R = MAKE(TypeVar, N.begin, node_end(A), .name = token_text(parser, N), .bound = A);
}
type_param(R) ::= STAR(T) NAME(N). {
    R = MAKE(TypeVarTuple, T.begin, N.end, .name = token_text(parser, N));
}
type_param(R) ::= DOUBLESTAR(T) NAME(N). {
    R = MAKE(ParamSpec, T.begin, N.end, .name = token_text(parser, N));
}

/* ---- lists of expressions ---- */

%type items {Items *}
%type item_list {Items *}
%type targets {Items *}
%type target_list {Items *}
items(A) ::= item_list(A).
items(R) ::= item_list(A) COMMA(T).        { R = items_end(A, T.end); }
item_list(R) ::= item(A).                  { R = items_new(parser, A); }
item_list(R) ::= item_list(A) COMMA item(B). { R = items_add(parser, A, B); }
item(A) ::= test(A).
item(A) ::= star_expr(A).
targets(A) ::= target_list(A).
targets(R) ::= target_list(A) COMMA(T).    { R = items_end(A, T.end); }
target_list(R) ::= target(A).              { R = items_new(parser, A); }
target_list(R) ::= target_list(A) COMMA target(B). { R = items_add(parser, A, B); }
target(A) ::= expr(A).
target(A) ::= star_expr(A).
star_expr(R) ::= STAR(T) expr(A).          { R = make_starred(parser, T, A); }
yield_expr(R) ::= YIELD(K).                { R = MAKE(Yield, K.begin, K.end, ); }
yield_expr(R) ::= YIELD(K) items(A). {
    Node *value = make_tuple_or_one(parser, A);
    R = MAKE(Yield, K.begin, node_end(value), .value = value);
}
yield_expr(R) ::= YIELD(K) FROM test(A). {
    R = MAKE(YieldFrom, K.begin, node_end(A), .value = A);
}

/* ---- expressions, from the loosest binding to the tightest ---- */

named(A) ::= test(A).
named(A) ::= walrus(A).
walrus(R) ::= test(A) COLONEQ test(B). {
    R = MAKE(NamedExpr, node_begin(A), node_end(B), .target = A, .value = B);
}
test(A) ::= or_test(A).
test(R) ::= or_test(A) IF or_test(B) ELSE test(C). {
    R = MAKE(IfExp, node_begin(A), node_end(C), .test = B, .body = A, .orelse = C);
}
test(R) ::= LAMBDA(K) COLON(T) test(A). {
    R = MAKE(Lambda, K.begin, node_end(A), .args = make_arguments(parser, NULL, T.begin),
             .body = A);
}
test(R) ::= LAMBDA(K) lambda_params(P) COLON(T) test(A). {
    R = MAKE(Lambda, K.begin, node_end(A), .args = make_arguments(parser, P, T.begin), .body = A);
}
test(R) ::= LAMBDA(K) lambda_params(P) COMMA COLON(T) test(A). {
    R = MAKE(Lambda, K.begin, node_end(A), .args = make_arguments(parser, P, T.begin), .body = A);
}
%type or_list {Items *}
%type and_list {Items *}
or_test(A) ::= and_test(A).
or_test(R) ::= or_list(A).         { R = make_bool(parser, OPERATOR_Or, A); }
or_list(R) ::= and_test(A) OR and_test(B). { R = items_add(parser, items_new(parser, A), B); }
or_list(R) ::= or_list(A) OR and_test(B).  { R = items_add(parser, A, B); }
and_test(A) ::= not_test(A).
and_test(R) ::= and_list(A).       { R = make_bool(parser, OPERATOR_And, A); }
and_list(R) ::= not_test(A) AND not_test(B). { R = items_add(parser, items_new(parser, A), B); }
and_list(R) ::= and_list(A) AND not_test(B). { R = items_add(parser, A, B); }
not_test(R) ::= NOT(T) not_test(A). { R = make_unary(parser, T, OPERATOR_Not, A); }
not_test(A) ::= expr(A).
not_test(R) ::= comparison(A).     { R = compare_finish(parser, A); }
%type comparison {CompareChain *}
comparison(R) ::= expr(A) compare_op(O) expr(B). {
    R = compare_add(parser, compare_begin(parser, A), O, B);
}
comparison(R) ::= comparison(A) compare_op(O) expr(B). { R = compare_add(parser, A, O, B); }
%type compare_op {Operator}
compare_op(R) ::= COMPARE(T).      { R = token_operator(parser, T); }
compare_op(R) ::= IN.              { R = OPERATOR_In; }
compare_op(R) ::= NOT IN.          { R = OPERATOR_NotIn; }
compare_op(R) ::= IS.              { R = OPERATOR_Is; }
compare_op(R) ::= IS NOT.          { R = OPERATOR_IsNot; }
expr(A) ::= xor(A).
expr(R) ::= expr(A) BAR xor(B).    { R = make_binary(parser, A, OPERATOR_BitOr, B); }
xor(A) ::= and(A).
xor(R) ::= xor(A) CARET and(B).    { R = make_binary(parser, A, OPERATOR_BitXor, B); }
and(A) ::= shift(A).
and(R) ::= and(A) AMP shift(B).    { R = make_binary(parser, A, OPERATOR_BitAnd, B); }
shift(A) ::= arith(A).
shift(R) ::= shift(A) SHIFT(T) arith(B). {
    R = make_binary(parser, A, token_operator(parser, T), B);
}
arith(A) ::= term(A).
arith(R) ::= arith(A) PLUS term(B).   { R = make_binary(parser, A, OPERATOR_Add, B); }
arith(R) ::= arith(A) MINUS term(B).  { R = make_binary(parser, A, OPERATOR_Sub, B); }
term(A) ::= factor(A).
term(R) ::= term(A) STAR factor(B).   { R = make_binary(parser, A, OPERATOR_Mult, B); }
term(R) ::= term(A) SLASH factor(B).  { R = make_binary(parser, A, OPERATOR_Div, B); }
term(R) ::= term(A) AT factor(B).     { R = make_binary(parser, A, OPERATOR_MatMult, B); }
term(R) ::= term(A) MULOP(T) factor(B). {
    R = make_binary(parser, A, token_operator(parser, T), B);
}
factor(R) ::= PLUS(T) factor(A).   { R = make_unary(parser, T, OPERATOR_UAdd, A); }
factor(R) ::= MINUS(T) factor(A).  { R = make_unary(parser, T, OPERATOR_USub, A); }
factor(R) ::= TILDE(T) factor(A).  { R = make_unary(parser, T, OPERATOR_Invert, A); }
factor(A) ::= power(A).
power(A) ::= awaited(A).
power(R) ::= awaited(A) DOUBLESTAR factor(B). { R = make_binary(parser, A, OPERATOR_Pow, B); }
awaited(A) ::= primary(A).
awaited(R) ::= AWAIT(K) primary(A). { R = MAKE(Await, K.begin, node_end(A), .value = A); }

primary(A) ::= atom(A).
primary(R) ::= primary(A) DOT NAME(T). {
    R = MAKE(Attribute, node_begin(A), T.end, .value = A, .attr = token_text(parser, T));
}
primary(R) ::= primary(A) LPAR(O) RPAR(C).          { R = make_call(parser, A, O, NULL, C); }
primary(R) ::= primary(A) LPAR(O) args(B) RPAR(C).  { R = make_call(parser, A, O, B, C); }
primary(R) ::= primary(A) LSQB subs(B) RSQB(C).     { R = make_subscript(parser, A, B, C); }

%type args {Items *}
%type arg_list {Items *}
args(A) ::= arg_list(A).
args(R) ::= arg_list(A) COMMA(T).          { R = items_end(A, T.end); }
arg_list(R) ::= arg(A).                    { R = items_new(parser, A); }
arg_list(R) ::= arg_list(A) COMMA arg(B).  { R = items_add(parser, A, B); }
arg(A) ::= named(A).
arg(R) ::= named(A) clauses(B).            { R = make_bare_generator(parser, A, B); }
arg(R) ::= test(A) EQ test(B).             { R = make_keyword(parser, A, B); }
arg(R) ::= STAR(T) test(A).                { R = make_starred(parser, T, A); }
arg(R) ::= DOUBLESTAR(T) test(A). {
    R = MAKE(keyword, T.begin, node_end(A), .value = A);
}

%type subs {Items *}
%type sub_list {Items *}
subs(A) ::= sub_list(A).
subs(R) ::= sub_list(A) COMMA(T).          { R = items_end(A, T.end); }
sub_list(R) ::= sub(A).                    { R = items_new(parser, A); }
sub_list(R) ::= sub_list(A) COMMA sub(B).  { R = items_add(parser, A, B); }
sub(A) ::= named(A).
sub(A) ::= star_expr(A).
sub(R) ::= bound(A) COLON(T) bound(B).     { R = make_slice(parser, A, T, B, NULL, NULL); }
sub(R) ::= bound(A) COLON(T) bound(B) COLON(U) bound(C). {
    R = make_slice(parser, A, T, B, &U, C);
}
bound(R) ::= .                             { R = NULL; }
bound(A) ::= test(A).

/* ---- atoms ---- */

%type strings {Strings *}
atom(A) ::= name(A).
atom(R) ::= NUMBER(T).             { R = make_number(parser, T); }
atom(R) ::= strings(A).            { R = make_strings(parser, A); }
atom(R) ::= ELLIPSIS(T).           { R = make_literal(parser, T, LITERAL_ELLIPSIS); }
atom(R) ::= NONE(T).               { R = make_literal(parser, T, LITERAL_NONE); }
atom(R) ::= TRUE(T).               { R = make_literal(parser, T, LITERAL_TRUE); }
atom(R) ::= FALSE(T).              { R = make_literal(parser, T, LITERAL_FALSE); }
strings(R) ::= STRING(T).          { R = strings_add(parser, NULL, T); }
strings(R) ::= strings(A) STRING(T). { R = strings_add(parser, A, T); }

atom(R) ::= LPAR(O) RPAR(C).       { R = MAKE(Tuple, O.begin, C.end, ); }
atom(R) ::= LPAR(O) yield_expr(A) RPAR(C). { R = node_widen(A, O.begin, C.end); }
atom(R) ::= LPAR(O) group(A) RPAR(C).      { R = make_group(parser, O, A, C); }
atom(R) ::= LPAR(O) element(A) clauses(B) RPAR(C). {
    R = make_generator(parser, NODE_GeneratorExp, O, A, B, C);
}
%type group {Items *}
%type group_list {Items *}
group(A) ::= group_list(A).
group(R) ::= group_list(A) COMMA(T).           { R = items_end(A, T.end); }
group_list(R) ::= member(A).                   { R = items_new(parser, A); }
group_list(R) ::= group_list(A) COMMA member(B). { R = items_add(parser, A, B); }
member(A) ::= element(A).
member(R) ::= test(A) AS expr(B). {
    R = MAKE(withitem, node_begin(A), node_end(B), .context_expr = A, .optional_vars = B);
}

atom(R) ::= LSQB(O) RSQB(C).               { R = MAKE(List, O.begin, C.end, ); }
atom(R) ::= LSQB(O) elements(A) RSQB(C). {
    R = MAKE(List, O.begin, C.end, .elts = items_list(A));
}
atom(R) ::= LSQB(O) element(A) clauses(B) RSQB(C). {
    R = make_generator(parser, NODE_ListComp, O, A, B, C);
}
%type elements {Items *}
%type element_list {Items *}
elements(A) ::= element_list(A).
elements(R) ::= element_list(A) COMMA(T).      { R = items_end(A, T.end); }
element_list(R) ::= element(A).                { R = items_new(parser, A); }
element_list(R) ::= element_list(A) COMMA element(B). { R = items_add(parser, A, B); }
element(A) ::= named(A).
element(A) ::= star_expr(A).

atom(R) ::= LBRACE(O) RBRACE(C).               { R = MAKE(Dict, O.begin, C.end, ); }
atom(R) ::= LBRACE(O) elements(A) RBRACE(C).   { R = make_braces(parser, O, A, C); }
atom(R) ::= LBRACE(O) element(A) clauses(B) RBRACE(C). {
    R = make_generator(parser, NODE_SetComp, O, A, B, C);
}
atom(R) ::= LBRACE(O) pairs(A) RBRACE(C).        { R = make_dict(parser, O, A, C); }
atom(R) ::= LBRACE(O) pairs(A) COMMA RBRACE(C).  { R = make_dict(parser, O, A, C); }
atom(R) ::= LBRACE(O) pair(A) clauses(B) RBRACE(C). {
    R = make_dict_comprehension(parser, O, A, B, C);
}
/* A pair is a Slice for as long as it takes: key and value, no key for `**x`. */
%type pairs {Items *}
pairs(R) ::= pair(A).                      { R = items_new(parser, A); }
pairs(R) ::= pairs(A) COMMA pair(B).       { R = items_add(parser, A, B); }
pair(R) ::= test(A) COLON test(B). {
    R = MAKE(Slice, node_begin(A), node_end(B), .lower = A, .upper = B);
}
pair(R) ::= DOUBLESTAR(T) expr(B).         { R = MAKE(Slice, T.begin, node_end(B), .upper = B); }

%type clauses {Items *}
%type conditions {Items *}
clauses(R) ::= clause(A).                  { R = items_new(parser, A); }
clauses(R) ::= clauses(A) clause(B).       { R = items_add(parser, A, B); }
clause(R) ::= FOR(K) targets(T) IN or_test(I) conditions(C). {
    R = MAKE(comprehension, K.begin, C == NULL ? node_end(I) : C->end,
             .target = make_tuple_or_one(parser, T), .iter = I, .ifs = items_list(C));
}
clause(R) ::= ASYNC(K) FOR targets(T) IN or_test(I) conditions(C). {
    R = MAKE(comprehension, K.begin, C == NULL ? node_end(I) : C->end,
             .target = make_tuple_or_one(parser, T), .iter = I, .ifs = items_list(C),
             .is_async = 1);
}
conditions(R) ::= .                        { R = NULL; }
conditions(R) ::= conditions(A) IF or_test(B). {
    R = A == NULL ? items_new(parser, B) : items_add(parser, A, B);
}

/* ---- match: indent.c makes the word a keyword where its line ends in a colon ---- */

compound(R) ::= MATCH(K) subject(S) COLON NEWLINE INDENT cases(C) DEDENT. {
    R = MAKE(Match, K.begin, C->end, .subject = make_tuple_or_one(parser, S),
             .cases = items_list(C));
}
%type subject {Items *}
%type subject_list {Items *}
subject(A) ::= subject_list(A).
subject(R) ::= subject_list(A) COMMA(T).       { R = items_end(A, T.end); }
subject_list(R) ::= element(A).                { R = items_new(parser, A); }
subject_list(R) ::= subject_list(A) COMMA element(B). { R = items_add(parser, A, B); }
%type cases {Items *}
%type case {Items *}
cases(A) ::= case(A).
cases(R) ::= cases(A) case(B).                 { R = items_join(parser, A, B); }
case(R) ::= CASE(K) patterns(P) guard(G) COLON suite(B). {
    R = items_new(parser, MAKE(match_case, K.begin, B->end,
                               .pattern = make_pattern_sequence(parser, P), .guard = G,
                               .body = items_list(B)));
}
case(R) ::= error NEWLINE.                         { R = items_new(parser, NULL); }
case(R) ::= error NEWLINE INDENT stmts DEDENT.     { R = items_new(parser, NULL); }
guard(R) ::= .                                 { R = NULL; }
guard(R) ::= IF named(A).                      { R = A; }

%type patterns {Items *}
%type pattern_list {Items *}
patterns(A) ::= pattern_list(A).
patterns(R) ::= pattern_list(A) COMMA(T).      { R = items_end(A, T.end); }
pattern_list(R) ::= star_pattern(A).           { R = items_new(parser, A); }
pattern_list(R) ::= pattern_list(A) COMMA star_pattern(B). { R = items_add(parser, A, B); }
star_pattern(A) ::= pattern(A).
star_pattern(R) ::= STAR(T) NAME(N).           { R = make_pattern_star(parser, T, N); }
pattern(A) ::= or_pattern(A).
pattern(R) ::= or_pattern(A) AS NAME(N).       { R = make_pattern_as(parser, A, N); }
%type alternatives {Items *}
or_pattern(A) ::= closed(A).
or_pattern(R) ::= alternatives(A). {
    R = MAKE(MatchOr, A->begin, A->end, .patterns = items_list(A));
}
alternatives(R) ::= closed(A) BAR closed(B).   { R = items_add(parser, items_new(parser, A), B); }
alternatives(R) ::= alternatives(A) BAR closed(B). { R = items_add(parser, A, B); }

closed(R) ::= constant(A).                     { R = make_pattern_value(parser, A); }
closed(R) ::= path(A).                         { R = make_capture(parser, A); }
closed(R) ::= path(A) LPAR RPAR(C).            { R = make_pattern_class(parser, A, NULL, C); }
closed(R) ::= path(A) LPAR class_args(B) RPAR(C).  { R = make_pattern_class(parser, A, B, C); }
closed(R) ::= path(A) LPAR class_args(B) COMMA RPAR(C). {
    R = make_pattern_class(parser, A, B, C);
}
closed(R) ::= LPAR(O) RPAR(C).                 { R = MAKE(MatchSequence, O.begin, C.end, ); }
closed(R) ::= LPAR(O) patterns(A) RPAR(C).     { R = make_pattern_group(parser, O, A, C); }
closed(R) ::= LSQB(O) RSQB(C).                 { R = MAKE(MatchSequence, O.begin, C.end, ); }
closed(R) ::= LSQB(O) patterns(A) RSQB(C). {
    R = MAKE(MatchSequence, O.begin, C.end, .patterns = items_list(A));
}
closed(R) ::= LBRACE(O) RBRACE(C).             { R = make_pattern_mapping(parser, O, NULL, C); }
closed(R) ::= LBRACE(O) entries(A) RBRACE(C).  { R = make_pattern_mapping(parser, O, A, C); }
closed(R) ::= LBRACE(O) entries(A) COMMA RBRACE(C). {
    R = make_pattern_mapping(parser, O, A, C);
}
path(A) ::= name(A).
path(A) ::= attribute(A).
attribute(R) ::= path(A) DOT NAME(T). {
    R = MAKE(Attribute, node_begin(A), T.end, .value = A, .attr = token_text(parser, T));
}
constant(A) ::= signed(A).
constant(R) ::= signed(A) PLUS number(B).      { R = make_binary(parser, A, OPERATOR_Add, B); }
constant(R) ::= signed(A) MINUS number(B).     { R = make_binary(parser, A, OPERATOR_Sub, B); }
constant(R) ::= strings(A).                    { R = make_strings(parser, A); }
constant(R) ::= NONE(T).                       { R = make_literal(parser, T, LITERAL_NONE); }
constant(R) ::= TRUE(T).                       { R = make_literal(parser, T, LITERAL_TRUE); }
constant(R) ::= FALSE(T).                      { R = make_literal(parser, T, LITERAL_FALSE); }
signed(A) ::= number(A).
signed(R) ::= MINUS(T) number(A).              { R = make_unary(parser, T, OPERATOR_USub, A); }
number(R) ::= NUMBER(T).                       { R = make_number(parser, T); }

%type class_args {Items *}
class_args(R) ::= class_arg(A).                { R = items_new(parser, A); }
class_args(R) ::= class_args(A) COMMA class_arg(B). { R = items_add(parser, A, B); }
class_arg(A) ::= pattern(A).
class_arg(R) ::= NAME(N) EQ pattern(A). {
    R = MAKE(keyword, N.begin, node_end(A), .arg = token_text(parser, N), .value = A);
}
%type entries {Items *}
entries(R) ::= entry(A).                       { R = items_new(parser, A); }
entries(R) ::= entries(A) COMMA entry(B).      { R = items_add(parser, A, B); }
entry(R) ::= constant(K) COLON pattern(A). {
    R = MAKE(Slice, node_begin(K), node_end(A), .lower = K, .upper = A);
}
entry(R) ::= attribute(K) COLON pattern(A). {
    R = MAKE(Slice, node_begin(K), node_end(A), .lower = K, .upper = A);
}
entry(R) ::= DOUBLESTAR NAME(N).               { R = make_name(parser, N); }
