// SPDX-License-Identifier: MIT

import WebImageCore

extension OptionSpec {
    /// The options for the limits of images, for commands that read images. There's an option for each limit of
    /// ``ImageLimits``.
    package static let limits = [
        OptionSpec(
            "limits", value: "PRESET", words: ["desktop", "server", "icon", "none"],
            help: "Limits for the size and the cost of images: desktop (default), server, icon, or none."),
        OptionSpec("no-limits", help: "Use no limits. This is the same as --limits none."),
        OptionSpec(
            "max-filesize", value: "BYTES", help: "Maximum size of an encoded image, such as 8M (32M by default)."),
        OptionSpec(
            "max-pixels", value: "N",
            help: "Maximum number of pixels of a decoded image (50000000 by default). A higher value also raises the "
                + "limits for source pixels, animation pixels, and memory."),
        OptionSpec(
            "max-source-pixels", value: "N",
            help: "Maximum number of pixels of an image before it’s reduced to a smaller size (400000000 by default)."),
        OptionSpec(
            "max-side", value: "N", help: "Maximum width and height of a decoded image (16384 by default)."),
        OptionSpec("max-frames", value: "N", help: "Maximum number of frames of an animation (2000 by default)."),
        OptionSpec(
            "max-animation-pixels", value: "N",
            help: "Maximum number of pixels of all frames in memory (200000000 by default)."),
        OptionSpec(
            "max-animation-decoders", value: "N",
            help: "Maximum number of animations that are decoded at the same time (256 by default)."),
        OptionSpec("max-memory", value: "BYTES", help: "Maximum size of the decoded pixels (256M by default)."),
        OptionSpec(
            "max-decoding-time", value: "SECONDS",
            help: "Maximum processor time for decoding an image and for each transformer (10 by default, unlimited for "
                + "convert)."),
        OptionSpec(
            "max-encoding-time", value: "SECONDS",
            help: "Maximum processor time for encoding an image (30 by default, unlimited for convert)."),
        OptionSpec(
            "allow-implausible",
            help: "Decode files that are too small for the size that they declare. They’re errors by default."),
    ]
}

/// The values of the options for limits.
package struct LimitArguments: Sendable {
    private let preset: ImageLimits?
    /// Whether images of all formats are decoded in helper processes, as the preset for servers requires.
    package let isolatesAllFormats: Bool
    private let maxFileSize: Int?
    private let maxPixels: Int?
    private let maxSourcePixels: Int?
    private let maxSide: Int?
    private let maxFrames: Int?
    private let maxAnimationPixels: Int?
    private let maxAnimationDecoders: Int?
    private let maxMemory: Int?
    private let maxDecodingTime: Duration?
    private let maxEncodingTime: Duration?
    private let allowsImplausible: Bool

    package init(_ arguments: Arguments) throws(UsageError) {
        if arguments.has("no-limits"), arguments.has("limits") {
            throw UsageError("--limits and --no-limits can’t be combined")
        }
        let name = arguments.has("no-limits") ? "none" : try arguments.choice("limits", of: Self.presets.map(\.name))
        preset = Self.presets.first { $0.name == name }?.limits
        isolatesAllFormats = name == "server"
        maxFileSize = try Self.bytes("max-filesize", arguments)
        maxPixels = try arguments.integer("max-pixels", in: 1...Int.max)
        maxSourcePixels = try arguments.integer("max-source-pixels", in: 1...Int.max)
        maxSide = try arguments.integer("max-side", in: 1...Int.max)
        maxFrames = try arguments.integer("max-frames", in: 1...Int.max)
        maxAnimationPixels = try arguments.integer("max-animation-pixels", in: 1...Int.max)
        maxAnimationDecoders = try arguments.integer("max-animation-decoders", in: 1...Int.max)
        maxMemory = try Self.bytes("max-memory", arguments)
        maxDecodingTime = try Self.time("max-decoding-time", arguments)
        maxEncodingTime = try Self.time("max-encoding-time", arguments)
        allowsImplausible = arguments.has("allow-implausible")
    }

    private static let presets: [(name: String, limits: ImageLimits)] = [
        ("desktop", .desktop), ("server", .server), ("icon", .icon), ("none", .unlimited),
    ]

    private static func bytes(_ option: String, _ arguments: Arguments) throws(UsageError) -> Int? {
        let count = try arguments.bytes(option)
        if count == 0 { throw UsageError("--\(option): the minimum is 1") }
        return count
    }

    private static func time(_ option: String, _ arguments: Arguments) throws(UsageError) -> Duration? {
        guard let seconds = try arguments.seconds(option, defaultUnit: "s") else { return nil }
        guard seconds > 0 else { throw UsageError("--\(option): the value must be greater than 0") }
        return .seconds(saturating: seconds)
    }

    /// Returns the limits that the options specify. `base` is the limits without options, and `limitsTime` is whether
    /// the time is limited without an option for it.
    package func imageLimits(_ base: ImageLimits = .desktop, limitsTime: Bool = true) -> ImageLimits {
        var limits = preset ?? base
        if !limitsTime { (limits.maxDecodingTime, limits.maxEncodingTime) = (.unlimited, .unlimited) }
        if let maxPixels {
            limits.maxPixels = maxPixels
            limits.maxSourcePixels = max(limits.maxSourcePixels, maxPixels)
            // Without more memory, the larger images would exceed this limit instead.
            let (bytes, overflow) = maxPixels.multipliedReportingOverflow(by: 8)
            limits.maxDecodedBytes = max(limits.maxDecodedBytes, overflow ? .max : bytes)
            limits.maxAnimationPixels = max(limits.maxAnimationPixels, maxPixels)
        }
        if let maxFileSize { limits.maxEncodedBytes = maxFileSize }
        if let maxSourcePixels { limits.maxSourcePixels = maxSourcePixels }
        if let maxSide { limits.maxDimension = maxSide }
        if let maxFrames { limits.maxFrames = maxFrames }
        if let maxAnimationPixels { limits.maxAnimationPixels = maxAnimationPixels }
        if let maxAnimationDecoders { limits.maxAnimationDecoders = maxAnimationDecoders }
        if let maxMemory { limits.maxDecodedBytes = maxMemory }
        if let maxDecodingTime { limits.maxDecodingTime = maxDecodingTime }
        if let maxEncodingTime { limits.maxEncodingTime = maxEncodingTime }
        if allowsImplausible { limits.rejectsImplausibleFiles = false }
        return limits
    }
}
