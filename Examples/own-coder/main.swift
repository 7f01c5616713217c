// SPDX-License-Identifier: MIT

// Adds a coder for a format that the library doesn't support: farbfeld (tools.suckless.org/farbfeld). A file contains
// the eight bytes “farbfeld”, the width and the height, and the pixels. All numbers are big-endian. The pixels are RGBA
// with straight alpha and 16 bits per sample. The example decodes an image through a manager at a smaller size. It
// exits with status 1 if a pixel has an unexpected value.

import Foundation
import WebImage

struct FarbfeldCoder: ImageCoder {
    static let format = ImageFormat(rawValue: "farbfeld")

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool {
        format == nil && prefix.starts(with: Data("farbfeld".utf8))
    }

    func decode(_ data: Data, info probe: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        let bytes = [UInt8](data)
        func number(_ at: Int) -> Int { at + 4 > bytes.count ? 0 : bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
        let size = PixelSize(width: number(8), height: number(12))
        // The library can't check an unknown format in advance, so check the size before allocating memory.
        try context.limits.check(size)
        let expected = 16 + 8 * size.width * size.height
        guard bytes.count >= expected else {
            throw .decoding(
                ImageError.DecodingFailure(
                    .truncated(receivedBytes: bytes.count, expectedBytes: expected), format: Self.format))
        }
        let canvas = try PixelCanvas(size: size)
        canvas.withUnsafeMutableBytes { pixels in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let (from, to) = (16 + 8 * (y * size.width + x), y * canvas.bytesPerRow + 4 * x)
                    let alpha = Int(bytes[from + 6])
                    for at in 0..<3 { pixels[to + at] = UInt8((Int(bytes[from + 2 * at]) * alpha + 127) / 255) }
                    pixels[to + 3] = UInt8(alpha)
                }
            }
        }
        let image = DecodedImage(pixels: canvas.finish(isOpaque: false), scale: options.scale, format: Self.format)
        guard let target = options.size else { return image }
        return try StandardTransformer.resize(target).apply(
            to: image, context: context)
    }
}

let manager = ImageManager {
    $0.diskCache = nil
    $0.coders.register(FarbfeldCoder())
}
// An image of 64 × 32 pixels with a single color.
var data = Data("farbfeld".utf8) + [0, 0, 0, 64, 0, 0, 0, 32]
for _ in 0..<64 * 32 { data += [0, 0, 100, 100, 200, 200, 255, 255] }
let file = FileManager.default.temporaryDirectory.appending(path: "own-coder-\(UUID().uuidString).ff")
try data.write(to: file)
defer { try? FileManager.default.removeItem(at: file) }
let image = try await manager.image(for: ImageRequest(url: file, size: .fit(width: 16)))
await manager.shutdown()
print("\(data.count) bytes of \(FarbfeldCoder.format), decoded to \(image.size)")
let pixel = image.pixels.color(x: 8, y: 4)
if image.size != PixelSize(width: 16, height: 8) || pixel.map({ [$0.red, $0.green, $0.blue] }) != [0, 100, 200] {
    print("unexpected pixel: \(String(describing: pixel))")
    try? FileManager.default.removeItem(at: file)
    exit(1)
}
