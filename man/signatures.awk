# signatures.awk -v stdlib=FOLDER -v module=MODULE [-v class=CLASS]: the public names of a module of the standard library, or of a class of
# one, with those of its bases; a line each: the name, a tab, and how it is called, or nothing of what is not called.
# A name that another module defines is looked up there.
BEGIN {
    if (class == "") list_module(module)
    else list_class(module, class)
}
function path_of(m,   path, line) {
    path = m
    gsub(/\./, "/", path)
    path = stdlib "/" path
    if ((getline line < (path ".tile")) >= 0) {
        close(path ".tile")
        return path ".tile"
    }
    return path "/__init__.tile"
}
# Lines whose brackets are open go on.
function statement(path,   line, more, open) {
    if ((getline line < path) <= 0) return 0
    sub(/  # .*/, "", line)
    text = line
    while (depth(text) > 0 && (getline more < path) > 0) {
        sub(/^ +/, "", more)
        sub(/  # .*/, "", more)
        text = text (text ~ /[(\[]$/ ? "" : " ") more
    }
    return 1
}
function depth(text,   opened, closed) {
    opened = gsub(/[(\[{]/, "&", text)
    closed = gsub(/[)\]}]/, "&", text)
    return text ~ /^ *#/ ? 0 : opened - closed
}
function add(m, name) {
    if (!((m, name) in known)) names[m, ++count[m]] = name
    known[m, name] = 1
}
function arguments(text) {
    sub(/^[^(]*\(/, "", text)
    sub(/\)(: *| -> .*)$/, "", text)
    sub(/^self(, |$)/, "", text)
    sub(/^\/, /, "", text)
    gsub(/: (core\.)?(Place|Ref|Lazy|Ahead)/, "", text)
    return "(" text ")"
}
function load(m,   path, inside, property, parts, i, target, values, n, from) {
    if (loaded[m]++) return
    path = path_of(m)
    while (statement(path)) {
        if (text ~ /^@/ || text ~ /^ +@/) {
            property = text ~ /@property/
            continue
        }
        if (text ~ /^from .* import /) {
            from = text
            sub(/^from /, "", from)
            sub(/ import.*/, "", from)
            sub(/^.* import \(?/, "", text)
            sub(/,? *\)$/, "", text)
            n = split(text, parts, /, */)
            for (i = 1; i <= n; i++) {
                split(parts[i], values, / as /)
                target = values[2] == "" ? values[1] : values[2]
                add(m, target)
                origin[m, target] = from
                original[m, target] = values[1]
            }
        } else if (text ~ /^def /) {
            inside = ""
            sub(/^def /, "", text)
            target = text
            sub(/\(.*/, "", target)
            add(m, target)
            form[m, target] = arguments(text)
        } else if (text ~ /^class /) {
            sub(/^class /, "", text)
            inside = text
            sub(/[(:].*/, "", inside)
            add(m, inside)
            bases[m, inside] = text ~ /\(/ ? text : ""
            sub(/^[^(]*\(/, "", bases[m, inside])
            sub(/\).*/, "", bases[m, inside])
            is_class[m, inside] = 1
        } else if (text ~ /^    def / && inside != "") {
            sub(/^    def /, "", text)
            target = text
            sub(/\(.*/, "", target)
            if (target == "__init__") form[m, inside] = arguments(text)
            methods[m, inside, ++method_count[m, inside]] = target
            form[m, inside, target] = property ? "" : arguments(text)
        } else if (text ~ /^    [a-z][a-z0-9_]* = [A-Z][A-Za-z0-9_]*$/ && inside != "") {
            split(text, values, / = /)
            target = substr(values[1], 5)
            methods[m, inside, ++method_count[m, inside]] = target
            space[m, inside, target] = values[2]
        } else if (text ~ /^    [a-z][a-z0-9_]* = [A-Z][A-Za-z0-9_]*\(/ && inside != "") {
            split(text, values, / = /)
            methods[m, inside, ++method_count[m, inside]] = substr(values[1], 5)
        } else if (text ~ /^[A-Za-z_][A-Za-z_0-9, ]* = /) {
            from = text
            sub(/^[^=]* = /, "", from)
            sub(/ = .*/, "", text)
            n = split(text, parts, /, */)
            split(from, values, /, */)
            for (i = 1; i <= n; i++) {
                add(m, parts[i])
                if (values[i] ~ /^[A-Za-z_][A-Za-z0-9_]*$/) alias[m, parts[i]] = values[i]
            }
        }
        property = 0
    }
    close(path)
}
function signature(m, name) {
    load(m)
    if ((m, name) in alias && alias[m, name] != name) return signature(m, alias[m, name])
    if ((m, name) in origin) return origin[m, name] == "__core__" ? "" : signature(origin[m, name], original[m, name])
    return form[m, name]
}
function list_module(m,   i, name) {
    load(m)
    for (i = 1; i <= count[m]; i++) {
        name = names[m, i]
        if (name ~ /^_[^_]/ || name ~ /^__.*__$/ || name == "core") continue
        print name "\t" signature(m, name)
    }
}
function list_class(m, c,   parts, i, n, name) {
    load(m)
    if ((m, c) in origin) {
        list_class(origin[m, c], original[m, c])
        return
    }
    for (i = 1; i <= method_count[m, c]; i++) {
        name = methods[m, c, i]
        if (name ~ /^_/ || seen[prefix name]++) continue
        if ((m, c, name) in space) {
            prefix = name "."
            list_class(m, space[m, c, name])
            prefix = ""
        } else print prefix name "\t" form[m, c, name]
    }
    n = split(bases[m, c], parts, /, */)
    for (i = 1; i <= n; i++) list_class(m, parts[i])
}
