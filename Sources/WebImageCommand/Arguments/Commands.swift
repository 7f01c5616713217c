// SPDX-License-Identifier: MIT

/// The commands of the tool.
package enum Commands {
    /// The help text for `--transform`.
    private static let transformers =
        "Transformers are applied in the given order and are separated by commas: \(TransformList.usage). A color is "
        + "#rrggbb, #rrggbbaa, black, white, or clear."
    /// The help text for operands.
    private static let inputs =
        "An argument is a URL, the path of a file, or “-” for an image from standard input. Without a scheme, "
        + "https:// is added if no such file exists and the text begins with a host name."

    package static let fetch = CommandSpec(
        "fetch", operands: "URL|FILE|DIR…",
        summary: "Fetch images through the cache and report where each one came from.",
        details: [
            inputs + " A directory includes all images in it and in its subdirectories. A failed image doesn’t stop "
                + "the others.",
            "--output and --output-dir write the original data. With --size, --transform, --format, or an encoding "
                + "option, the image is encoded again. The extension of the output file then names the format, unless "
                + "--format specifies it.",
            transformers,
        ],
        options: [
            .size,
            OptionSpec(
                "output", letter: "o", value: "FILE|-",
                help: "Write the image to this file or to standard output. Only for one image."),
            OptionSpec("output-dir", letter: "d", value: "DIR", help: "Write the images to this directory."),
            OptionSpec("no-clobber", letter: "n", help: "Don’t overwrite existing files."),
            .transform,
            .format,
            .cachePolicy,
            .cacheDirectory,
            .encryptionKeyFile,
            OptionSpec("tag", value: "TAG", help: "Store the images with this tag, for “cache clear --tag”."),
            OptionSpec(
                "previews", value: "progressive|blurred",
                help: "Create previews during the download: the part received so far, or the whole image, blurred."),
            OptionSpec("preview-dir", value: "DIR", help: "Write the previews to this directory, as numbered PNGs."),
            .inputFile,
            OptionSpec("jobs", letter: "j", value: "N", help: "Maximum number of concurrent loads (32 by default)."),
            OptionSpec(
                "trace", value: "FILE",
                help: "Record a trace for Perfetto or about:tracing. URLs are stored without queries and credentials."),
            .json,
        ] + OptionSpec.encoding + OptionSpec.network)

    package static let show = CommandSpec(
        "show", operands: "FILE|URL…",
        summary: "Display images in the terminal.",
        details: [
            inputs,
            "Images are decoded at their displayed size and never enlarged beyond one column per pixel. Animations "
                + "repeat as often as the file specifies. If there are several inputs, an animation that repeats "
                + "indefinitely plays once. Any key continues with the next input, and Ctrl-C ends the command.",
            "The format auto uses pixels if the terminal is known to support them (kitty first, then sixels), and "
                + "block characters otherwise. If the output is a pipe or a file, it uses plain characters without "
                + "colors, and only the first frame of an animation. A format set with --format also uses colors "
                + "there, unless --color is never.",
        ],
        options: [
            OptionSpec(
                "format", letter: "f", value: "auto|sixels|kitty|symbols", help: "Output format (auto by default)."),
            OptionSpec(
                "size", letter: "s", value: "COLSxROWS",
                help: "Maximum size in character cells (the terminal’s size by default). One side can be omitted."),
            OptionSpec(
                "background", letter: "b", value: "COLOR",
                help: "Background of transparent pixels: terminal (default), checkerboard, or a color like #334455."),
            OptionSpec(
                "frames", value: "LIST", help: "Show only these frames, counted from 0, such as 3, 0-9, or 2,5,8-."),
            OptionSpec("still", help: "Show only the first frame."),
            OptionSpec(
                "loop", value: "N", help: "Number of times to play an animation (0 repeats indefinitely)."),
            .optionalCacheDirectory,
        ] + OptionSpec.network)

    package static let info = CommandSpec(
        "info", operands: "FILE|URL…",
        summary: "Print the format, size, orientation, frames, and color profile of images.",
        details: [inputs],
        options: [
            OptionSpec("exif", help: "Also print the EXIF tags."), .json, .optionalCacheDirectory,
        ] + OptionSpec.network)

    package static let decode = CommandSpec(
        "decode", operands: "IN",
        summary: "Decode an image to raw pixels.",
        details: [
            inputs,
            "Writes the pixels row by row without padding, and several frames one after another. The pixels of rgba8 "
                + "and rgba16 have premultiplied alpha. The samples of rgba16 have 16 bits in the byte order of the "
                + "machine. rgb8 omits alpha, so transparent pixels are black.",
            "The command prints the width and the height to standard output, or to standard error if the pixels are "
                + "written to standard output.",
        ],
        options: [
            OptionSpec(
                "output", letter: "o", value: "FILE|-", help: "Output file for the pixels (standard output by default)."
            ),
            OptionSpec("pixel-format", value: "rgba8|rgba16|rgb8", help: "Format of the pixels (rgba8 by default)."),
            .size,
            .frames,
            .optionalCacheDirectory,
        ] + OptionSpec.network)

    package static let convert = CommandSpec(
        "convert", operands: "IN OUT",
        summary: "Convert images to another format.",
        details: [
            inputs + " The extension of OUT names the format, unless --format specifies it. “-” as OUT writes to "
                + "standard output and requires --format.",
            "With --output-dir, all arguments are inputs, and a directory includes all images in it. --format then "
                + "specifies the format of the output files.",
            "The formats gif, webp, apng, avif, and jxl preserve animations. Other formats, such as png and jpeg, "
                + "contain only the first frame. --frames selects frames by numbers and ranges from 0, in playback "
                + "order, such as 3, 0-9, 2,5,8-12, 10- (to the last frame), or 9-0 (backward). If OUT contains %d, "
                + "as in frame-%03d.png, each frame is written to a separate file with its number.",
            transformers,
        ],
        options: [
            .format,
            OptionSpec(
                "output-dir", letter: "d", value: "DIR", help: "Convert all arguments and write them to this directory."
            ),
            .size,
            .transform,
            .frames,
            OptionSpec(
                "bit-depth", value: "8|16",
                help: "Bits per sample (8 by default). 16 requires support by the input and the output format."),
            OptionSpec(
                "loop", value: "N",
                help: "Number of times the animation plays (0 repeats indefinitely). By default, it doesn’t change."),
            .optionalCacheDirectory,
        ] + OptionSpec.encoding + OptionSpec.network)

    /// The names of the actions of `cache`.
    package static let cacheActions = [
        "path", "info", "list", "show", "verify", "trim", "clear", "export", "import",
    ]

    package static let cache = CommandSpec(
        "cache", operands: "path|info|list|show KEY|verify|trim|clear|export DIR|import DIR|import URL FILE…",
        words: cacheActions,
        summary: "Inspect and manage the disk cache.",
        details: [
            "path prints the directory of the cache, info prints statistics, and list prints the entries, the most "
                + "recently used first. show describes one entry. KEY is its URL, key, or a prefix of its file name.",
            "verify reads every entry, removes corrupt entries, and exits with status 1 if it finds any. trim removes "
                + "entries that are older than --max-age, or the least recently used entries until the cache is "
                + "within --max-size (its limit by default). clear removes all entries, or only those that match "
                + "--older-than, --host, --tag, and --glob.",
            "export writes the original data and manifest.json to a new directory. With --as entries, it copies the "
                + "entry files unchanged, so that an app can bundle them. import reads such a directory, pairs of a "
                + "URL and an image file, or the pairs in the file of --input-file. It rejects data that isn’t an "
                + "image, and then exits with status 1.",
            "A directory that doesn’t exist is an error if --cache-dir specifies it, except for path and import.",
        ],
        options: [
            .cacheDirectory,
            .encryptionKeyFile,
            OptionSpec("max-size", value: "BYTES", help: "trim: maximum size of the cache, such as 64M."),
            OptionSpec(
                "max-age", value: "TIME",
                help: "trim: maximum time since an entry was stored or revalidated, such as 12h or 30d."),
            OptionSpec("sort", value: "accessed|size|age|host", help: "list: sort order (accessed by default)."),
            OptionSpec(
                "glob", letter: "g", value: "PATTERN", help: "list, clear, export: only URLs that match the pattern."),
            OptionSpec(
                "older-than", value: "TIME",
                help: "clear: only entries stored longer ago than this, such as 12h or 30d."),
            OptionSpec("host", value: "HOST", help: "clear: only entries from this host or its subdomains."),
            OptionSpec("tag", value: "TAG", help: "clear: only entries with this tag. import: the tag to set."),
            OptionSpec(
                "as", value: "images|entries",
                help: "export: images and a manifest (default), or unchanged entry files."),
            OptionSpec("decrypt", help: "export: write the entries of an encrypted cache unencrypted."),
            OptionSpec(
                "input-file", letter: "i", value: "FILE",
                help: "import: a file in which each line contains a URL, a space, and a path (- for standard input)."),
            .json,
        ])

    package static let demo = CommandSpec(
        "demo", operands: "",
        summary: "Fetch the bundled album from a local server: cold, from memory, from disk, revalidated.",
        details: [
            "Starts a server on 127.0.0.1, fetches the album four times, prints the times of each pass and the "
                + "requests that the server received, and draws contact-sheet.png. Some images of the album are "
                + "invalid on purpose. If the result of an image isn’t as expected, the exit status is 1."
        ],
        options: [
            OptionSpec(
                "output-dir", letter: "d", value: "DIR", help: "Directory of contact-sheet.png (./demo by default).")
        ])

    package static let gallery = CommandSpec(
        "gallery", operands: "[URL|FILE|DIR]…",
        summary: "Browse images in a window.",
        details: [
            inputs + " A directory includes all images in it and in its subdirectories. Without arguments, the "
                + "gallery shows the bundled album. A server on 127.0.0.1 provides it with different URLs for as "
                + "many images as --count specifies. --delay, --failure-rate, and --limit-rate simulate network "
                + "problems.",
            "Enter or a click opens an image, the arrow keys move between images, and Escape goes back. Ctrl+? lists "
                + "all shortcuts. You can drop images and URLs on the window. The command requires a display and a "
                + "build with GTK (trait GTK).",
        ],
        options: [
            .inputFile,
            OptionSpec("thumbnail-size", value: "N", help: "Thumbnail size in points, 96 to 320 (168 by default)."),
            OptionSpec(
                "transition", value: "none|cross-fade|slide|flip|zoom",
                help: "Transition with which images appear (cross-fade by default)."),
            OptionSpec(
                "placeholder", value: "none|color|blurhash",
                help: "Placeholder until the image appears (blurhash by default, if the image has one)."),
            .cachePolicy,
            OptionSpec(
                "color-scheme", value: "system|light|dark", help: "Color scheme of the window (system by default)."),
            OptionSpec("sort", value: "none|name|url", help: "Sort order (none by default)."),
            OptionSpec("search", value: "WORDS", help: "Show only images whose names contain all these words."),
            OptionSpec("count", value: "N", help: "Number of images of the album (2400 by default)."),
            OptionSpec("include-damaged", help: "Include the album’s invalid images."),
            OptionSpec("delay", value: "TIME", help: "Delay of each response of the album’s server, such as 0.5s."),
            OptionSpec("failure-rate", value: "PERCENT", help: "Percentage of responses that fail."),
            OptionSpec("limit-rate", value: "BYTES", help: "Maximum bytes per second of each response, such as 50K."),
            .cacheDirectory,
        ] + OptionSpec.network)

    package static let doctor = CommandSpec(
        "doctor", operands: "",
        summary: "Check the libraries, the limits, the cache directory, and the system.",
        details: [
            "Each check has the status ok, note, or unsafe. If a check is unsafe, the exit status is 1. The command "
                + "changes nothing and sends no requests.",
            "The versions of the libraries are compared with a table of known vulnerabilities. On Debian, a package "
                + "whose revision contains the backported fix isn’t vulnerable. The last line of the report contains "
                + "the date of the table, so also install the security updates of the distribution.",
        ],
        options: [.cacheDirectory, .json])

    package static let completion = CommandSpec(
        "completion", operands: "bash|zsh|fish", words: CompletionScript.Shell.allCases.map(\.rawValue),
        summary: "Print a completion script for a shell.",
        details: [
            "For bash, add “source <(webimage completion bash)” to ~/.bashrc. For zsh, write the script to a file "
                + "named _webimage in a directory of $fpath. For fish, write it to "
                + "~/.config/fish/completions/webimage.fish."
        ],
        options: [])

    /// All commands, in the order of the help text.
    package static let all = [fetch, show, gallery, info, decode, convert, cache, demo, doctor, completion]
}
