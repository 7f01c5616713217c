// SPDX-License-Identifier: MIT

/// The commands there are.
package enum Commands {
    package static let load = CommandSpec(
        "load", operands: "URL…",
        summary: "Load pictures through the cache and say where each came from.",
        details: [
            "An argument that is no URL but an existing file is loaded from there. “-” reads URLs from standard "
                + "input, @FILE from a file, one per line. Pictures that fail do not stop the others.",
            "With --output the original bytes are written; with --size or --format the picture is encoded anew.",
        ],
        options: [
            .size,
            OptionSpec("output", letter: "o", takes: "DIR", help: "Write the pictures into this folder."),
            OptionSpec("format", letter: "f", takes: "jpeg|png|webp", help: "Encode what is written so."),
            OptionSpec(
                "policy", letter: "p", takes: "POLICY",
                help: "Which copies may answer: http (default), cache-first, refresh, reload, cache-only."),
            .cache,
            OptionSpec("concurrency", letter: "c", takes: "N", help: "Pictures loaded at once; default 32."),
            .json,
            OptionSpec("quiet", letter: "q", help: "Print errors only."),
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
        details: ["“-” as IN reads standard input."],
        options: [
            .size,
            OptionSpec("frame", letter: "n", takes: "N", help: "Only this frame, from 0."),
            OptionSpec("quality", letter: "q", takes: "Q", help: "1 (small) to 100 (good), for lossy formats."),
        ])

    package static let cache = CommandSpec(
        "cache", operands: "path|info|list|verify|trim|clear",
        summary: "Look after the disk cache.",
        details: [
            "path prints its folder, info its figures, list its entries, last used first. verify reads every entry "
                + "and removes damaged ones; its exit status is 1 when there were any. trim removes what was used "
                + "longest ago, down to the limit or to --size. clear removes everything."
        ],
        options: [
            .cache,
            OptionSpec("size", letter: "s", takes: "BYTES", help: "What trim leaves at most, as in 64MiB."),
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

    /// All, in the order of the help.
    package static let all = [load, info, decode, convert, cache, demo]
}
