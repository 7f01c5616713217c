// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@testable import WebImageCommand

@Suite("Options for limits")
struct LimitArgumentsTests {
    private func limits(_ words: String..., limitsTime: Bool = true) throws -> ImageLimits {
        try LimitArguments(try Arguments(["a"] + words, for: Commands.fetch)).imageLimits(limitsTime: limitsTime)
    }

    /// The names and the values of all properties that limit something.
    private func properties(_ limits: ImageLimits) -> [String: String] {
        let pairs = Mirror(reflecting: limits).children.compactMap { child in
            child.label.map { ($0, "\(child.value)") }
        }
        return Dictionary(uniqueKeysWithValues: pairs).filter { $0.key != "origin" }
    }

    @Test("Each limit has an option that changes only this limit")
    func options() throws {
        let options: [(option: [String], property: String, value: String)] = [
            (["--max-filesize", "7K"], "maxEncodedBytes", "7168"), (["--max-pixels", "7"], "maxPixels", "7"),
            (["--max-source-pixels", "7"], "maxSourcePixels", "7"), (["--max-side", "7"], "maxDimension", "7"),
            (["--max-frames", "7"], "maxFrames", "7"), (["--max-animation-pixels", "7"], "maxAnimationPixels", "7"),
            (["--max-animation-decoders", "7"], "maxAnimationDecoders", "7"),
            (["--max-memory", "7M"], "maxDecodedBytes", "\(7 << 20)"),
            (["--max-decoding-time", "7"], "maxDecodingTime", "\(Duration.seconds(7))"),
            (["--max-encoding-time", "1.5"], "maxEncodingTime", "\(Duration.seconds(1.5))"),
            (["--allow-implausible"], "rejectsImplausibleFiles", "false"),
        ]
        for (words, property, value) in options {
            let arguments = try Arguments(["a"] + words, for: Commands.fetch)
            var expected = properties(.desktop)
            expected[property] = value
            #expect(properties(try LimitArguments(arguments).imageLimits()) == expected, "\(words)")
        }
        #expect(Set(options.map(\.property)) == Set(properties(.desktop).keys))
        let names = options.map { String($0.option[0].dropFirst(2)) } + ["limits", "no-limits"]
        #expect(Set(OptionSpec.limits.map(\.name)) == Set(names))
    }

    @Test("Options change the limits of a preset, and an option for a limit has priority over --max-pixels")
    func combinations() throws {
        let icon = try limits("--limits", "icon", "--max-frames", "7")
        #expect(icon.maxFrames == 7 && icon.maxDimension == ImageLimits.icon.maxDimension)
        let large = try limits("--max-pixels", "900000000", "--max-memory", "1K", "--max-source-pixels", "5")
        #expect(large.maxPixels == 900_000_000 && large.maxAnimationPixels == 900_000_000)
        #expect(large.maxDecodedBytes == 1_024 && large.maxSourcePixels == 5)
        #expect(try limits("--no-limits", "--max-side", "9").maxDimension == 9)
    }

    @Test("Long operations have unlimited time unless an option limits it")
    func time() throws {
        let unlimited = try limits(limitsTime: false)
        #expect(unlimited.maxDecodingTime == .unlimited && unlimited.maxEncodingTime == .unlimited)
        let limited = try limits("--max-decoding-time", "2m", limitsTime: false)
        #expect(limited.maxDecodingTime == .seconds(120) && limited.maxEncodingTime == .unlimited)
        for words in [["--max-decoding-time", "0"], ["--max-memory", "0"], ["--max-side", "0"]] {
            let arguments = try Arguments(["a"] + words, for: Commands.fetch)
            #expect(throws: UsageError.self) { try LimitArguments(arguments) }
        }
    }
}
