# completion.awk: the completion of tilec's command line for bash, from options.def and commands.def.
function field(line, n,   parts) {
    split(line, parts, "\"")
    return parts[2 * n]
}
/^OPTION\(/ {
    value = $0 !~ /, FLAG, /
    spelling = field($0, 1)
    options = options " " spelling (value && spelling ~ /^--/ ? "=" : "")
    next
}
/^COMMAND\(/ {
    commands = commands " " field($0, 1)
    next
}
END {
    print "# Completion of tilec's command line; generated."
    print "_tilec()"
    print "{"
    print "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}"
    print "    [ \"$word\" = = ] && word="
    print "    [ \"$before\" = = ] && before=${COMP_WORDS[COMP_CWORD-2]}"
    print "    case $before in"
    print "    --arch|--target) COMPREPLY=($(compgen -W \"$(tilec --list-archs 2>/dev/null)\" -- \"$word\")); return ;;"
    print "    --emit) COMPREPLY=($(compgen -W 'ast ir thread-ir llvm ptx cubin obj header manifest' -- \"$word\")); return ;;"
    print "    --diagnostics) COMPREPLY=($(compgen -W 'text json' -- \"$word\")); return ;;"
    print "    --device) COMPREPLY=($(compgen -W 'cuda emulator' -- \"$word\")); return ;;"
    print "    esac"
    print "    case $word in"
    print "    -*) COMPREPLY=($(compgen -W '" substr(options, 2) "' -- \"$word\"))"
    print "        [[ ${COMPREPLY[*]} == *= ]] && compopt -o nospace ;;"
    print "    *)  COMPREPLY=($(compgen -f -- \"$word\"))"
    print "        [ \"$COMP_CWORD\" = 1 ] && COMPREPLY+=($(compgen -W '" substr(commands, 2) "' -- \"$word\")) ;;"
    print "    esac"
    print "}"
    print "complete -o filenames -F _tilec tilec"
}
