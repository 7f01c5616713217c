// SPDX-License-Identifier: MIT

// A format the library does not know, taught by an app: farbfeld (tools.suckless.org/farbfeld). Eight bytes “farbfeld”,
// width and height, then straight RGBA, 16 bits each, all big-endian. Encodes a picture, decodes it again through a
// manager, smaller, and ends with status 1 where a pixel is not what it was.

import Foundation
import WebImage

struct FarbfeldCoder: ImageCoder {
    static let format = ImageFormat(rawValue: "farbfeld")
    static let magic = Data("farbfeld".utf8)

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == nil && prefix.starts(with: Self.magic) }
    func canEncode(_ format: ImageFormat) -> Bool { format == Self.format }

    func decode(_ data: Data, probe: ImageProbe?, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> Image
    {
        let bytes = [UInt8](data)
        guard bytes.count >= 16 else {
            throw .decode(.truncated(format: Self.format, received: bytes.count, expected: 16))
        }
        func number(_ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
        let size = PixelSize(width: number(8), height: number(12))
        // The library cannot check what it does not know: sizes are looked at before memory is taken.
        let count = try context.limits.check(size: size)
        guard (bytes.count - 16) / 8 >= count else {
            throw .decode(.truncated(format: Self.format, received: bytes.count, expected: nil))
        }
        let canvas = try PixelCanvas(size: size)
        let stride = canvas.bytesPerRow
        try canvas.withUnsafeMutableBytes { pixels throws(ImageError) in
            for y in 0..<size.height {
                try context.checkpoint()
                for x in 0..<size.width {
                    let from = 16 + (y * size.width + x) * 8
                    let alpha = Int(bytes[from + 6])
                    for channel in 0..<3 {
                        pixels[y * stride + x * 4 + channel] = UInt8(
                            (Int(bytes[from + channel * 2]) * alpha + 127) / 255)
                    }
                    pixels[y * stride + x * 4 + 3] = UInt8(alpha)
                }
            }
        }
        let whole = Image(pixels: canvas.finish(isOpaque: false), scale: options.scale, format: Self.format)
        guard let target = options.size else { return whole }
        let transform = TransformContext(scale: options.scale, coding: context)
        return try ResizeTransformer(to: target).apply(to: whole, context: transform)
    }

    func encode(_ image: Image, as encoding: ImageEncoding, context: CodingContext) throws(ImageError) -> Data {
        var data = Self.magic
        for side in [image.size.width, image.size.height] {
            data += (0..<4).map { UInt8(truncatingIfNeeded: side >> (24 - 8 * $0)) }
        }
        for y in 0..<image.size.height {
            try context.checkpoint()
            for x in 0..<image.size.width {
                guard let pixel = image.pixels.pixel(x: x, y: y) else { continue }
                let alpha = Int(pixel.alpha)
                for value in [pixel.red, pixel.green, pixel.blue] {
                    let straight = alpha == 0 ? 0 : UInt8(min(255, (Int(value) * 255 + alpha / 2) / alpha))
                    data += [straight, straight]
                }
                data += [pixel.alpha, pixel.alpha]
            }
        }
        return data
    }
}

let manager = ImageManager {
    $0.cache.usesDisk = false
    $0.coders.register(FarbfeldCoder())
}
func picture() throws -> Image {
    let canvas = try PixelCanvas(size: PixelSize(width: 64, height: 32))
    canvas.withUnsafeMutableBytes { bytes in
        for index in bytes.indices { bytes[index] = index % 4 == 3 ? 255 : UInt8(index % 4 * 100) }
    }
    return Image(pixels: canvas.finish(isOpaque: true))
}

let data = try manager.configuration.coders.encode(
    picture(), as: ImageEncoding(format: FarbfeldCoder.format), context: CodingContext())
let file = FileManager.default.temporaryDirectory.appending(path: "own-coder-\(UUID().uuidString).ff")
try data.write(to: file)
defer { try? FileManager.default.removeItem(at: file) }
let image = try await manager.image(for: ImageRequest(file, size: .fit(width: 16)))
await manager.close()
print("\(data.count) bytes of \(FarbfeldCoder.format), decoded to \(image.size)")
let pixel = image.pixels.pixel(x: 8, y: 4)
if image.size != PixelSize(width: 16, height: 8) || pixel.map({ [$0.red, $0.green, $0.blue] }) != [0, 100, 200] {
    print("not what it was: \(String(describing: pixel))")
    try? FileManager.default.removeItem(at: file)
    exit(1)
}
