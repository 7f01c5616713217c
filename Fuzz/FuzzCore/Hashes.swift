// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport

@testable import WebImageCore

/// The targets of placeholder hashes.
enum Hashes {
    static let targets = [
        FuzzTarget(
            text: "blurhash", maxLength: 256, seeds: ["LEHV6nWB2yk8pyo0adR*.7kCMdnj", "00OZZy"], run: blurHash),
        FuzzTarget(
            "thumbhash", maxLength: 64,
            seeds: { ["1QcSHQRnh493V4dIh4eXh1h4kJUI", "YJqGPQw7sFlslqhFafSE+Q6oJ1h2iHB2Rw"].compactMap(decoded) },
            run: thumbHash),
    ]

    private static func decoded(_ text: String) -> Data? {
        Data(base64Encoded: text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4))
    }

    private static func blurHash(_ text: String) {
        guard let hash = try? BlurHash(text) else { return }
        require((try? BlurHash(hash.string)) == hash, "A written hash can’t be read.")
        let size = PixelSize(width: 7, height: 5)
        guard let pixels = try? hash.pixels(size: size) else { return }
        require(pixels.size == size, "The placeholder has another size.")
    }

    private static func thumbHash(_ bytes: UnsafeRawBufferPointer) {
        guard let hash = try? ThumbHash(bytes) else { return }
        require((try? ThumbHash(hash.bytes)) == hash, "A written hash can’t be read.")
        guard let pixels = try? hash.pixels() else { return }
        require((1...32).contains(pixels.width) && (1...32).contains(pixels.height), "The placeholder is too large.")
    }
}
