// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport
import WebImageCore

@testable import WebImageIsolation

/// The target of the bodies of messages.
enum Bodies {
    /// The bodies that a message can have, in both directions.
    private static let bodies: [any (BinaryCodable & SendableMetatype).Type] = [
        DecodeBody.self, SessionBody.self, OpenBody.self, EncodeBody.self, ImageBody.self, PreviewBody.self,
        PixelBody.self, NumberBody.self, RangeBody.self, IsolationReport.self, ImageError.self,
    ]

    /// Returns valid bodies in the order of ``bodies``, with the number of their kind as the choice at the end.
    static func seeds() -> [Data] {
        guard let canvas = try? PixelCanvas(size: PixelSize(width: 3, height: 2)) else { return [] }
        let image = ImageBody(DecodedImage(pixels: canvas.finish(isOpaque: true)), offset: 8)
        let rules = WorkRules(ImageProcessingContext(limits: .server))
        let decode = DecodeBody(
            rules: rules, coder: "png", dataCount: 9, info: ImageInfo(format: .png, storedSize: image.pixels.size),
            options: ImageDecodingOptions(size: .fit(width: 3)), session: 1, frame: 2)
        let values: [any BinaryCodable] = [
            decode, SessionBody(rules: rules, session: 1), OpenBody(decode: decode, grows: true),
            EncodeBody(rules: rules, coder: "png", encoding: ImageEncoding(format: .png), image: image), image,
            image.pixels, NumberBody(3), RangeBody(offset: 1, count: 2),
            ImageError.decoding(.corrupted(format: .png, reason: "x")),
        ]
        return values.compactMap { value in
            let kind = bodies.firstIndex { $0 == type(of: value) }
            return kind.map { Data(value.body) + [UInt8($0)] }
        }
    }

    /// Reads the input as a body of a kind that it chooses, and writes it again.
    static func run(_ bytes: UnsafeRawBufferPointer) {
        var choices = FuzzChoices(bytes)
        let type = choices.element(of: bodies)
        check(type, Array(choices.rest))
    }

    private static func check<Value: BinaryCodable>(_ type: Value.Type, _ bytes: [UInt8]) {
        guard let value = try? Value(body: bytes) else { return }
        let written = value.body
        let again: Value
        do {
            again = try Value(body: written)
        } catch {
            fatalError("A \(type) can’t be read after it was written: \(error)")
        }
        require(again.body == written, "A \(type) changes if it’s written and read.")
        guard let pixels = (value as? ImageBody)?.pixels ?? value as? PixelBody else { return }
        let memory = [UInt8](repeating: 0, count: 4_096)
        memory.withUnsafeBytes { region in
            guard case .success(let copy)? = try? pixels.copy(from: region) else { return }
            require(pixels.offset + pixels.byteCount <= region.count, "Pixels outside of the memory are copied.")
            require(copy.size == pixels.size, "The copied pixels have another size.")
        }
    }
}
