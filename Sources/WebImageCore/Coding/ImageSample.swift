// SPDX-License-Identifier: MIT

import Foundation

/// A small image that consists of blocks from all parts of another image.
///
/// Encoders need about as many bits per pixel for it as for the whole image, and it shows how the effort and the quality
/// change the size of the file.
struct ImageSample {
    /// The sample, without metadata.
    let image: DecodedImage
    /// The number of pixels of the sample as a fraction of the pixels of the image.
    let share: Double

    /// The length of the sides of a block. It's the size of the largest blocks of HEVC and AV1, so few predictions cross
    /// the edge between two blocks.
    private static let blockSide = 64
    private static let targetShare = 0.125
    /// The minimum number of blocks per row and per column.
    private static let minBlocks = 3

    /// Takes a sample, or returns `nil` if the image is too small for one.
    init?(_ whole: DecodedImage) throws(ImageError) {
        let pixels = whole.pixels
        let (side, scale) = (Self.blockSide, Self.targetShare.squareRoot())
        func blocks(_ length: Int) -> Int {
            max(Self.minBlocks, Int((Double(length) * scale / Double(side)).rounded()))
        }
        let (columns, rows) = (blocks(pixels.width), blocks(pixels.height))
        guard columns * side < pixels.width, rows * side < pixels.height else { return nil }
        let canvas = try PixelCanvas(
            size: PixelSize(width: columns * side, height: rows * side), format: pixels.format, cleared: false)
        // Blocks at random positions represent periodic images better than blocks at equal distances. The sequence is
        // constant, so that equal images have equal samples. The positions are multiples of the side, because images that
        // were encoded before need fewer bits in the same blocks.
        var random: UInt32 = 12_345
        func position(_ index: Int, of count: Int, in length: Int) -> Int {
            random = random &* 1_664_525 &+ 1_013_904_223
            let cell = Double(length) / Double(count)
            let offset = Double(random >> 16) / 65_536 * max(0, cell - Double(side))
            return min(Int(Double(index) * cell + offset), length - side) / side * side
        }
        pixels.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            let pixel = pixels.format.bytesPerPixel
            for row in 0..<rows {
                for column in 0..<columns {
                    let x = position(column, of: columns, in: pixels.width)
                    let y = position(row, of: rows, in: pixels.height)
                    for line in 0..<side {
                        let target = (row * side + line) * canvas.bytesPerRow + column * side * pixel
                        (canvas.baseAddress + target).copyMemory(
                            from: start + (y + line) * pixels.bytesPerRow + x * pixel, byteCount: side * pixel)
                    }
                }
            }
        }
        let size = canvas.size
        image = whole.replacing(pixels: canvas.finish(isOpaque: pixels.isOpaque), animation: nil)
        share = Double(size.width * size.height) / Double(pixels.width * pixels.height)
    }
}
