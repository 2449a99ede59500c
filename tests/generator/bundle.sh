#!/usr/bin/env bash
# bundle.sh FOLDER [BUILD]: what a machine with a GPU and Python needs to run generated programs, on both and compared (gpu.py). There,
# in FOLDER: ./run.sh OUT [SEED], which leaves OUT/generated.txt: 100 programs of each dialect, 50 of thread groups and of pipelines.
set -eu
cd "$(dirname "$0")"
folder=$1 build=${2:-../../build}
mkdir -p "$folder/generator" "$folder/fuzz"
folder=$(realpath "$folder")
cp ./*.py "$folder/generator"
cp ../fuzz/*.py "$folder/fuzz"
strip -o "$folder/differ" "$build/reference/differ"
xz -T1 -2 -f "$folder/differ"
cat > "$folder/run.sh" <<'END'
#!/usr/bin/env bash
# run.sh OUT [SEED]
cd "$(dirname "$0")"
out=$1 seed=${2:-920000} work=$(mktemp -d)
mkdir -p "$work/reference"
xz -dc differ.xz > "$work/reference/differ" 2> /dev/null ||
    python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open("differ.xz"), open(sys.argv[1], "wb"))' "$work/reference/differ"
chmod +x "$work/reference/differ"
jobs=$(nproc)
some() { # COUNT JOBS DIALECT...
    python3 generator/gpu.py "$work" --seed "$seed" --count "$1" --jobs "$2" --seconds "${SECONDS_EACH:-480}" --progress --keep "$out/kept" \
        $(printf -- '--dialect %s ' "${@:3}")
}
some 50 $(((jobs + 1) / 2)) pipelines groups > "$work/slow.txt" 2>&1 &
some 100 $(((jobs + 1) / 2)) parts tilelang tilus warp loops > "$work/quick.txt" 2>&1
wait
cat "$work/quick.txt" "$work/slow.txt" | tee "$out/generated.txt" | tail -40
rm -r "$work"
END
chmod +x "$folder/run.sh"
du -sk "$folder" | cut -f 1 | sed 's/$/ KiB/'
