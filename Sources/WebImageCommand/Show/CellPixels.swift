// SPDX-License-Identifier: MIT

import WebImageCore

/// Pixels in the format that libchafa accepts: RGBA with straight alpha, in rows without padding.
package struct CellPixels: Sendable {
    package let width: Int
    package let height: Int
    package let bytes: [UInt8]

    /// Creates pixels from bytes.
    init(width: Int, height: Int, bytes: [UInt8]) {
        self.width = width
        self.height = height
        self.bytes = bytes
    }

    /// Draws `pixels` on `background`.
    ///
    /// For sixels and kitty, which show the pixels unchanged, the result is extended with transparent pixels to whole
    /// cells, so that it isn't resized again.
    ///
    /// - Throws: ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    package init(
        _ pixels: PixelBuffer, on background: ShowOptions.Background, grid: CellGrid, cells: CellCount
    ) throws(ImageError) {
        let isPadded = grid.style != .symbols
        let width = isPadded ? cells.columns * grid.cell.width : pixels.width
        let height = isPadded ? cells.rows * grid.cell.height : pixels.height
        var bytes = [UInt8](repeating: 0, count: width * height * 4)
        let square = max(1, min(grid.cell.width, grid.cell.height))
        pixels.withUnsafeBytes { source in
            for y in 0..<min(height, pixels.height) {
                for x in 0..<min(width, pixels.width) {
                    let from = y * pixels.bytesPerRow + x * 4
                    let to = (y * width + x) * 4
                    let under = Self.color(background, isLight: (x / square + y / square).isMultiple(of: 2))
                    Self.mix(source, from, under, &bytes, to)
                }
            }
        }
        self.width = width
        self.height = height
        self.bytes = bytes
    }

    private static func color(_ background: ShowOptions.Background, isLight: Bool) -> PixelColor {
        switch background {
        case .terminal: .clear
        case .color(let color): color
        case .checkerboard:
            isLight ? PixelColor(red: 204, green: 204, blue: 204) : .init(red: 153, green: 153, blue: 153)
        }
    }

    /// Composites one premultiplied pixel over `under`, which is either clear or opaque.
    private static func mix(
        _ source: UnsafeRawBufferPointer, _ from: Int, _ under: PixelColor, _ bytes: inout [UInt8], _ to: Int
    ) {
        let alpha = Int(source[from + 3])
        let channels = [under.red, under.green, under.blue]
        if under.alpha == 0 {
            guard alpha > 0 else { return }
            for index in 0..<3 {
                bytes[to + index] = UInt8(min(255, (Int(source[from + index]) * 255 + alpha / 2) / alpha))
            }
            bytes[to + 3] = UInt8(alpha)
        } else {
            for index in 0..<3 {
                let below = (Int(channels[index]) * (255 - alpha) + 127) / 255
                bytes[to + index] = UInt8(min(255, Int(source[from + index]) + below))
            }
            bytes[to + 3] = 255
        }
    }
}
