// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageConcurrency
import WebImageCore
import WebImageIsolation

/// The programs that the tests run, and coders that use them.
enum Helpers {
    /// The path of a program next to the test bundle, or `nil` if it isn't built.
    static func path(of name: String) -> String? {
        let places = [
            Bundle.main.bundleURL, URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent(),
            Bundle.main.bundleURL.deletingLastPathComponent(),
        ]
        return places.map { $0.appending(path: name).path }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    static let decoder = path(of: HelperLocation.name)
    static let probe = path(of: "isolation-probe")
    /// The helper that attacks its program.
    static let hostile = path(of: "hostile-helper")
    #if ADDRESS_SANITIZER || THREAD_SANITIZER
        /// A helper with a sanitizer can’t reserve its shadow memory within the limits of a helper.
        static let areBuilt = false
    #else
        static let areBuilt = decoder != nil && probe != nil
    #endif
    /// The pool that most tests share.
    static let pool = makePool(decoder ?? "/nonexistent", maxHelpers: sharedHelpers)
    /// The maximum number of helpers that most tests share.
    static let sharedHelpers = 2

    static func makePool(
        _ path: String, maxHelpers: Int = 2, recycleAfter: Int = 500, memoryLimit: Int = 4 << 30,
        idleTime: Duration = .seconds(30), patience: HelperPatience = HelperPatience(), time: TimeSource = .system
    ) -> HelperPool {
        HelperPool(
            HelperPool.Configuration(
                path: path, maxHelpers: maxHelpers, recycleAfter: recycleAfter, memoryLimit: memoryLimit,
                idleTime: idleTime, patience: patience), time: time)
    }

    /// Returns the standard coders, which all work in the helpers of `pool`.
    static func coders(_ pool: HelperPool = pool) -> ImageCoderRegistry {
        ImageCoderRegistry.standard.isolated(
            by: IsolationPolicy(pool: pool, isolatesAllFormats: true, isRequired: true), builtIn: .standard)
    }

    /// Returns a pool whose helpers are `isolation-probe` under another name, which selects its behavior.
    static func probePool(
        named name: String, maxHelpers: Int = 1, patience: HelperPatience = HelperPatience(),
        time: TimeSource = .system
    ) throws -> HelperPool {
        let directory = FileManager.default.temporaryDirectory.appending(path: "webimage-isolation-\(getpid())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let link = directory.appending(path: name)
        try? FileManager.default.removeItem(at: link)
        try FileManager.default.createSymbolicLink(
            atPath: link.path, withDestinationPath: try #require(Helpers.probe))
        return makePool(link.path, maxHelpers: maxHelpers, patience: patience, time: time)
    }

    /// Returns the coder of the confined probe, whose data is the name of an attack.
    static func attacker(_ pool: HelperPool, isVector: Bool = false) -> ImageCoderRegistry {
        let coders = ImageCoderRegistry([AttackName(isVector: isVector)])
        return coders.isolated(
            by: IsolationPolicy(pool: pool, isolatesAllFormats: true, isRequired: true), builtIn: coders)
    }
}

/// The coder of the confined probe, as the program sees it.
struct AttackName: ImageCoder {
    /// Whether the helper is one for vector images.
    var isVector = false

    var identifier: String { "attack" }

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool {
        format == nil || format == .png || isVector && format == .svg
    }

    func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        throw .decoding(.noData)
    }
}

/// The files in `Tests/Fixtures` with images.
enum Images {
    static let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures")

    static let files: [String] = {
        let found = FileManager.default.enumerator(atPath: directory.path)?.compactMap { $0 as? String } ?? []
        return found.filter { name in
            let format = ImageFormat(fileExtension: String(name.split(separator: ".").last ?? ""))
            return format?.isImage == true
                && ["codecs", "formats", "depth", "jpeg2000"].contains { name.hasPrefix($0) }
        }.sorted()
    }()

    static func data(_ name: String) throws -> Data { try Data(contentsOf: directory.appending(path: name)) }

    /// Returns an image with noise.
    static func noise(_ width: Int, _ height: Int, seed: UInt32 = 7, isOpaque: Bool = true) throws -> DecodedImage {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: height))
        var state = seed
        canvas.withUnsafeMutableBytes { bytes in
            for at in 0..<bytes.count {
                state = state &* 1_664_525 &+ 1_013_904_223
                bytes[at] = at % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: state >> 24)
            }
        }
        return DecodedImage(pixels: canvas.finish(isOpaque: isOpaque))
    }

    static func animation(_ count: Int) throws -> DecodedImage {
        let frames = try (0..<count).map { try noise(16, 12, seed: UInt32($0)).pixels }
        return DecodedImage(pixels: frames[0], animation: ImageAnimation(FixedFrames(frames: frames)))
    }
}

private struct FixedFrames: AnimationDecoder {
    let frames: [PixelBuffer]
    var timeline: AnimationTimeline { AnimationTimeline(loopCount: 3, durations: frames.map { _ in 120 }) }
    var cost: Int { 0 }
    func frame(at index: Int) throws(ImageError) -> PixelBuffer { frames[index] }
}

/// Everything that a caller sees of an image, for comparisons.
struct Seen: Equatable {
    var pixels: [[UInt8]]
    var size: PixelSize
    var depth: PixelFormat
    var isOpaque: Bool
    var format: ImageFormat?
    var scale: Double
    var metadata: ImageMetadata
    var timeline: AnimationTimeline?

    init(_ image: DecodedImage, frames: Int = 4) throws {
        pixels = [image.pixels.packedBytes()]
        size = image.size
        depth = image.pixels.format
        isOpaque = image.isOpaque
        format = image.format
        scale = image.scale
        metadata = image.metadata
        timeline = image.animation?.timeline
        for index in 0..<min(frames, image.animation?.frameCount ?? 0) {
            pixels.append(try image.animation?.frame(at: index).packedBytes() ?? [])
        }
    }

    /// Returns the result of a decode, or the code of its error.
    static func result(_ work: () throws -> DecodedImage) -> Result<Seen, CodeOfError> {
        do { return .success(try Seen(try work())) } catch {
            return .failure(CodeOfError(code: (error as? ImageError)?.code ?? -1, text: "\(error)"))
        }
    }
}

/// An error, which equals others with the same code. Helpers remove line breaks from texts.
struct CodeOfError: Error, Equatable {
    var code: Int
    var text: String

    static func == (one: CodeOfError, other: CodeOfError) -> Bool { one.code == other.code }
}
