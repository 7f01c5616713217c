// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

/// A coder that decodes every image to one pixel, or throws if `failure` is set.
private struct DotCoder: ImageCoder {
    var identifier: String
    var format: ImageFormat?
    var magic: [UInt8]?
    var failure: String?

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool {
        if let format { return format == self.format }
        return magic.map { prefix.starts(with: $0) } ?? false
    }

    func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        if let failure { throw .decoding(.corrupted(format: ImageFormat(rawValue: identifier), reason: failure)) }
        let canvas = try PixelCanvas(size: PixelSize(width: 1, height: 1))
        return DecodedImage(pixels: canvas.finish(isOpaque: false), format: ImageFormat(rawValue: identifier))
    }
}

@Suite("Coder registry")
struct ImageCoderRegistryTests {
    private static let dots = ImageFormat(rawValue: "dots")
    /// Data in a format that sniffing doesn't recognize.
    private let data = Data([0xD0, 0x75, 1, 2, 3])

    private func format(_ registry: ImageCoderRegistry, _ data: Data, hint: ImageFormat? = nil) throws -> String? {
        let options = ImageDecodingOptions(formatHint: hint)
        return try registry.decode(data, options: options, context: ImageProcessingContext()).format?.rawValue
    }

    @Test("The registry tries the most recently registered coder first and falls back to the next")
    func order() throws {
        var registry = ImageCoderRegistry([DotCoder(identifier: "old", magic: [0xD0])])
        registry.register(DotCoder(identifier: "new", magic: [0xD0]))
        #expect(registry.identifiers == ["new", "old"])
        #expect(try format(registry, data) == "new")
        registry.register(DotCoder(identifier: "broken", magic: [0xD0], failure: "no"))
        #expect(try format(registry, data) == "new")
    }

    @Test("If all coders fail, the error lists their errors in the order in which they were tried")
    func failures() throws {
        let coders: [any ImageCoder] = ["b", "a"].map { DotCoder(identifier: $0, magic: [0xD0], failure: $0) }
        let registry = ImageCoderRegistry(coders)
        let expected = ["a", "b"].map {
            ImageError.DecodingFailure.corrupted(format: ImageFormat(rawValue: $0), reason: $0)
        }
        #expect(throws: ImageError.decoding(.allDecodersFailed(expected))) { try format(registry, data) }
    }

    @Test("A coder can be unregistered by its identifier")
    func unregister() throws {
        let coders: [any ImageCoder] = ["a", "b", "a"].map { DotCoder(identifier: $0, magic: [0xD0]) }
        var registry = ImageCoderRegistry(coders)
        let answers = [registry.unregister("a"), registry.unregister("a")]
        #expect(answers == [true, false] && registry.identifiers == ["b"])
        registry.unregister("b")
        #expect(throws: ImageError.decoding(.unknownFormat)) { try format(registry, data) }
    }

    @Test("The default identifier of a coder is the name of its type")
    func identifiers() {
        struct Plain: ImageCoder {
            func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { false }
            func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
                throws(ImageError) -> DecodedImage
            {
                throw .decoding(.unknownFormat)
            }
        }
        #expect(ImageCoderRegistry([Plain()]).identifiers[0].hasSuffix("Plain"))
    }

    @Test("A hint selects the coder if the data isn't recognized, and a wrong hint excludes no coder")
    func hints() throws {
        let registry = ImageCoderRegistry([
            DotCoder(identifier: "magic", magic: [0xD0]), DotCoder(identifier: "hinted", format: Self.dots),
        ])
        #expect(try format(registry, data, hint: Self.dots) == "hinted")
        #expect(try format(registry, data, hint: ImageFormat(rawValue: "tga")) == "magic")
        #expect(try format(registry, Data([1, 2, 3]), hint: Self.dots) == "hinted")
        #expect(throws: ImageError.decoding(.unknownFormat)) { try format(registry, Data([1, 2, 3])) }
    }

    @Test("A hint for a known format never bypasses the header checks")
    func knownFormats() throws {
        let registry = ImageCoderRegistry([DotCoder(identifier: "jpeg", format: .jpeg)])
        #expect(throws: ImageError.decoding(.unknownFormat)) { try format(registry, data, hint: .jpeg) }
        let page = Data("<!DOCTYPE html><html></html>".utf8)
        #expect(throws: ImageError.decoding(.notAnImage(.html))) { try format(registry, page, hint: .jpeg) }
    }

    @Test("A custom format may look like text")
    func text() throws {
        let registry = ImageCoderRegistry([DotCoder(identifier: "own", magic: Array("dots 1".utf8))])
        #expect(try format(registry, Data("dots 1\n0 1 0 1\n".utf8)) == "own")
        #expect(throws: ImageError.self) { try format(registry, Data("Dots and lines\n".utf8)) }
    }

    @Test("A registry with only one coder uses it without `canDecode`, and the limits still apply")
    func only() throws {
        let registry = ImageCoderRegistry(only: DotCoder(identifier: "own"))
        #expect(try format(registry, Data("<!DOCTYPE html><html></html>".utf8)) == "own")
        var limits = ImageLimits.desktop
        limits.maxEncodedBytes = 4
        #expect(throws: ImageError.self) { try registry.decode(data, context: ImageProcessingContext(limits: limits)) }
    }
}
