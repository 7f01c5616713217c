// SPDX-License-Identifier: MIT

/// The commands of the tool.
package enum Commands {
    /// The help text for `--transform`.
    private static let transformers =
        "Transformers are applied in the given order and are separated by commas: \(TransformList.usage). A color is "
        + "#rrggbb, #rrggbbaa, black, white, or clear."
    /// The help text for `--policy`.
    private static let policies = "Cache policy: http (default), cache-first, refresh, reload, cache-only."

    package static let load = CommandSpec(
        "load", operands: "URL…",
        summary: "Load images through the cache and report where each one came from.",
        details: [
            "An argument can also be the path of a file. “-” reads URLs from standard input and @FILE from a file, one "
                + "URL per line. A failed image doesn’t stop the others.",
            "--output writes the original data. With --size, --transform, or --format, the image is encoded again.",
            transformers,
        ],
        options: [
            .size,
            OptionSpec("output", letter: "o", value: "DIR", help: "Write the images to this directory."),
            .transform,
            OptionSpec(
                "format", letter: "f", value: "jpeg|png|webp", help: "Encode the written images in this format."),
            OptionSpec("policy", letter: "p", value: "POLICY", help: policies),
            .cache,
            OptionSpec("tag", value: "TAG", help: "Store the images with this tag, for “cache clear --tag”."),
            OptionSpec(
                "preview", value: "progressive|blurred",
                help: "Create previews during the download: the part received so far, or the whole image, blurred."),
            OptionSpec("preview-out", value: "DIR", help: "Write the previews to this directory, as numbered PNGs."),
            OptionSpec(
                "concurrency", letter: "c", value: "N", help: "Maximum number of concurrent loads (32 by default)."),
            OptionSpec(
                "trace", value: "FILE",
                help: "Record a trace for Perfetto or about:tracing. URLs are stored without queries and credentials."),
            .json,
            OptionSpec("quiet", letter: "q", help: "Print only errors."),
        ])

    package static let show = CommandSpec(
        "show", operands: "FILE|URL…",
        summary: "Display images in the terminal.",
        details: [
            "“-” reads standard input. Images are decoded at their displayed size and never enlarged beyond one column "
                + "per pixel. Animations repeat as often as the file specifies. If there are several inputs, an "
                + "animation that repeats indefinitely plays once. Any key continues with the next input, and Ctrl-C "
                + "ends the command.",
            "The style auto uses pixels if the terminal is known to support them (kitty first, then sixels), and block "
                + "characters otherwise. If the output is a pipe or a file, it uses plain characters without colors, "
                + "and only the first frame of an animation. A style set with --as also uses colors there. The "
                + "environment variable NO_COLOR disables colors.",
        ],
        options: [
            OptionSpec("as", value: "auto|sixels|kitty|symbols", help: "Output style (auto by default)."),
            OptionSpec(
                "size", letter: "s", value: "COLSxROWS",
                help: "Maximum size in character cells (the terminal’s size by default). One side can be omitted."),
            OptionSpec(
                "background", letter: "b", value: "COLOR",
                help: "Background of transparent pixels: terminal (default), checkerboard, or a color like #334455."),
            OptionSpec("frame", letter: "n", value: "N", help: "Show only this frame, counted from 0."),
            OptionSpec("still", help: "Show only the first frame."),
            OptionSpec(
                "loops", letter: "l", value: "N",
                help: "Number of times to play an animation (0 repeats indefinitely)."),
        ])

    package static let info = CommandSpec(
        "info", operands: "FILE|URL…",
        summary: "Print the format, size, orientation, frames, and color profile of images.",
        options: [.json])

    package static let decode = CommandSpec(
        "decode", operands: "FILE",
        summary: "Decode an image to raw pixels.",
        details: [
            "Writes premultiplied RGBA with 8 bits per sample, row by row without padding, and prints the width and "
                + "the height. “-” reads standard input."
        ],
        options: [
            OptionSpec("frame", letter: "n", value: "N", help: "Decode this frame, counted from 0."),
            .size,
            OptionSpec("rgba", value: "OUT", help: "Output file for the pixels (required)."),
        ])

    package static let convert = CommandSpec(
        "convert", operands: "IN OUT",
        summary: "Convert an image to the format that the extension of OUT names.",
        details: [
            "“-” as IN reads standard input.",
            "The formats .gif, .webp, .apng, .avif, and .jxl preserve animations. Other formats, such as .png and "
                + ".jpg, contain only the first frame. --frames selects frames by numbers and ranges from 0, in "
                + "playback order, such as 0-9, 2,5,8-12, 10- (to the last frame), or 9-0 (backward). If OUT contains "
                + "%d, as in frame-%03d.png, each frame is written to a separate file with its number.",
            transformers,
        ],
        options: [
            .size,
            .transform,
            OptionSpec("frame", letter: "n", value: "N", help: "Convert only this frame, counted from 0."),
            OptionSpec("frames", value: "LIST", help: "Convert only these frames, such as 0-9 or 2,5,8-."),
            OptionSpec(
                "depth", value: "8|16",
                help: "Bits per sample (8 by default). 16 requires support by the input and the output format."),
            OptionSpec(
                "loop", value: "N",
                help: "Number of times the animation plays (0 repeats indefinitely). By default, it doesn’t change."),
        ] + OptionSpec.encoding)

    package static let cache = CommandSpec(
        "cache", operands: "path|info|list|show KEY|verify|trim|clear|export DIR|import DIR|import URL FILE…",
        summary: "Inspect and manage the disk cache.",
        details: [
            "path prints the directory of the cache, info prints statistics, and list prints the entries, the most "
                + "recently used first. show describes one entry. KEY is its URL, key, or a prefix of its file name.",
            "verify reads every entry, removes corrupt entries, and exits with status 1 if it finds any. trim removes "
                + "the least recently used entries until the cache is within its limit or --size. clear removes all "
                + "entries, or only those that match --older-than, --host, and --tag.",
            "export writes the original data and manifest.json to a new directory. With --entries, it copies the entry "
                + "files unchanged, so that an app can bundle them. import reads such a directory, pairs of a URL and "
                + "an image file, or the pairs in the file of --list. It rejects data that isn’t an image, and then "
                + "exits with status 1.",
        ],
        options: [
            .cache,
            OptionSpec("size", letter: "s", value: "BYTES", help: "trim: maximum size of the cache, such as 64MiB."),
            OptionSpec("sort", value: "use|size|age|host", help: "list: sort order."),
            OptionSpec(
                "glob", letter: "g", value: "PATTERN", help: "list, clear, export: only URLs that match the pattern."),
            OptionSpec(
                "older-than", value: "TIME",
                help: "clear: only entries stored longer ago than this, such as 12h or 30d."),
            OptionSpec("host", value: "HOST", help: "clear: only entries from this host or its subdomains."),
            OptionSpec("tag", value: "TAG", help: "clear: only entries with this tag. import: the tag to set."),
            OptionSpec("entries", help: "export: entry files instead of images and a manifest."),
            OptionSpec(
                "list", letter: "l", value: "FILE",
                help: "import: a file in which each line contains a URL, a space, and a path."),
            .json,
        ])

    package static let demo = CommandSpec(
        "demo", operands: "",
        summary: "Load the bundled album from a local server: cold, from memory, from disk, revalidated.",
        details: [
            "Starts a server on 127.0.0.1, loads the album four times, prints the times of each pass and the requests "
                + "that the server received, and draws contact-sheet.png. Some images of the album are invalid on "
                + "purpose. If the result of an image isn’t as expected, the exit status is 1."
        ],
        options: [
            OptionSpec(
                "output", letter: "o", value: "DIR", help: "Directory of contact-sheet.png (./demo by default).")
        ])

    package static let gallery = CommandSpec(
        "gallery", operands: "[URL|FILE|DIR|LIST]…",
        summary: "Browse images in a window.",
        details: [
            "A directory includes all images in it and in its subdirectories. “-” reads URLs from standard input and "
                + "@FILE from a file, one URL per line. Without arguments, the gallery shows the bundled album. A "
                + "server on 127.0.0.1 provides it with different URLs for as many images as --cells specifies. "
                + "--delay, --failures, and --speed simulate network problems.",
            "Enter or a click opens an image, the arrow keys move between images, and Escape goes back. F1 lists all "
                + "shortcuts. You can drop images and URLs on the window. The command requires a display and a build "
                + "with GTK (trait GTK).",
        ],
        options: [
            OptionSpec("size", letter: "s", value: "N", help: "Thumbnail size in points, 96 to 320 (168 by default)."),
            OptionSpec(
                "transition", value: "none|cross-fade|slide|flip|zoom",
                help: "Transition with which images appear (cross-fade by default)."),
            OptionSpec(
                "placeholder", value: "none|color|blurhash",
                help: "Placeholder until the image appears (blurhash by default, if the image has one)."),
            OptionSpec("policy", letter: "p", value: "POLICY", help: policies),
            OptionSpec(
                "theme", value: "system|light|dark", help: "Color scheme of the window (the system’s by default)."),
            OptionSpec("sort", value: "given|name|source", help: "Sort order (given by default)."),
            OptionSpec(
                "filter", letter: "f", value: "WORDS", help: "Show only images whose names contain all these words."),
            OptionSpec("cells", letter: "n", value: "N", help: "Number of images of the album (2400 by default)."),
            OptionSpec("broken", help: "Include the album’s invalid images."),
            OptionSpec("delay", value: "TIME", help: "Delay of each response of the album’s server, such as 0.5s."),
            OptionSpec("failures", value: "N", help: "Percentage of responses that fail."),
            OptionSpec("speed", value: "BYTES", help: "Maximum bytes per second of each response, such as 50K."),
            OptionSpec("no-retry", help: "Don’t retry failed loads."),
            .cache,
        ])

    /// All commands, in the order of the help text.
    package static let all = [load, show, gallery, info, decode, convert, cache, demo]
}
