// SPDX-License-Identifier: MIT

/// The commands of the tool.
package enum Commands {
    /// The help text for `--transform`.
    private static let transformers =
        "Transformers are applied in their order, commas between them, and know: \(TransformList.usage). Colours are "
        + "#rrggbb, #rrggbbaa, black, white, clear."

    package static let load = CommandSpec(
        "load", operands: "URL…",
        summary: "Load pictures through the cache and say where each came from.",
        details: [
            "An argument that is no URL but an existing file is loaded from there. “-” reads URLs from standard "
                + "input, @FILE from a file, one per line. Pictures that fail do not stop the others.",
            "With --output the original bytes are written; with --size, --transform or --format the picture is encoded "
                + "anew.",
            transformers,
        ],
        options: [
            .size,
            OptionSpec("output", letter: "o", takes: "DIR", help: "Write the pictures into this folder."),
            .transform,
            OptionSpec("format", letter: "f", takes: "jpeg|png|webp", help: "Encode what is written so."),
            OptionSpec(
                "policy", letter: "p", takes: "POLICY",
                help: "Which copies may answer: http (default), cache-first, refresh, reload, cache-only."),
            .cache,
            OptionSpec("tag", takes: "TAG", help: "Store under this tag, for “cache clear --tag”."),
            OptionSpec(
                "preview", takes: "progressive|blurred",
                help: "Make previews while bytes come in: of what is there, or of the whole, blurred."),
            OptionSpec("preview-out", takes: "DIR", help: "Write the previews into this folder, numbered, as PNG."),
            OptionSpec("concurrency", letter: "c", takes: "N", help: "Pictures loaded at once; default 32."),
            OptionSpec(
                "trace", takes: "FILE",
                help: "Record what was done when, for Perfetto or about:tracing; without queries and credentials."),
            .json,
            OptionSpec("quiet", letter: "q", help: "Print errors only."),
        ])

    package static let show = CommandSpec(
        "show", operands: "FILE|URL…",
        summary: "Draw pictures in the terminal.",
        details: [
            "“-” reads standard input. Pictures are decoded at the size they are drawn at and never enlarged beyond one "
                + "column per pixel. Animations play as often as the file says, the endless ones once where there are "
                + "several inputs; a key goes on to the next input, Ctrl-C ends.",
            "auto draws pixels where the terminal is known to show them (kitty, then sixels), else block characters. "
                + "Into a pipe or a file it writes plain characters without colours, and of animations the first "
                + "frame; a style that was asked for is written in colour there too. NO_COLOR is obeyed.",
        ],
        options: [
            OptionSpec("as", takes: "auto|sixels|kitty|symbols", help: "How to draw; default auto."),
            OptionSpec(
                "size", letter: "s", takes: "COLSxROWS",
                help: "At most so many character cells, one side may be left out; default the terminal's size."),
            OptionSpec(
                "background", letter: "b", takes: "COLOR",
                help: "What shows through: terminal (default), checkerboard, or a colour as in #334455."),
            OptionSpec("frame", letter: "n", takes: "N", help: "Only this frame, from 0."),
            OptionSpec("still", help: "Only the first frame."),
            OptionSpec("loops", letter: "l", takes: "N", help: "Play animations so often; 0 is for ever."),
        ])

    package static let info = CommandSpec(
        "info", operands: "FILE|URL…",
        summary: "Say what a picture's header says: format, size, orientation, frames, colour profile.",
        options: [.json])

    package static let decode = CommandSpec(
        "decode", operands: "FILE",
        summary: "Decode to raw pixels.",
        details: [
            "Writes premultiplied RGBA, 8 bits each, row after row without padding, and prints width and height. "
                + "“-” reads standard input."
        ],
        options: [
            OptionSpec("frame", letter: "n", takes: "N", help: "The frame to decode, from 0."),
            .size,
            OptionSpec("rgba", takes: "OUT", help: "Where the pixels go; required."),
        ])

    package static let convert = CommandSpec(
        "convert", operands: "IN OUT",
        summary: "Decode a picture and encode it as the extension of OUT says.",
        details: [
            "“-” as IN reads standard input.",
            "Animations stay animations in .gif, .webp, .apng, .avif and .jxl; .png, .jpg and others get the first "
                + "frame. --frames keeps some: numbers and ranges from 0 in the order in which they are to play, as "
                + "in 0-9, 2,5,8-12, 10- (to the last) or 9-0 (backwards). With %d in OUT, as in frame-%03d.png, "
                + "each frame becomes a file of its own with its number.",
            transformers,
        ],
        options: [
            .size,
            .transform,
            OptionSpec("frame", letter: "n", takes: "N", help: "Only this frame, from 0."),
            OptionSpec("frames", takes: "LIST", help: "Only these frames, as in 0-9 or 2,5,8-."),
            OptionSpec("depth", takes: "8|16", help: "16 keeps finer samples where both formats have them; default 8."),
            OptionSpec("loop", takes: "N", help: "How often the animation plays, 0 for ever; as before without it."),
        ] + OptionSpec.encoding)

    package static let cache = CommandSpec(
        "cache", operands: "path|info|list|show KEY|verify|trim|clear|export DIR|import DIR|import URL FILE…",
        summary: "Look after the disk cache.",
        details: [
            "path prints its folder, info its figures, list its entries, last used first. show tells all about one: "
                + "KEY is its URL, its key, or the beginning of its file's name.",
            "verify reads every entry and removes damaged ones; its exit status is 1 when there were any. trim removes "
                + "what was used longest ago, down to the limit or to --size. clear removes everything, or what "
                + "--older-than, --host and --tag say, which must all hold.",
            "export writes the original bytes and a manifest.json into a new folder; with --entries the entries as they "
                + "are, for an application to bundle. import takes such a folder, or pairs of a URL and a picture "
                + "file, or --list, a file with such a pair on each line; what is no picture is refused and makes the "
                + "exit status 1.",
        ],
        options: [
            .cache,
            OptionSpec("size", letter: "s", takes: "BYTES", help: "What trim leaves at most, as in 64MiB."),
            OptionSpec("sort", takes: "use|size|age|host", help: "The order of list."),
            OptionSpec("glob", letter: "g", takes: "PATTERN", help: "Only URLs like this: list, clear, export."),
            OptionSpec("older-than", takes: "TIME", help: "clear: only what was stored so long ago, as in 12h, 30d."),
            OptionSpec("host", takes: "HOST", help: "clear: only what came from this host or one below it."),
            OptionSpec(
                "tag", takes: "TAG", help: "clear: only what was stored with this tag; import: the tag to give."),
            OptionSpec("entries", help: "export: entry files in place of pictures and a manifest."),
            OptionSpec("list", letter: "l", takes: "FILE", help: "import: lines of a URL, a blank and a path."),
            .json,
        ])

    package static let demo = CommandSpec(
        "demo", operands: "",
        summary: "Load the bundled album over loopback: cold, from memory, from disk, revalidated.",
        details: [
            "Starts a server on 127.0.0.1, loads the album four times, prints what each pass cost and what the "
                + "server was asked, and draws contact-sheet.png. Damaged pictures of the album must fail in the "
                + "expected way; anything else ends with status 1."
        ],
        options: [
            OptionSpec("output", letter: "o", takes: "DIR", help: "Folder of contact-sheet.png; default ./demo.")
        ])

    package static let gallery = CommandSpec(
        "gallery", operands: "[URL|FILE|DIR|LIST]…",
        summary: "Show pictures in a window: a grid of thousands, each one large, live figures.",
        details: [
            "A folder stands for all pictures in and below it; “-” reads URLs from standard input, @FILE from a file, one "
                + "per line. Without arguments the bundled album is shown, served on 127.0.0.1 under so many addresses "
                + "that there are as many pictures as --cells says; --delay, --failures and --speed make that network "
                + "a bad one.",
            "Enter or a click opens a picture, arrow keys go on, Escape goes back; F1 lists all keys. Pictures and URLs may "
                + "be dropped on the window. Needs a display, and a webimage built with GTK (trait GTK).",
        ],
        options: [
            OptionSpec("size", letter: "s", takes: "N", help: "A cell's side in points, 96 to 320; default 168."),
            OptionSpec(
                "transition", takes: "none|cross-fade|slide|flip|zoom",
                help: "How pictures come in; default cross-fade."),
            OptionSpec(
                "placeholder", takes: "none|color|blurhash",
                help: "What is shown until they do; default blurhash, where one is known."),
            OptionSpec(
                "policy", letter: "p", takes: "POLICY",
                help: "Which copies may answer: http (default), cache-first, refresh, reload, cache-only."),
            OptionSpec("theme", takes: "system|light|dark", help: "The window's colours; default the system's."),
            OptionSpec("sort", takes: "given|name|source", help: "The order; default as given."),
            OptionSpec("filter", letter: "f", takes: "WORDS", help: "Only pictures whose name holds all of these."),
            OptionSpec("cells", letter: "n", takes: "N", help: "Pictures of the album; default 2400."),
            OptionSpec("broken", help: "Show the album's damaged pictures, too."),
            OptionSpec("delay", takes: "TIME", help: "Answers of the album's server begin so late, as in 0.5s."),
            OptionSpec("failures", takes: "N", help: "So many of a hundred answers fail."),
            OptionSpec("speed", takes: "BYTES", help: "Bytes per second of each answer, as in 50K."),
            OptionSpec("no-retry", help: "Do not try again what failed."),
            .cache,
        ])

    /// All commands, in the order of the help text.
    package static let all = [load, show, gallery, info, decode, convert, cache, demo]
}
