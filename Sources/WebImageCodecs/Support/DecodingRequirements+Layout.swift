// SPDX-License-Identifier: MIT

import WebImageCore

extension DecodingRequirements {
    /// Creates the requirements for decoding and resampling an image. The initializer returns `nil` if the decoder can't
    /// reduce the image to the requested size. `detail` is that of the image, and the default is that of its header.
    init?(
        _ info: ImageInfo, _ options: ImageDecodingOptions, _ reduction: DecoderReduction, detail: StoredDetail? = nil
    ) {
        let detail = detail ?? info.detail
        // A decoder reduces noise only if the limits require it, so the size is that of the reduced image, and the memory
        // is that of the whole image.
        let layout = try? DecodeLayout(
            rawSize: info.storedSize, orientation: info.orientation, options: options, reduction: reduction,
            detail: min(detail, .fine), context: ImageProcessingContext(limits: .unlimited))
        guard let layout, layout.isScaled, reduction != .rows || layout.isMuchSmaller else { return nil }
        self.init(size: layout.decodedSize, byteCount: 0)
        let format = options.pixelFormat(info.bitDepth)
        if reduction != .rows {
            let isNoise = detail == .noise && options.resampling.light == .linear
            add(pixelsOf: isNoise ? info.storedSize : layout.decodedSize, bytesPerPixel: format.bytesPerPixel)
        }
        // Resampling, the color conversion, and the orientation need the result and one copy of it.
        add(pixelsOf: layout.output, bytesPerPixel: 2 * format.bytesPerPixel)
    }

    mutating func add(pixelsOf size: PixelSize, bytesPerPixel: Int) {
        let (bytes, overflow) = (size.area ?? .max).multipliedReportingOverflow(by: bytesPerPixel)
        add(byteCount: overflow ? .max : bytes)
    }

    mutating func add(byteCount bytes: Int) {
        let (sum, isTooLarge) = byteCount.addingReportingOverflow(bytes)
        // The budget adds the costs of jobs, so leave room for the sum.
        byteCount = isTooLarge ? Int.max / 2 : min(sum, Int.max / 2)
    }

    /// Adds the memory for a band of source rows and for the sums of the output rows to which it contributes.
    mutating func add(bandOf info: ImageInfo, rows: Int, options: ImageDecodingOptions) {
        let format = options.pixelFormat(info.bitDepth)
        // Deep sources also need a band with 16 bits per sample.
        let bytesPerPixel = info.bitDepth > 8 ? 8 + format.bytesPerPixel : format.bytesPerPixel
        add(pixelsOf: PixelSize(width: info.storedSize.width, height: rows), bytesPerPixel: bytesPerPixel)
        // A source row contributes to up to seven output rows, with four floating-point sums per column. In linear light,
        // up to 16 rows have a 16-bit copy, or a floating-point copy of deep sources.
        add(pixelsOf: PixelSize(width: info.storedSize.width, height: 7), bytesPerPixel: 16)
        add(
            pixelsOf: PixelSize(width: info.storedSize.width, height: 16), bytesPerPixel: 2 * format.bytesPerPixel)
    }
}
