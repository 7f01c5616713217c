# SPDX-License-Identifier: MIT
"""The report of `make wall`: medians, ratios to the better browser, and a plot."""
import datetime
import json
import os
import platform
import statistics
import subprocess

# The measurements, their units, their numbers of digits, and the movement that measures them. A goal is the highest ratio of
# the gallery to the better browser.
FIGURES = {
    "first": ("first image", "s", 2, "pages", 0.9),
    "visible": ("all visible images", "s", 2, "pages", 0.95),
    "all": ("all images, page by page", "s", 2, "pages", None),
    "processor": ("processor time", "s", 2, "pages", 0.3),
    "pss": ("memory (PSS)", "MiB", 0, "pages", 0.16),
    "bytes": ("bytes received", "MB", 2, "pages", None),
    "blankCells": ("fling: empty cell-seconds", "s", 1, "fling", 0.5),
    "blankResting": ("fling: empty cell-seconds at rest", "s", 1, "fling", None),
    "longestFrame": ("fling: longest frame", "s", 3, "fling", None),
    "fling processor": ("fling: processor time", "s", 2, "fling", None),
    "fling bytes": ("fling: bytes received", "MB", 2, "fling", None),
    "wallpapers peak": ("wallpapers: peak memory (resident)", "MiB", 0, "wallpapers", None),
    "wallpapers pss": ("wallpapers: memory at the end (PSS)", "MiB", 0, "wallpapers", None),
    "wallpapers all": ("wallpapers: all images, page by page", "s", 2, "wallpapers", None),
}
BROWSERS = ("chromium", "firefox")
TITLES = {"http1": "HTTP/1.1", "http2": "HTTP/2", "unlimited": "unlimited", "10M": "10 Mbit/s, 80 ms",
          "2M": "2 Mbit/s, 200 ms"}


def collect(results):
    """Returns the values of each figure by profile, protocol, and program."""
    values = {}
    for run in results:
        if "error" in run:
            continue
        for figure, (_, unit, _, movement, _) in FIGURES.items():
            value = run.get(figure.split()[-1])
            if run["movement"] != movement or value is None:
                continue
            key = (run["profile"], run["protocol"], figure, run["program"])
            values.setdefault(key, []).append(value / 1e6 if unit == "MB" else value)
    return values


def tables(results, programs):
    """Returns a list of conditions with the rows of their tables."""
    values = collect(results)
    conditions = []
    for profile, protocol in dict.fromkeys((run["profile"], run["protocol"]) for run in results):
        rows = []
        for figure, (title, unit, digits, _, goal) in FIGURES.items():
            medians = {}
            for program in programs:
                found = values.get((profile, protocol, figure, program))
                if found:
                    medians[program] = {"median": statistics.median(found), "min": min(found), "max": max(found),
                                        "count": len(found)}
            if not medians:
                continue
            browsers = [medians[name]["median"] for name in BROWSERS if name in medians]
            ratio = None
            if browsers and "gallery" in medians and min(browsers) > 0:
                ratio = medians["gallery"]["median"] / min(browsers)
            rows.append({"figure": figure, "title": title, "unit": unit, "digits": digits, "programs": medians,
                         "ratio": ratio, "goal": goal})
        conditions.append({"profile": profile, "protocol": protocol, "rows": rows})
    return conditions


def limits(condition, options):
    """Returns the shortest times, in seconds, in which the visible images and all images can arrive, or `None` if the
    rate isn't limited: three round trips for TCP, TLS, and the request, and the transfer of the files."""
    rate, trip = options.network[condition["profile"]]
    if not rate:
        return None
    return tuple(3 * trip / 1000 + 8 * size / rate for size in (options.visible_bytes, options.all_bytes))


def fling_remark(condition, options):
    """Returns lines about the limit of the fling."""
    row = next((row for row in condition["rows"] if row["figure"] == "blankCells"), None)
    limit = options.fling_limits.get(condition["profile"])
    if row is None or limit is None:
        return []
    text = (f"A program that knows the fling in advance has at least {limit:.1f} empty cell-seconds with this network "
            "and the processors of this machine (`Benchmarks/Wall/fling.c`)")
    browsers = [row["programs"][name]["median"] for name in BROWSERS if name in row["programs"]]
    if browsers and min(browsers) > 0:
        ratio = limit / min(browsers)
        text += f", which is a ratio of {ratio:.2f}"
        if ratio > row["goal"]:
            text += ", so the goal can't be reached"
    return ["", text + "."]


def wallpaper_remark(condition, options):
    """Returns lines about the limit of the memory for wallpapers."""
    if options.wallpaper_limit is None or all(row["figure"] != "wallpapers peak" for row in condition["rows"]):
        return []
    return ["", f"libjpeg needs up to {options.wallpaper_limit:.0f} MiB of the peak memory for the coefficients of one "
            "progressive file (`Benchmarks/Wall/progressive.c`). The goal is 150 MiB."]


def verdict(row):
    if row["goal"] is None or row["ratio"] is None:
        return ""
    return "pass" if row["ratio"] <= row["goal"] else "MISS"


def markdown(conditions, results, skipped, programs, options, facts):
    lines = ["# The wall", "",
             f"Date: {facts['date']}. Machine: {facts['processors']} cores, {facts['system']}. "
             f"{options.rounds} round{'s' if options.rounds > 1 else ''}. "
             + ", ".join(f"{name} {version}" for name, version in facts["versions"].items()) + ".", ""]
    if options.note:
        lines += [options.note, ""]
    for name, reason in skipped.items():
        lines += [f"{name} was skipped: {reason}.", ""]
    lines += ["Each cell contains the median and, in parentheses, the lowest and the highest value. The ratio is the "
              "median of the gallery divided by that of the better browser. `Benchmarks/README.md` describes the "
              "measurements.", ""]
    for condition in conditions:
        lines += [f"## {TITLES[condition['profile']]}, {TITLES[condition['protocol']]}", "",
                  "| figure | " + " | ".join(programs) + " | ratio | goal | |",
                  "|---|" + "---|" * (len(programs) + 3)]
        for row in condition["rows"]:
            cells = []
            for program in programs:
                found = row["programs"].get(program)
                digits = row["digits"]
                cells.append("–" if found is None else f"{found['median']:.{digits}f} {row['unit']} "
                             f"({found['min']:.{digits}f}–{found['max']:.{digits}f})")
            ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
            goal = "" if row["goal"] is None else f"{row['goal']}"
            lines.append(f"| {row['title']} | " + " | ".join(cells) + f" | {ratio} | {goal} | {verdict(row)} |")
        if found := limits(condition, options):
            lines += ["", f"At this rate, the visible images can arrive after {found[0]:.2f} s, and all images after "
                      f"{found[1]:.2f} s."]
        lines += fling_remark(condition, options) + wallpaper_remark(condition, options)
        lines.append("")
    errors = [run for run in results if "error" in run or run.get("failures")]
    if errors:
        lines += ["## Failed runs", ""]
        for run in errors:
            what = run.get("error") or f"{run['failures']:.0f} images failed"
            lines.append(f"- Round {run['round'] + 1}, {TITLES[run['profile']]}, {TITLES[run['protocol']]}, "
                         f"{run['movement']}, {run['program']}: {' '.join(what.split())}")
        lines.append("")
    return "\n".join(lines)


def plot(conditions):
    """Returns a plot of the ratios as SVG. Each figure has a row, each condition a mark, and each goal a line."""
    figures = [name for name, (*_, goal) in FIGURES.items() if goal is not None]
    left, top, width, height, most = 210, 40, 470, 46, 1.5
    colors = {"unlimited": "#2a78d6", "10M": "#1a8f4c", "2M": "#d0582a"}
    total = top + height * len(figures) + 70
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{total}" viewBox="0 0 720 {total}" '
             'font-family="sans-serif" font-size="13">',
             "<title>The gallery divided by the better browser. Lower values are better.</title>",
             f'<rect width="720" height="{total}" fill="#ffffff"/>',
             '<text x="16" y="22" font-size="15" font-weight="bold" fill="#222222">Gallery divided by the better browser '
             "(lower is better)</text>"]

    def place(value):
        return left + width * min(value, most) / most

    bottom = top + height * len(figures)
    for step in range(0, 16, 5):
        x = place(step / 10)
        parts.append(f'<line x1="{x:.0f}" x2="{x:.0f}" y1="{top}" y2="{bottom}" stroke="#dddddd"/>'
                     f'<text x="{x:.0f}" y="{bottom + 18}" text-anchor="middle" fill="#555555">{step / 10:.1f}'
                     f'{"+" if step == 15 else ""}</text>')
    for index, figure in enumerate(figures):
        title, _, _, _, goal = FIGURES[figure]
        y = top + height * index + height / 2
        parts.append(f'<text x="{left - 12}" y="{y + 4:.0f}" text-anchor="end" fill="#222222">{title}</text>')
        x = place(goal)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y - 16:.0f}" y2="{y + 16:.0f}" stroke="#222222" '
                     f'stroke-width="2"><title>goal {goal}</title></line>')
        for number, condition in enumerate(conditions):
            ratio = next((row["ratio"] for row in condition["rows"] if row["figure"] == figure), None)
            if ratio is None:
                continue
            offset = (number - (len(conditions) - 1) / 2) * 5
            color = colors[condition["profile"]]
            fill = color if condition["protocol"] == "http2" else "#ffffff"
            name = f"{TITLES[condition['profile']]}, {TITLES[condition['protocol']]}: {ratio:.2f}"
            parts.append(f'<circle cx="{place(ratio):.1f}" cy="{y + offset:.1f}" r="5" fill="{fill}" stroke="{color}" '
                         f'stroke-width="2"><title>{name}</title></circle>')
    x = left
    for profile in dict.fromkeys(condition["profile"] for condition in conditions):
        parts.append(f'<circle cx="{x}" cy="{bottom + 44}" r="5" fill="{colors[profile]}"/>'
                     f'<text x="{x + 10}" y="{bottom + 48}" fill="#222222">{TITLES[profile]}</text>')
        x += 140
    parts.append(f'<text x="16" y="{bottom + 48}" fill="#555555">hollow: HTTP/1.1; line: goal</text></svg>')
    return "\n".join(parts) + "\n"


def versions(programs):
    commands = {"chromium": ["chromium", "--version"], "firefox": ["firefox-esr", "--version"]}
    found = {}
    for name in programs:
        if name in commands:
            text = subprocess.run(commands[name], capture_output=True, text=True).stdout
            found[name] = next((word for word in text.split() if word[0].isdigit()), "")
    return found


def write_report(directory, results, skipped, programs, options, layout):
    """Writes the reports and prints the tables."""
    facts = {"date": datetime.date.today().isoformat(), "processors": os.cpu_count(),
             "system": f"{platform.system()} {platform.release()}", "versions": versions(programs)}
    conditions = tables(results, programs)
    for condition in conditions:
        condition["limits"] = limits(condition, options)
    directory.mkdir(parents=True, exist_ok=True)
    text = markdown(conditions, results, skipped, list(programs), options, facts)
    (directory / "wall.md").write_text(text)
    (directory / "wall.svg").write_text(plot(conditions))
    content = {**facts, "note": options.note, "rounds": options.rounds, "skipped": skipped, "layout": layout,
               "conditions": conditions, "runs": results}
    (directory / "wall.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    print(text)
