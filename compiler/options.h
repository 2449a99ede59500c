/* options.h: the command line. */
#ifndef TILEC_OPTIONS_H
#define TILEC_OPTIONS_H

#include "base/base.h"

typedef struct TextList {
    const char **items;
    int count;
} TextList;

/* One field an option: FLAG bool, VALUE and JOINED const char * (NULL if absent), lists TextList.
 */
#define OPTION_FIELD_FLAG(field)        bool field;
#define OPTION_FIELD_VALUE(field)       const char *field;
#define OPTION_FIELD_JOINED(field)      const char *field;
#define OPTION_FIELD_LIST(field)        TextList field;
#define OPTION_FIELD_JOINED_LIST(field) TextList field;

typedef struct Options {
    const char *command;   /* of commands.def */
    TextList inputs;       /* words that are no options */
    TextList given;        /* those that are */
    TextList export_files; /* that --export @FILE named; their lines are among the exports */
#define OPTION(field, spelling, kind, argument, help) OPTION_FIELD_##kind(field)
#include "options.def"
#undef OPTION
} Options;

/* False: reported. "@FILE" among the words stands for the words in FILE. */
bool options_parse(Session *session, int count, char **words, Options *out);
/* Warns of options that are for other commands. */
void options_warn(Session *session, const Options *options);
void options_help(Buf *out);
/* "did you mean ...?" of a word that may be a command. */
void options_hint_command(Session *session, const char *word);
bool text_in_list(const char *list, const char *text); /* "a,b" holds "b"; NULL holds nothing */

#define TILEC_VERSION "0.1.0"

#endif
