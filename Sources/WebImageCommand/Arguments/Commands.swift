// SPDX-License-Identifier: MIT

/// The commands of the tool.
package enum Commands {
    /// The help text for transformers.
    private static let transformers =
        "“webimage help transforms” lists the transformers of --transform, their values, and the names of colors."
    /// The help text for the forms of operands.
    static let inputForms =
        "An input is a URL, the path of a file or directory, a pattern such as *.png or '**/*.png' (also in "
        + "subdirectories), @FILE for a list of inputs (one per line, where lines that begin with # are skipped), or - "
        + "for an image from standard input. A directory includes the images in it, with --recursive also those in its "
        + "subdirectories. Without a scheme, https:// is added if no such file exists and the text begins with a host "
        + "name, and a note says so. For localhost and loopback addresses, it’s http://."
    /// The help text for operands.
    private static let inputs = inputForms + " A failed input doesn’t stop the others."
    /// The help text for the output options.
    private static let outputs =
        "For one image, --output names a file, or an existing directory. For several images, it names a directory, "
        + "which is created unless its name has an extension. A / at the end always means a directory. Directories of "
        + "inputs keep their structure. The placeholders of output names are {name} (the name of the input without "
        + "its extension), {dir} (the directory of the input), {width}, {height}, {format} (the extension of the "
        + "format), and {n} (the number of the input from 1, with leading zeros). The command prints what it wrote."

    /// The JSON members for the origin of an image.
    private static let origins = [
        JSONField(
            "source", .string, isOptional: true, "memoryCache, diskCache, cacheTier, revalidated, network, or local."),
        JSONField("isStale", .boolean, "True if the image is stale, for example because the server is offline."),
        JSONField(
            "timings", .object, isOptional: true, "The times disk, load, decode, transform, and total in milliseconds."),
    ]

    package static let fetch = CommandSpec(
        "fetch", operands: "INPUT…",
        summary: "Fetch images through the cache and report where each one came from.",
        details: [
            inputs, outputs,
            "The output is the original data. With --size, --transform, --format, or an encoding option, the image is "
                + "encoded again. The extension of the output then names the format, unless --format specifies it.",
            "If the command is interrupted, the disk cache keeps the data received so far, and the next command "
                + "resumes the downloads if the server supports it.",
            transformers,
        ],
        options: [
            .size,
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
            OptionSpec(
                "trace", value: "FILE",
                help: "Record a trace for Perfetto or about:tracing. URLs are stored without queries and credentials."),
            .json,
        ] + OptionSpec.resampling + OptionSpec.inputs + OptionSpec.outputs + OptionSpec.encoding + OptionSpec.loading,
        fields: JSONField.with(
            origins + [
                JSONField(
                    "previews", .array, isConditional: true,
                    "With --previews: objects with byteCount, width, height, and output.")
            ]),
        examples: [
            .init("Download an image", "webimage fetch https://example.org/photo.jpg -o photo.jpg"),
            .init(
                "Download an image with a header field",
                "webimage fetch https://example.org/photo.jpg -H \"Accept: image/webp\" -o photo.webp"),
            .init(
                "Download the images of a list and convert them",
                "webimage fetch @list.txt -s 1600 -f webp -o 'images/{n}-{name}.{format}'"),
        ])

    package static let show = CommandSpec(
        "show", operands: "INPUT…",
        summary: "Display images in the terminal.",
        details: [
            inputs,
            "Images are decoded at their displayed size and never enlarged beyond one column per pixel. Animations "
                + "repeat as often as the file specifies. If there are several inputs, an animation that repeats "
                + "indefinitely plays once. Any key continues with the next input, and Ctrl-C ends the command.",
            "With --grid, the images are drawn row by row in the order of the inputs, animations show the first frame, "
                + "and a short message replaces a failed image.",
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
                help: "Maximum size in character cells (the terminal’s size by default). One side can be omitted. With "
                    + "--grid, the maximum size of each image."),
            OptionSpec(
                "grid", value: "COLSxROWS", isValueOptional: true,
                help: "Show the images as a grid, with the names below them. --grid=4 shows 4 images per row, and "
                    + "--grid=4x3 also 3 rows per screen. By default, the width of the terminal determines the number."),
            OptionSpec(
                "background", letter: "b", value: "COLOR",
                help: "Background of transparent pixels: terminal (default), checkerboard, or a color like #334455."),
            OptionSpec(
                "frames", value: "LIST", help: "Show only these frames, counted from 0, such as 3, 0-9, or 2,5,8-."),
            OptionSpec("still", help: "Show only the first frame."),
            OptionSpec(
                "loop", value: "N", help: "Number of times to play an animation (0 repeats indefinitely)."),
            .optionalCacheDirectory,
        ] + OptionSpec.inputs + OptionSpec.loading,
        examples: [
            .init("Show an image from the web", "webimage show https://example.org/photo.jpg"),
            .init("Show the images of a directory tree", "webimage show -r ~/Pictures"),
            .init("Show the images of a directory as a grid", "webimage show --grid ~/Pictures"),
            .init("Play an animation once, 40 columns wide", "webimage show animation.gif -s 40x --loop 1"),
        ])

    package static let info = CommandSpec(
        "info", operands: "INPUT…",
        summary: "Print the format, size, orientation, frames, color profile, resolution, and JPEG quality of images.",
        details: [inputs],
        options: [
            OptionSpec("exif", help: "Also print the EXIF tags."), .json, .optionalCacheDirectory,
        ] + OptionSpec.inputs + OptionSpec.loading,
        fields: JSONField.with([
            JSONField("storedWidth", .number, isOptional: true, "The width without the orientation."),
            JSONField("storedHeight", .number, isOptional: true, "The height without the orientation."),
            JSONField("orientation", .number, isOptional: true, "The EXIF orientation, from 1 to 8."),
            JSONField(
                "loopCount", .number, isOptional: true, "The number of times an animation plays (0: indefinitely)."),
            JSONField("frameDurations", .array, "The durations of the frames of an animation in milliseconds."),
            JSONField("hasAlpha", .boolean, isOptional: true, "True if the image has an alpha channel."),
            JSONField("bitDepth", .number, isOptional: true, "The number of bits per sample."),
            JSONField(
                "horizontalResolution", .number, isOptional: true,
                "The horizontal resolution for printing in pixels per inch."),
            JSONField(
                "verticalResolution", .number, isOptional: true,
                "The vertical resolution for printing in pixels per inch."),
            JSONField(
                "chromaSubsampling", .string, isOptional: true,
                "The chroma subsampling of JPEG, AVIF, HEIF, and lossy WebP, such as 4:2:0."),
            JSONField(
                "estimatedQuality", .number, isOptional: true,
                "The quality of a JPEG file from 1 to 100, estimated from its quantization."),
            JSONField("colorProfile", .string, isOptional: true, "The name of the embedded color profile."),
            JSONField("colorPrimaries", .number, isOptional: true, "The color primaries (ITU-T H.273)."),
            JSONField("transferCharacteristics", .number, isOptional: true, "The transfer function (ITU-T H.273)."),
            JSONField(
                "gainMap", .object, isConditional: true,
                "The kind, maximum headroom, size, and base image of the gain map, if the file has one."),
            JSONField("exif", .object, isConditional: true, "With --exif: the EXIF tags as strings."),
        ]),
        examples: [
            .init("Print the properties of all images of a directory", "webimage info photos"),
            .init("Print the properties of an image from the web", "webimage info https://example.org/photo.jpg"),
            .init("Print the EXIF tags as JSON", "webimage info photo.jpg --exif --json"),
        ])

    package static let decode = CommandSpec(
        "decode", operands: "INPUT…",
        summary: "Decode images to raw pixels.",
        details: [
            inputs,
            "Without --output and --output-dir, the pixels are written to standard output. Only the first frame of an "
                + "animation is decoded, unless --frames selects others.",
            "The command writes the pixels row by row without padding, and several frames one after another. The "
                + "pixels of rgba8 and rgba16 have premultiplied alpha. The samples of rgba16 have 16 bits in the byte "
                + "order of the machine. rgb8 omits alpha, so transparent pixels are black.",
            "If the name of the output ends with .ppm, .pgm, or .pam, the command writes a file of Netpbm with a header "
                + "for each frame. With --pixel-format rgba16, images with more than 8 bits have 16 bits per sample. PAM "
                + "has straight alpha, and the other formats omit alpha, so transparent pixels are black. The extensions "
                + "of other image formats are errors, because convert writes such files.",
            "The command prints the width, the height, and the name of each file to standard output. If the pixels "
                + "are written to standard output, it prints the width and the height to standard error.",
            outputs,
        ],
        options: [
            OptionSpec("pixel-format", value: "rgba8|rgba16|rgb8", help: "Format of the pixels (rgba8 by default)."),
            .size,
            .frames,
            .json,
            .optionalCacheDirectory,
        ] + OptionSpec.resampling + OptionSpec.inputs + OptionSpec.outputs + OptionSpec.loading,
        fields: JSONField.with([]),
        examples: [
            .init("Write the pixels of an image to a file", "webimage decode photo.jpg -o photo.rgba"),
            .init("Pass pixels to another program", "webimage decode photo.jpg -s 640x480! -o - | program"),
            .init(
                "Decode ten frames of an animation", "webimage decode animation.gif --frames 0-9 -o frames.rgba"),
        ])

    package static let thumbnail = CommandSpec(
        "thumbnail", operands: "INPUT…",
        summary: "Create thumbnails of images and of whole directories.",
        details: [
            inputs,
            "Without --output and --output-dir, the thumbnail of a/photo.jpg is a/tn_photo.jpg, and that of a URL is "
                + "in the current directory. Files in directories whose names begin with tn_ are then skipped. In "
                + "output names, %s is the same as {name}.",
            "Without --format and an extension in the output name, opaque thumbnails are JPEG files, and others are "
                + "PNG files. A thumbnail contains only the first frame of an animation.",
            "Options in brackets can follow the extension of the output name, as in vipsthumbnail: Q=N is the same as "
                + "--quality N, strip is the same as --metadata strip, and lossless is the same as --lossless.",
            outputs,
            transformers,
        ],
        options: [
            OptionSpec(
                "size", letter: "s", value: "SIZE",
                help: "Size in pixels (128 by default): 200 fits into 200x200, 200x and x200 limit one side. These "
                    + "never enlarge, like 200>. 200< only enlarges. 200x200^ fills the box and crops the center, and "
                    + "200x200! ignores the aspect ratio. 10% and 10%x5% are percentages of the natural size."),
            OptionSpec(
                "crop", value: "none|center|smart|attention|entropy", aliases: ["smartcrop"],
                help: "Fill the box and crop the rest: the center, or the part that smart (attention) or entropy "
                    + "finds. --smartcrop is the same."),
            .format,
            .transform,
            .json,
            .optionalCacheDirectory,
        ] + OptionSpec.resampling + OptionSpec.inputs + OptionSpec.outputs + OptionSpec.encoding + OptionSpec.loading,
        fields: JSONField.with([]),
        examples: [
            .init("Create a thumbnail next to an image", "webimage thumbnail photo.jpg -s 200"),
            .init(
                "Create thumbnails of a directory tree in another directory",
                "webimage thumbnail -r ~/Pictures -s 200 -f webp -o thumbnails/"),
            .init("Create square thumbnails", "webimage thumbnail *.jpg -s 200x200 --crop smart"),
            .init("Choose the quality as in vipsthumbnail", "webimage thumbnail *.jpg -s 200 -o 'tn_%s.jpg[Q=50]'"),
        ])

    package static let compare = CommandSpec(
        "compare", operands: "A B",
        summary: "Compare two images: SSIMULACRA 2 score, PSNR, and a difference image.",
        details: [
            "A and B are URLs, paths, or - for standard input. Both images must have the same size. Only the first "
                + "frame of an animation is compared.",
            "SSIMULACRA 2 estimates the visible difference: 100 means equal, 90 invisible, 70 high quality, 50 medium "
                + "quality, and 30 low quality. Scores can be negative. They’re reliable for images of at least 256 "
                + "pixels per side. Images with transparent pixels are compared on dark and on light gray, and the "
                + "lower score counts. PSNR is in decibels. Equal images have no PSNR.",
        ],
        options: [
            OptionSpec(
                "output", letter: "o", value: "OUT",
                help: "Write the absolute difference of the pixels to this file, or to standard output (-). The "
                    + "extension names the format (png by default)."),
            OptionSpec("gain", value: "N", help: "Factor of the difference image, 1 to 255 (8 by default)."),
            OptionSpec(
                "min-score", value: "SCORE", help: "Exit with status 1 if the score is less than this number."),
            .format,
            OptionSpec("overwrite", letter: "y", help: "Overwrite existing files. By default, they’re errors."),
            .json,
            .optionalCacheDirectory,
        ] + OptionSpec.loading,
        fields: [
            JSONField("command", .string, "compare."),
            JSONField("inputs", .array, "The two inputs, as in other commands."),
            JSONField("status", .string, "ok, or failed."),
            JSONField("width", .number, isOptional: true, "The width of the images in pixels."),
            JSONField("height", .number, isOptional: true, "The height of the images in pixels."),
            JSONField("isEqual", .boolean, isOptional: true, "True if all pixels are equal."),
            JSONField("ssimulacra2", .number, isOptional: true, "The SSIMULACRA 2 score, or null below 8 pixels."),
            JSONField("psnr", .number, isOptional: true, "The PSNR in decibels, or null for equal images."),
            JSONField("outputs", .array, "The difference image, as in other commands."),
            JSONField(
                "notes", .array, "Texts about frames that aren’t compared, and about a score below --min-score."),
            JSONField("error", .object, isOptional: true, "The error, as in other commands."),
        ],
        examples: [
            .init("Print the difference of two images", "webimage compare photo.png photo.jpg"),
            .init("Check a lossy file in a script", "webimage compare photo.png photo.avif --min-score 80"),
            .init("Show where images differ", "webimage compare a.png b.png -o - | webimage show -"),
        ])

    package static let convert = CommandSpec(
        "convert", operands: "INPUT… [OUT]",
        summary: "Convert images to another format.",
        details: [
            inputs,
            "Without --output and --output-dir, the last argument is the output. The extension of the output names "
                + "the format, unless --format specifies it. “-” as the output writes to standard output and requires "
                + "--format.",
            outputs,
            "The formats gif, webp, apng, avif, and jxl preserve animations. Other formats, such as png and jpeg, "
                + "contain only the first frame. --frames selects frames by numbers and ranges from 0, in playback "
                + "order, such as 3, 0-9, 2,5,8-12, 10- (to the last frame), or 9-0 (backward). If OUT contains %d, "
                + "as in frame-%03d.png, each frame is written to a separate file with its number.",
            transformers,
        ],
        options: [
            .format,
            .size,
            .transform,
            .frames,
            OptionSpec(
                "bit-depth", value: "8|16",
                help: "Bits per sample (8 by default). 16 requires support by the input and the output format."),
            OptionSpec(
                "loop", value: "N",
                help: "Number of times the animation plays (0 repeats indefinitely). By default, it doesn’t change."),
            .json,
            .optionalCacheDirectory,
        ] + OptionSpec.resampling + OptionSpec.inputs + OptionSpec.outputs + OptionSpec.encoding + OptionSpec.loading,
        fields: JSONField.with([]),
        examples: [
            .init("Convert an image at half of its size", "webimage convert photo.png photo.webp -s 50%"),
            .init("Convert an animation", "webimage convert animation.gif animation.webp -Q 80"),
            .init("Convert a directory tree", "webimage convert -r photos -f avif -o converted/"),
            .init("Use the command in a pipe", "webimage convert - -f webp - < photo.png > photo.webp"),
        ])

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
        ],
        fields: [
            JSONField("command", .string, "cache."),
            JSONField("action", .string, "The action, such as info."),
            JSONField("status", .string, "ok, or failed. A failed object can contain only the error."),
            JSONField("path", .string, isConditional: true, "path, info: the directory of the cache."),
            JSONField("removed", .number, isConditional: true, "trim, clear: the number of removed entries."),
            JSONField("freedBytes", .number, isConditional: true, "trim, clear: the number of freed bytes."),
            JSONField("exported", .number, isConditional: true, "export: the number of exported entries."),
            JSONField("imported", .number, isConditional: true, "import: the number of imported images."),
            JSONField("url", .string, isConditional: true, "list, show: the URL without credentials."),
            JSONField("key", .string, isConditional: true, "list, show: the key of the entry."),
            JSONField("fileName", .string, isConditional: true, "list, show: the name of the entry file."),
            JSONField("readable", .boolean, isConditional: true, "show: true if the entry can be read."),
            JSONField("format", .string, isOptional: true, isConditional: true, "list, show: the format of the image."),
            JSONField(
                "size", .string, isOptional: true, isConditional: true, "show: the size of the image, such as 640x480."),
            JSONField("entries", .number, isConditional: true, "info, trim, clear: the number of entries."),
            JSONField(
                "bytes", .number, isConditional: true,
                "info, list, show, trim, clear: the size on disk. export, import: the size of the images."),
            JSONField("limit", .number, isConditional: true, "info: the maximum size."),
            JSONField("oldest", .string, isOptional: true, isConditional: true, "info: the date of the oldest entry."),
            JSONField("hits", .number, isConditional: true, "info: the number of reads that found an entry."),
            JSONField("misses", .number, isConditional: true, "info: the number of cache misses."),
            JSONField(
                "hitRate", .number, isOptional: true, isConditional: true, "info: the share of hits, from 0 to 1."),
            JSONField(
                "negativeEntries", .number, isConditional: true,
                "info: always 0, because each process remembers its failures in memory."),
            JSONField(
                "suspended", .string, isOptional: true, isConditional: true, "info: the reason why writing is paused."),
            JSONField("dataSize", .number, isConditional: true, "show: the size of the encoded image."),
            JSONField("storedAt", .string, isConditional: true, "list, show: the date at which the entry was stored."),
            JSONField("lastAccessedAt", .string, isConditional: true, "list, show: the date of the last access."),
            JSONField(
                "expiresAt", .string, isOptional: true, isConditional: true,
                "list, show: the date after which the entry is stale."),
            JSONField("tags", .array, isConditional: true, "list, show: the tags."),
            JSONField(
                "attachment", .number, isOptional: true, isConditional: true,
                "show: the size of the value that an app attached."),
            JSONField(
                "httpStatus", .number, isOptional: true, isConditional: true, "show: the status code of the response."),
            JSONField(
                "fields", .array, isConditional: true, "show: the header fields, as arrays of a name and a value."),
            JSONField("checked", .number, isConditional: true, "verify: the number of checked entries."),
            JSONField(
                "corrupt", .number, isConditional: true, "verify: the number of corrupt entries, which were removed."),
            JSONField(
                "recovered", .number, isConditional: true, "verify: the number of entries that were added to the index."
            ),
            JSONField("missing", .number, isConditional: true, "verify: the number of entries without a file."),
            JSONField("skipped", .number, isConditional: true, "export, import: the number of skipped entries."),
            JSONField("failed", .number, isConditional: true, "export, import: the number of failed entries."),
            JSONField(
                "failures", .array, isConditional: true,
                "export, import: objects with input and error of failed entries."
            ),
            JSONField("error", .object, isOptional: true, "The first error, as in other commands."),
        ],
        examples: [
            .init("Print the size of the cache", "webimage cache info"),
            .init("List the images of a host", "webimage cache list --glob '*://example.org/*'"),
            .init("Remove entries that are older than 30 days", "webimage cache trim --max-age 30d"),
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
                "output-dir", letter: "d", value: "DIR", help: "Directory of contact-sheet.png (./demo by default)."),
            .json,
        ],
        fields: JSONField.with(
            [
                JSONField("pass", .number, "The number of the pass, from 1."),
                JSONField("isExpected", .boolean, "True if the result is as the album specifies."),
            ] + origins),
        examples: [
            .init("Fetch the album and draw ./demo/contact-sheet.png", "webimage demo"),
            .init("Write the contact sheet to another directory", "webimage demo -d /tmp/demo"),
            .init("Print the results as JSON", "webimage demo --json"),
        ])

    package static let gallery = CommandSpec(
        "gallery", operands: "[INPUT…]",
        summary: "Browse images in a window.",
        details: [
            "An argument is a URL, a file, a pattern such as *.png, @FILE for a list of inputs (one per line), or “-” "
                + "for an image from standard input. A directory includes all images "
                + "in it and in its subdirectories. Without arguments, the gallery shows the bundled album. A server on "
                + "127.0.0.1 provides it with different URLs for as many images as --count specifies. --delay, "
                + "--failure-rate, and --limit-rate simulate network problems.",
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
        ] + OptionSpec.loading,
        examples: [
            .init("Browse the images of a directory tree", "webimage gallery ~/Pictures"),
            .init("Browse the URLs of a list", "webimage gallery @list.txt --sort name"),
            .init("Simulate a slow network", "webimage gallery --delay 0.5s --limit-rate 50K"),
        ])

    package static let doctor = CommandSpec(
        "doctor", operands: "",
        summary: "Check the libraries, the limits, the cache directory, and the system.",
        details: [
            "Each check has the status ok, note, or unsafe. If a check is unsafe, the exit status is 1. The command "
                + "changes nothing and sends no requests.",
            "With --server, the command checks the settings of webimage-serve in the environment and in a file, the "
                + "address, the memcached servers, the configuration of nginx, the cache, and the limits. It sends a "
                + "short request to each memcached server.",
            "The versions of the libraries are compared with a table of known vulnerabilities. On Debian, a package "
                + "whose revision contains the backported fix isn’t vulnerable. The last line of the report contains "
                + "the date of the table, so also install the security updates of the distribution.",
        ],
        options: [
            .cacheDirectory, .json,
            OptionSpec("server", help: "Check the image server and the servers around it."),
            OptionSpec("config", value: "FILE", help: "Settings of the image server (with --server)."),
            OptionSpec(
                "nginx", value: "FILE", help: "Main configuration file of nginx (with --server, /etc/nginx/nginx.conf)."
            ),
        ],
        fields: [
            JSONField("command", .string, "doctor."),
            JSONField("version", .string, "The version of the tool."),
            JSONField("status", .string, "The most severe status of all checks: ok, note, or unsafe."),
            JSONField("vulnerabilitiesDate", .string, "The date of the table of vulnerabilities."),
            JSONField("counts", .object, "The number of checks with each status."),
            JSONField(
                "sections", .array,
                "Objects with id, title, and checks: objects with id, status, title, detail, and remedy (a string or "
                    + "null)."),
        ],
        examples: [
            .init("Check the libraries and the system", "webimage doctor"),
            .init(
                "Check the image server and its settings", "webimage doctor --server --config /etc/webimage-serve.conf"),
            .init("Print the checks as JSON", "webimage doctor --json"),
        ])

    package static let completion = CommandSpec(
        "completion", operands: "bash|zsh|fish", words: CompletionScript.Shell.allCases.map(\.rawValue),
        summary: "Print a completion script for a shell.",
        details: [
            "For bash, add “source <(webimage completion bash)” to ~/.bashrc. For zsh, write the script to a file "
                + "named _webimage in a directory of $fpath. For fish, write it to "
                + "~/.config/fish/completions/webimage.fish."
        ],
        options: [],
        examples: [
            .init("Complete in the current bash", "source <(webimage completion bash)"),
            .init("Install the script for zsh", "webimage completion zsh > ~/.zfunc/_webimage"),
            .init(
                "Install the script for fish",
                "webimage completion fish > ~/.config/fish/completions/webimage.fish"),
        ])

    /// All commands, in the order of the help text.
    package static let all = [
        fetch, show, gallery, info, thumbnail, convert, animate, decode, compare, cache, serve, demo, doctor,
        completion,
    ]

    /// Returns the command with a name. Throws a ``UsageError`` that names a similar command, or one of `others`, if
    /// there's no such command.
    package static func command(_ name: String, or others: [String] = []) throws(UsageError) -> CommandSpec {
        if let command = all.first(where: { $0.name == name }) { return command }
        let nearest = SpellingSuggestion.nearest(to: name, in: all.map(\.name) + ["help"] + others)
        let meant = nearest.map { "did you mean \($0)?" } ?? "to list the commands, run webimage --help"
        throw UsageError("unknown command “\(name)” (\(meant))")
    }
}
