#!/usr/bin/env python3
"""performance.py [FOLDER]: writes docs/performance.md and its plots, or the same into FOLDER, from tests/bench/results/*.json.

The newest file of each kind and GPU counts. Needs nothing but Python."""
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = os.path.join(ROOT, "tests", "bench", "results")
SCALE = 300  # pixels for a ratio of 1
MOST = 2.0  # what is more is drawn up to here


def newest(ending):
    """The newest result of each GPU whose file name is DATE-GPU + ending, by name of the GPU."""
    found = {}
    for name in sorted(os.listdir(RESULTS)):
        middle = name[len("2026-11-23-"):-len(ending)]
        if name.endswith(ending) and middle and "-" not in middle:
            with open(os.path.join(RESULTS, name)) as file:
                found[middle] = json.load(file)
    return found


def table(head, rows, numbers=1):
    """Rows as a table in Markdown; all columns behind the first `numbers` are right-aligned."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * numbers + "---:|" * (len(head) - numbers)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows] + [""]


def contenders(result):
    """(row, contender, cuBLAS's part, its own part) of all that is measured beside cuBLAS."""
    cublas = {row["row"]: row for row in result["rows"] if row["contender"] == "cuBLAS"}
    return [(row["row"], row["contender"], cublas[row["row"]], row) for row in result["rows"]
            if not row["contender"].startswith("cuBLAS")]


def compared(result):
    rows = []
    for name, contender, cublas, row in contenders(result):
        a, b = row["sustained"], row["burst"]
        rows.append([f"`{name}`", contender, f"{a['us']:.1f}", f"{cublas['sustained']['us']:.1f}", f"{a['tflops']:.0f}",
                     f"{a['ratio']:.2f}", f"{b['ratio']:.2f}"])
    head = ["product", "kernel", "µs", "µs of cuBLAS", "TFLOP/s", "ratio in a row", "ratio alone"]
    return table(head, rows, numbers=2)


def plot(gpu, result):
    """Ratios to cuBLAS as bars, in a row (dark) and alone (light)."""
    rows = contenders(result)
    left, step, top = 250, 22, 30
    width, height = left + int(SCALE * MOST) + 60, top + step * len(rows) + 10
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="11">',
             f'<title>Products on {gpu}: times of cuBLAS by those of tilec</title>',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             f'<text x="{left + SCALE}" y="18" text-anchor="middle">as fast as cuBLAS</text>']
    for i, (name, contender, _, row) in enumerate(rows):
        y = top + step * i
        label = name if contender == "tilec" else f"{name}, {contender.removeprefix('tilec-')}"
        parts.append(f'<text x="{left - 6}" y="{y + 12}" text-anchor="end">{label}</text>')
        for k, (kind, colour) in enumerate((("sustained", "#2b6cb0"), ("burst", "#90cdf4"))):
            ratio = row[kind]["ratio"]
            length = min(ratio, MOST) * SCALE
            parts.append(f'<rect x="{left}" y="{y + 2 + 8 * k}" width="{length:.1f}" height="7" fill="{colour}"/>')
            if ratio > MOST:
                parts.append(f'<text x="{left + length + 4:.1f}" y="{y + 9 + 8 * k}" font-size="8">{ratio:.2f}</text>')
    parts.append(f'<line x1="{left + SCALE}" x2="{left + SCALE}" y1="22" y2="{height}" stroke="#888"/></svg>')
    return "\n".join(parts) + "\n"


def median(values):
    return sorted(values)[len(values) // 2]


def launches(result):
    rows = []
    for entry in dict.fromkeys(row["entry"] for row in result["launch"]):
        mine = [row for row in result["launch"] if row["entry"] == entry]
        rows.append([f"`{entry}`" if entry != "bare again" else "`cuLaunchKernelEx` again", median([row["ns"] for row in mine]),
                     median([row["bare_ns"] for row in mine]), f"{median([row['ratio'] for row in mine]):.3f}"])
    return table(["call", "ns", "ns of `cuLaunchKernelEx`", "ratio"], rows)


def compile_times(result):
    return table(["command", "median ms", "least ms"], [[f"`{row['row']}`", row["median_ms"], row["least_ms"]] for row in result["compile"]])


def machine(result):
    return f"{result['gpu']}, driver {result['driver']}, {result['date'][:10]}"


def page():
    compare, runs = newest("-compare.json"), newest(".json")
    files, lines = {}, []
    add = lines.append
    add("# Performance\n")
    add("<!-- docs/performance.py makes this page from tests/bench/results -->\n")
    add("What was measured, on which GPU and when; `tests/bench/README.md` says how, and what to run to measure it anew. Every result was compared with a")
    add("product in float64 before it was timed. A ratio is the time of cuBLAS by that of tilec: above 1 tilec is faster.\n")
    for gpu, result in sorted(compare.items()):
        add(f"## Products beside cuBLAS on {gpu}\n")
        add(f"{machine(result)}; {result['rounds']} rounds, medians. `in a row` is launches without a pause, `alone` single ones after a pause, with an empty L2.\n")
        name = f"performance-{gpu}.svg"
        add(f"![Ratios to cuBLAS on {gpu}; dark: in a row, light: alone]({name})\n")
        files[name] = plot(result["gpu"], result)
        lines.extend(compared(result))
    for gpu, result in sorted(runs.items()):
        if "launch" in result:
            add(f"## Launches on {gpu}\n")
            add(f"{machine(result)}. The time of the host for a call: of a kernel's typed C function, of `tile_launch`, and of the driver's own call twice, which")
            add("is what the method cannot tell apart.\n")
            lines.extend(launches(result))
    for gpu, result in [(gpu, result) for gpu, result in sorted(runs.items()) if "compile" in result][:1]:
        add("## Compiling\n")
        add(f"Whole processes of `tilec` on the machine of the {gpu} above, from start to end, for sm_90a.\n")
        lines.extend(compile_times(result))
    add("## Examples of other systems, and libraries\n")
    add("The examples of TileLang, Tilus and Warp beside their own compilers, attention beside cuDNN, transforms and factors beside cuFFT and cuSOLVER:")
    add("`tests/bench/results` has the tables, by day and GPU, and `tests/bench/examples.py`, `attention.py` and `batched.py` measure them.")
    files["performance.md"] = "\n".join(lines) + "\n"
    return files


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "docs")
    for name, text in page().items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
