// SPDX-License-Identifier: MIT

#if JXL
    import WebImageCore

    /// The colors that XYB, the color space of lossy JPEG XL files, can't represent.
    ///
    /// libjxl sets negative responses of the cones to zero. Only color spaces with imaginary primaries, such as ProPhoto
    /// RGB, have such colors.
    struct XYBRange {
        /// The matrix from linear light of sRGB to the responses of the cones, and their bias (ISO/IEC 18181-1, annex L).
        private static let cones = Matrix3([
            [0.30, 0.622, 0.078], [0.23, 0.692, 0.078],
            [0.243_422_689_245_478_2, 0.204_767_444_244_968_2, 0.551_809_866_509_553_6],
        ])
        private static let bias = 0.003_793_073_255_275_449

        private let matrix: [Float]
        /// The linear light of 8-bit samples, or of the upper 8 bits of 16-bit samples.
        private let light: [Float]

        /// Creates the range for images of a color space, or `nil` if XYB can represent all of its colors.
        init?(_ space: StandardColorSpace) {
            guard space.transfer != .pq, space.transfer != .hlg, let toSRGB = space.primaries.toSRGB else { return nil }
            let matrix = (Self.cones * toSRGB).flat
            // The smallest response of a row is that of the color with only the primaries of negative weights.
            let isComplete = stride(from: 0, to: 9, by: 3).allSatisfy { row in
                matrix[row..<row + 3].reduce(Self.bias) { $0 + min($1, 0) } >= 0
            }
            guard !isComplete else { return nil }
            self.matrix = matrix.map { Float($0) }
            light = (0...255).map { Float(space.transfer.light(Double($0) / 255)) }
        }

        /// Returns whether a pixel has a color that XYB can't represent.
        func excludes(_ pixels: PixelBuffer) -> Bool {
            let bias = Float(Self.bias)
            // The light of premultiplied samples isn't exact, but a different choice only changes the size of the file.
            let (step, stride) = (pixels.format.bytesPerPixel, pixels.format.layout.bytesPerSample)
            let high = stride - 1
            return pixels.withUnsafeBytes { bytes in
                light.withUnsafeBufferPointer { light in
                    matrix.withUnsafeBufferPointer { m in
                        for row in 0..<pixels.height {
                            var place = row * pixels.bytesPerRow + high
                            for _ in 0..<pixels.width {
                                let red = light[Int(bytes[place])]
                                let green = light[Int(bytes[place + stride])]
                                let blue = light[Int(bytes[place + stride * 2])]
                                let long = m[0] * red + m[1] * green + m[2] * blue + bias
                                let middle = m[3] * red + m[4] * green + m[5] * blue + bias
                                let short = m[6] * red + m[7] * green + m[8] * blue + bias
                                if min(long, middle, short) < 0 { return true }
                                place += step
                            }
                        }
                        return false
                    }
                }
            }
        }
    }
#endif
