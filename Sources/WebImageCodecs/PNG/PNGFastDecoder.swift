// SPDX-License-Identifier: MIT

import CPNG
import WebImageCore

/// A fast decoder for the most common PNG files.
///
/// libdeflate decompresses the pixels in one call, and the rows become R, G, B, A while their filters are reversed or
/// immediately afterward. The decoder needs the complete file and enough memory for all rows.
///
/// On two threads, the strips of a file with Apple's chunk iDOT are decoded at the same time. For other files, the second
/// thread decompresses the beginning of the data, too, and reverses the filters of these rows while the first thread
/// decompresses all data, because libdeflate can't continue after a part of the data.
///
/// The decoder leaves unusual files to libpng, which reports the error or recovers a part of the image.
struct PNGFastDecoder {
    /// The contents of a row.
    enum Layout {
        /// 8-bit samples: R, G, B, or R, G, B, A.
        case colors(channels: Int)
        /// 8-bit samples: gray and alpha.
        case grayAlpha
        /// Samples of 1, 2, 4, or 8 bits that are indices into a table of 256 colors.
        case indices(bits: Int, table: [UInt32])
    }

    /// The maximum number of pixels. Larger images are decoded row by row, because the decompressed data would use too
    /// much additional memory.
    static let mostPixels = 16_000_000

    let size: PixelSize
    let layout: Layout
    /// The size of a row in bytes, including its filter type.
    let rowBytes: Int

    /// Creates a decoder. The initializer returns `nil` if the image is too large.
    init?(_ size: PixelSize, _ layout: Layout) {
        guard let area = size.area, area <= Self.mostPixels, size.width > 0 else { return nil }
        self.size = size
        self.layout = layout
        rowBytes =
            1
            + {
                switch layout {
                case .colors(let channels): size.width * channels
                case .grayAlpha: size.width * 2
                case .indices(let bits, _): (size.width * bits + 7) / 8
                }
            }()
    }

    /// The result of decoding an image.
    enum Outcome {
        /// libpng must decode the image, and the contents of the canvas are undefined.
        case failed
        /// All rows were decoded. The value indicates whether the checksum of the compressed data is correct.
        case decoded(isVerified: Bool)
    }

    /// Decodes the image into `canvas`. The result doesn't depend on the number of threads of `context`.
    func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, into canvas: borrowing PixelCanvas, context: ImageProcessingContext
    ) throws(ImageError) -> Outcome {
        var pixels = wi_png_pixels()
        defer { wi_png_pixels_free(&pixels) }
        guard wi_png_pixels_find(bytes.baseAddress, bytes.count, UInt32(clamping: size.height), &pixels) else {
            return .failed
        }
        let operation = PNGRowOperation(self, pixels, canvas, context)
        guard context.threadCount > 1 else { return try operation.decode() }
        if pixels.first_rows > 0, try operation.decodeStrips() { return .decoded(isVerified: true) }
        return try operation.decode()
    }
}
