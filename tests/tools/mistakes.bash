# mistakes.bash: programs with a mistake each, and the message of each. `mistakes INDENT` reads them: what stands before the first line `== TITLE`
# is around every program whose title is followed by no `(whole)`: its lines, indented by INDENT blanks, are where `...` stands. A line
# `$ COMMAND` says how a program is looked at (else: compiled to PTX, for sm_80). A message of more than five lines is one fault of this test, and so is a
# program with no message.
DEFAULT='$TILEC k.py --arch=sm_80 --ptxas=none -o k.o'

look_at() { # TITLE BODY COMMAND
    local said status
    echo "== $1"
    said=$(eval "${3:-$DEFAULT}" 2>&1)
    status=$?
    echo "$said"
    [ $status -ne 0 ] || [[ $said == *warning:* || $said == *remark:* ]] || echo "!! THIS IS NO MISTAKE"
    awk '/: (error|warning|remark): / { lines = 0 } ++lines > 5 { long = 1 } END { exit long }' <<<"$said" ||
        echo "!! MORE THAN FIVE LINES"
}

mistakes() { # INDENT
    local line title= body= command= head= margin
    printf -v margin '%*s' "$1" ''
    end_one() {
        [ -n "$title" ] || { head=$body; return; }
        if [[ $title == *'(whole)' ]]; then
            printf '%s' "$body"
        else
            printf '%s' "${head%%...*}"
            sed "s/^/$margin/" <<<"${body%$'\n'}"
            printf '%s' "${head#*...$'\n'}"
        fi >k.py
        look_at "${title% (whole)}" "$body" "$command"
    }
    while IFS= read -r line; do
        case $line in
            '== '*) end_one; title=${line#== } body='' command='' ;;
            '$ '*) command=${line#\$ } ;;
            *) body+=$line$'\n' ;;
        esac
    done
    end_one
}
cd "$TMP"
