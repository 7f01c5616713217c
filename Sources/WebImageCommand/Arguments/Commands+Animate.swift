// SPDX-License-Identifier: MIT

extension Commands {
    /// The command that creates animations from still images.
    package static let animate = CommandSpec(
        "animate", operands: "INPUT…",
        summary: "Create an animation from still images.",
        details: [
            "\(inputForms) Each input is a frame, in the order of the inputs. The images in a directory are sorted by "
                + "name, where frame2 precedes frame10. If an input fails, the command writes nothing.",
            "The first image determines the size of the animation, unless --size changes it. Images of other sizes are "
                + "fitted into this size, but not enlarged, and centered on a transparent background or that of "
                + "--background. If an input is an animation, only its first frame is used.",
            "The command decodes one image at a time. It holds the encoded images from URLs and from standard input in "
                + "memory, within the limit of --max-memory.",
        ],
        options: [
            OptionSpec(
                "output", letter: "o", value: "OUT",
                help: "Output file, or - for standard output. The option is required."),
            OptionSpec(
                "format", letter: "f", value: "FORMAT", words: ["png"] + ImageFormatName.animated,
                help: "Output format: \(ImageFormatName.animated.joined(separator: ", ")). png is the same as apng. By "
                    + "default, the extension of the output names it."),
            OptionSpec(
                "delay", value: "MS",
                help: "Duration of each frame in milliseconds, from \(AnimateOptions.delayRange.lowerBound) to "
                    + "\(AnimateOptions.delayRange.upperBound) (\(AnimateOptions.defaultDelay) by default), or a list with the "
                    + "duration of each frame, such as 100,100,500."),
            OptionSpec(
                "loop", value: "N",
                help: "Number of times the animation plays (0 by default, which repeats indefinitely)."),
            .size,
            OptionSpec(
                "background", letter: "b", value: "COLOR",
                help: "Color behind the images: clear (default), black, white, or a color such as #334455."),
            OptionSpec("overwrite", letter: "y", help: "Overwrite an existing file. By default, it’s an error."),
            .json,
            .optionalCacheDirectory,
        ] + OptionSpec.resampling + OptionSpec.inputs
            + OptionSpec.encoding.filter { AnimateOptions.encodingOptions.contains($0.name) }
            + OptionSpec.loading,
        fields: [
            JSONField("command", .string, "animate."),
            JSONField("inputs", .array, "The inputs, as in other commands."),
            JSONField("status", .string, "ok, or failed."),
            JSONField("width", .number, isOptional: true, "The width of the animation in pixels."),
            JSONField("height", .number, isOptional: true, "The height of the animation in pixels."),
            JSONField("frames", .number, "The number of frames."),
            JSONField("loopCount", .number, "The number of times the animation plays (0: indefinitely)."),
            JSONField("frameDurations", .array, "The durations of the frames in milliseconds."),
            JSONField("outputs", .array, "The file, as in other commands."),
            JSONField("notes", .array, "Texts about losses that no option requests."),
            JSONField("error", .object, isOptional: true, "The first error, as in other commands."),
        ],
        examples: [
            .init("Create an animation of numbered files", "webimage animate frames/ -o animation.webp --delay 40"),
            .init(
                "Show the last of three images longer, and play the animation twice",
                "webimage animate a.png b.png c.png -o animation.gif --delay 100,100,1000 --loop 2"),
            .init(
                "Create a small animation of photos on white",
                "webimage animate *.jpg -o photos.avif -s 480x320 -b white --delay 1000 -Q 60"),
        ])
}
