# page.awk -v folder=FOLDER PAGE.md: what a reader copies from a page. FOLDER/steps has a line for each step, in order:
#   file NUMBER NAME      a block whose fence names a language and a file: the text of the file is FOLDER/NUMBER
#   run NUMBER            a block of commands, ```sh
#   said NUMBER LINE      a block behind it, ```output: what the commands print; LINE is where the block begins in the page
# Blocks of other kinds (```text) are not for copying.
function begin(step) {
    print step > (folder "/steps")
    target = folder "/" count
    printf "" > target
}
/^```/ && !inside {
    inside = 1
    target = ""
    split(substr($0, 4), word, / /)
    count++
    if (word[2] != "") begin("file " count " " word[2])
    else if (word[1] == "sh") begin("run " count)
    else if (word[1] == "output") begin("said " count " " NR)
    next
}
/^```/ { inside = 0; if (target != "") close(target); next }
inside && target != "" { print > target }
