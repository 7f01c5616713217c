// SPDX-License-Identifier: MIT

import WebImageCore

/// The validated options of `animate`.
package struct AnimateOptions: Sendable {
    package let inputs: InputArguments
    /// The path of the file, or `-` for standard output.
    package let output: String
    package let overwrites: Bool
    /// The requested size of the first image, or `nil` for its own size.
    package let size: TargetSize?
    package let resampling: ResamplingFilter
    /// The color behind the images, or `nil` for a transparent background.
    package let background: PixelColor?
    package let loopCount: Int
    /// The encoding, whose format can contain animations.
    package let encoding: ImageEncoding
    package let json: Bool
    /// One duration for all frames, or the duration of each frame, in milliseconds.
    private let delays: [Int]

    /// The allowed durations of frames in milliseconds. Players display shorter frames for 100 ms, as web browsers do,
    /// and GIF files store up to 65,535 hundredths of a second.
    static let delayRange = 11...655_350
    static let defaultDelay = 100
    /// The names of the encoding options that apply to animations.
    static let encodingOptions = ["quality", "lossless", "effort"]

    package init(_ arguments: Arguments) throws(UsageError) {
        inputs = try InputArguments(arguments)
        guard let output = arguments.last("output") else { throw UsageError("missing --output (use --output OUT)") }
        self.output = output
        overwrites = arguments.has("overwrite")
        size = try arguments.size()
        resampling = try arguments.resampling()
        background = try Self.background(arguments)
        loopCount = try arguments.integer("loop", in: 0...65_535) ?? 0
        json = arguments.has("json")
        if json, output == "-" { throw UsageError("--json can’t be combined with --output -") }
        delays = try Self.delays(arguments)
        encoding = ImageEncoding(
            format: try Self.format(arguments, output), quality: try arguments.integer("quality", in: 1...100),
            isLossless: arguments.has("lossless"), effort: try arguments.integer("effort", in: 0...9)
        ).with(\.loopCount, loopCount)
    }

    /// Returns the durations of all frames in milliseconds. Throws a ``UsageError`` if `--delay` lists another number of
    /// durations.
    package func durations(count: Int) throws(UsageError) -> [Int] {
        if delays.count == 1 { return [Int](repeating: delays[0], count: count) }
        guard delays.count == count else {
            let images = NumberFormatting.count(count, "image")
            throw UsageError(
                "--delay: \(delays.count) durations don’t fit \(images) (use one for each image, or a single one)")
        }
        return delays
    }

    private static func delays(_ arguments: Arguments) throws(UsageError) -> [Int] {
        guard let text = arguments.last("delay") else { return [defaultDelay] }
        let values = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        let valid = values.compactMap(\.self).filter(delayRange.contains)
        guard valid.count == values.count else {
            throw UsageError(
                "--delay: “\(text)” isn’t valid (use milliseconds from \(delayRange.lowerBound) to \(delayRange.upperBound), such as "
                    + "100 or 100,100,500)")
        }
        return valid
    }

    private static func background(_ arguments: Arguments) throws(UsageError) -> PixelColor? {
        guard let text = arguments.last("background") else { return nil }
        guard let color = PixelColor(text: text) else {
            throw UsageError("--background: “\(text)” isn’t a color (use #rrggbb, #rrggbbaa, black, white, or clear)")
        }
        return color.alpha == 0 ? nil : color
    }

    /// Returns the format that `--format` or the extension of the output names.
    private static func format(_ arguments: Arguments, _ output: String) throws(UsageError) -> ImageFormat {
        let names = ImageFormatName.animated.joined(separator: ", ")
        guard let format = try arguments.format() ?? ImageFormat(fileName: output) else {
            throw UsageError(
                output == "-"
                    ? "writing to standard output requires --format (use one of \(names))"
                    : "the extension of “\(output)” doesn’t name a format (use --format with one of \(names))")
        }
        if format == .png { return .apng }
        guard format.canContainAnimations else {
            throw UsageError("\(format.rawValue) files can’t contain animations (use one of \(names))")
        }
        return format
    }
}
