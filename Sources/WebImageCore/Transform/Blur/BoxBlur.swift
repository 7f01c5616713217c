// SPDX-License-Identifier: MIT

import CPixelKernels

/// A blur of three box passes in each direction.
///
/// Boxes with fractional ends have exactly the requested variance (Gwosdek, Grewenig, Bruhn, and Weickert,
/// “Theoretical Foundations of Gaussian Convolution by Extended Box Filtering”, 2011). The time doesn't depend on the
/// variance.
enum BoxBlur {
    /// The maximum standard deviation in pixels. Larger values are clamped.
    static let largestDeviation = 16_384.0

    /// Returns one of three boxes whose variances add up to deviation².
    static func box(deviation: Double) -> wi_box {
        let variance = deviation * deviation / 3
        let radius = (0.5 * (12 * variance + 1).squareRoot() - 0.5).rounded(.down)
        let next = (radius + 1) * (radius + 1)
        let edge = (2 * radius + 1) * (radius * (radius + 1) - 3 * variance) / (6 * (variance - next))
        return wi_box(radius: UInt32(radius), edge: Float(edge), scale: Float(1 / (2 * radius + 1 + 2 * edge)))
    }

    /// Returns pixels blurred by a Gaussian with a positive, finite standard deviation in pixels. Opaque images remain
    /// opaque.
    static func blur(
        _ pixels: PixelBuffer, deviation: Double, context: ImageProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        try context.limits.check(result: pixels.size, format: pixels.format)
        try context.checkCancellation()
        let canvas = try PixelCanvas(size: pixels.size, format: pixels.format, cleared: false)
        let kernels = pixels.format.kernels
        let box = box(deviation: min(deviation, largestDeviation))
        var checkpoints = CancellationChecker(context)
        var scratch = [Float](repeating: 0, count: 64 * max(pixels.width, pixels.height))
        let bytesPerPixel = pixels.format.bytesPerPixel
        for row in stride(from: 0, to: pixels.height, by: 8) {
            let rows = min(8, pixels.height - row)
            try checkpoints.count(pixels: rows * pixels.width * 4)
            pixels.withRow(row) { from in
                kernels.blur_lines(
                    from, canvas.baseAddress + row * canvas.bytesPerRow, bytesPerPixel, pixels.bytesPerRow,
                    bytesPerPixel, canvas.bytesPerRow, pixels.width, rows, box, &scratch)
            }
        }
        for column in stride(from: 0, to: pixels.width, by: 8) {
            let columns = min(8, pixels.width - column)
            try checkpoints.count(pixels: columns * pixels.height * 4)
            let place = canvas.baseAddress + column * bytesPerPixel
            kernels.blur_lines(
                place, place, canvas.bytesPerRow, bytesPerPixel, canvas.bytesPerRow, bytesPerPixel, pixels.height,
                columns, box, &scratch)
        }
        canvas.clearPadding()
        return canvas.finish(isOpaque: pixels.isOpaque)
    }
}
