// SPDX-License-Identifier: MIT

import Testing
import WebImage

@testable import WebImageCommand

@Suite("Options of the animate command")
struct AnimateOptionsTests {
    private func options(_ words: String...) throws -> AnimateOptions {
        try AnimateOptions(Arguments(words, for: Commands.animate))
    }

    @Test("The defaults are 100 ms, indefinite repetition, and a transparent background")
    func defaults() throws {
        let options = try options("a.png", "b.png", "-o", "c.webp")
        #expect(options.inputs.operands == ["a.png", "b.png"] && options.output == "c.webp")
        #expect(try options.durations(count: 2) == [100, 100])
        #expect(options.loopCount == 0 && options.encoding.loopCount == 0 && options.background == nil)
        #expect(options.encoding.format == .webp && options.encoding.quality == nil && !options.encoding.isLossless)
        #expect(options.size == nil && !options.overwrites && !options.json)
    }

    @Test("One duration applies to all frames, and a list has the duration of each frame")
    func durations() throws {
        #expect(try options("a", "-o", "c.gif", "--delay", "40").durations(count: 3) == [40, 40, 40])
        let list = try options("a", "-o", "c.gif", "--delay", "11,655350")
        #expect(try list.durations(count: 2) == [11, 655_350])
        #expect(
            throws: UsageError(
                "--delay: 2 durations don’t fit 3 images (use one for each image, or a single one)")
        ) { try list.durations(count: 3) }
        #expect(throws: UsageError.self) { try list.durations(count: 1) }
    }

    @Test(
        "The format comes from the option or from the extension, and png means apng",
        arguments: [
            ("c.gif", nil, ImageFormat.gif), ("c.webp", nil, .webp), ("c.png", nil, .apng), ("c.apng", nil, .apng),
            ("c.avif", nil, .avif), ("c.jxl", nil, .jxl), ("-", "png", .apng), ("c.dat", "gif", .gif),
            ("c.gif", "webp", .webp),
        ] as [(String, String?, ImageFormat)])
    func formats(_ output: String, _ format: String?, _ expected: ImageFormat) throws {
        let words = ["a", "-o", output] + (format.map { ["-f", $0] } ?? [])
        #expect(try AnimateOptions(Arguments(words, for: Commands.animate)).encoding.format == expected)
    }

    @Test("The other options are parsed")
    func others() throws {
        let options = try options(
            "a", "-o", "c.webp", "-Q", "60", "--lossless", "--effort", "3", "-s", "50%", "-b", "#11223344", "--loop",
            "2",
            "-y", "--json")
        #expect(options.encoding.quality == 60 && options.encoding.isLossless && options.encoding.effort == 3)
        #expect(options.size == .scaled(width: 0.5, height: 0.5) && options.overwrites && options.json)
        #expect(options.background == PixelColor(red: 17, green: 34, blue: 51, alpha: 68))
        #expect(options.loopCount == 2 && options.encoding.loopCount == 2)
        #expect(try self.options("a", "-o", "c.webp", "-b", "clear").background == nil)
    }

    private static let delayProblem: String =
        "isn’t valid (use milliseconds from 11 to 655350, such as 100 or 100,100,500)"
    private static let formatNames: String = "gif, webp, apng, avif, jxl"

    private static let refusals: [([String], String)] = [
        ([], "missing INPUT (use a URL or a path)"),
        (["a"], "missing --output (use --output OUT)"),
        (["a", "-o", "-"], "writing to standard output requires --format (use one of \(formatNames))"),
        (["a", "-o", "b"], "the extension of “b” doesn’t name a format (use --format with one of \(formatNames))"),
        (["a", "-o", "b.jpg"], "jpeg files can’t contain animations (use one of \(formatNames))"),
        (["a", "-o", "b.gif", "-f", "heic"], "heif files can’t contain animations (use one of \(formatNames))"),
        (["a", "-o", "b.gif", "--delay", "10"], "--delay: “10” \(delayProblem)"),
        (["a", "-o", "b.gif", "--delay", "655351"], "--delay: “655351” \(delayProblem)"),
        (["a", "-o", "b.gif", "--delay", "50,"], "--delay: “50,” \(delayProblem)"),
        (["a", "-o", "b.gif", "--delay", "0.1"], "--delay: “0.1” \(delayProblem)"),
        (["a", "-o", "b.gif", "--delay=-5"], "--delay: “-5” \(delayProblem)"),
        (
            ["a", "-o", "b.gif", "--loop", "65536"],
            "--loop: “65536” isn’t valid (use a whole number from 0 to 65535)"
        ),
        (
            ["a", "-o", "b.gif", "-b", "red"],
            "--background: “red” isn’t a color (use #rrggbb, #rrggbbaa, black, white, or clear)"
        ),
        (["a", "-o", "-", "-f", "gif", "--json"], "--json can’t be combined with --output -"),
    ]

    @Test("Each invalid value causes a specific message", arguments: refusals)
    func refused(_ words: [String], _ message: String) {
        #expect(throws: UsageError(message)) { try AnimateOptions(Arguments(words, for: Commands.animate)) }
    }
}
