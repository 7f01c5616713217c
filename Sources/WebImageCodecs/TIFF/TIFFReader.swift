// SPDX-License-Identifier: MIT

#if TIFF
    import CTIFF
    import Foundation
    import WebImageCore

    /// A TIFF file that libtiff has opened. The bytes of the file must outlive it.
    struct TIFFReader: ~Copyable {
        /// The properties of a page.
        struct Page {
            var size: PixelSize
            var orientation: ImageOrientation
            var depth: Int
            /// Whether the samples can be decoded with 16 bits.
            var isDeep: Bool
            /// Whether a sample contains alpha, even if the file doesn't declare it.
            var hasAlpha: Bool
            var rowsPerUnit: Int
            var iccProfile: [UInt8]?
            /// The color model, or `nil` if profiles don't apply to the samples.
            var colorModel: ColorSpaceModel?
        }

        private let handle: OpaquePointer
        private let received: Int
        /// The maximum size of a profile in bytes. Larger profiles are ignored.
        private static let maxProfileBytes = 4 << 20
        /// The maximum number of rows per strip or tile for decoding band by band. Larger strips and tiles need about as
        /// much memory as the whole page.
        static let maxRowsPerUnit = 1_024
        /// The maximum number of pixels of a page that's decoded as a whole although the result is much smaller.
        static let maxPixelsTogether = 16_000_000

        /// Throws an ``ImageError/DecodingFailure``.
        init(_ bytes: UnsafeBufferPointer<UInt8>, limits: ImageLimits) throws(ImageError) {
            try CodecLibraries.load(.tiff, with: wi_tiff_load)
            var handle: OpaquePointer?
            let status = wi_tiff_open(bytes.baseAddress, bytes.count, max(limits.maxDecodedBytes, 1 << 20), &handle)
            guard status == WI_TIFF_OK, let handle else {
                let failure = Self.failure(status, handle, received: bytes.count)
                wi_tiff_close(handle)
                throw failure
            }
            self.handle = handle
            self.received = bytes.count
        }

        deinit { wi_tiff_close(handle) }

        /// Selects a page and returns its properties. Throws
        /// ``ImageError/RequestFailure/frameNotFound(index:frameCount:)`` or an ``ImageError/DecodingFailure``.
        func page(_ index: Int, limits: ImageLimits) throws(ImageError) -> Page {
            var info = wi_tiff_info()
            let status = index >= 0 ? wi_tiff_page(handle, UInt32(clamping: index), &info) : WI_TIFF_END
            guard status == WI_TIFF_OK else {
                guard status == WI_TIFF_END else { throw Self.failure(status, handle, received: received) }
                let count = wi_tiff_pages(handle, UInt32(clamping: max(1, min(limits.maxFrames, 65_536))))
                throw .request(.frameNotFound(index: index, frameCount: Int(count)))
            }
            let profile = info.icc_count <= Self.maxProfileBytes ? info.icc : nil
            return Page(
                size: PixelSize(width: Int(info.width), height: Int(info.height)),
                orientation: ImageOrientation(rawValue: Int(info.orientation)) ?? .up, depth: Int(info.depth),
                isDeep: info.is_deep != 0, hasAlpha: info.has_alpha != 0, rowsPerUnit: Int(info.rows_per_unit),
                iccProfile: profile.map { [UInt8](UnsafeBufferPointer(start: $0, count: info.icc_count)) },
                colorModel: Self.colorModel(info))
        }

        private static func colorModel(_ info: wi_tiff_info) -> ColorSpaceModel? {
            switch info.colors {
            case 1: .gray
            case 3: .rgb
            case 4: .cmyk
            default: nil
            }
        }

        /// Decodes the selected page without applying its orientation, and returns whether pixels are missing, which
        /// `allowsPartial` permits. A format with 16 bits per sample requires a page with `isDeep`.
        func decode(
            _ page: Page, color: ColorConversion?, format: PixelFormat, allowsPartial: Bool,
            context: ImageProcessingContext
        ) throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool) {
            let canvas = try PixelCanvas.forDecoding(page.size, format: format, zeroed: true, context: context)
            // Decode complete strips, so that none is decompressed twice, and enough of them per call to limit the
            // overhead.
            let band = min(page.size.height, Self.bandRows(rowsPerUnit: page.rowsPerUnit, about: 256))
            var isPartial = false
            keepSamples(color, format)
            for top in stride(from: 0, to: page.size.height, by: band) {
                let rows = min(band, page.size.height - top)
                let isWhole = try read(
                    top, count: rows, to: canvas.row(top), bytesPerRow: canvas.bytesPerRow,
                    allowsPartial: allowsPartial, context: context)
                if !isWhole { isPartial = true }
            }
            let isMatteWhole = try convert(
                canvas, of: page, from: 0, color, allowsPartial: allowsPartial, context: context)
            if !isMatteWhole { isPartial = true }
            let isOpaque = canvas.isEveryPixelOpaque()
            return (canvas.finish(isOpaque: isOpaque), isPartial)
        }

        /// Decodes the selected page band by band and reduces it to the size in `layout`, without applying its
        /// orientation. The parameters and the result correspond to those of
        /// ``decode(_:color:format:allowsPartial:context:)``.
        func reduce(
            _ page: Page, layout: DecodeLayout, color: ColorConversion?, format: PixelFormat, allowsPartial: Bool,
            context: ImageProcessingContext
        ) throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool) {
            var resampler = try layout.rowResampler(format, context: context)
            let band = Self.bandRows(rowsPerUnit: page.rowsPerUnit, about: 64)
            var isPartial = false
            var isOpaque = true
            keepSamples(color, format)
            // Also decode the rows below the window, so that corrupt data in them is detected.
            for top in stride(from: 0, to: page.size.height, by: band) {
                let size = PixelSize(width: page.size.width, height: min(band, page.size.height - top))
                let canvas = try PixelCanvas.forDecoding(size, format: format, zeroed: true, context: context)
                let isWhole = try read(
                    top, count: size.height, to: canvas.row(0), bytesPerRow: canvas.bytesPerRow,
                    allowsPartial: allowsPartial, context: context)
                let isMatteWhole = try convert(
                    canvas, of: page, from: top, color, allowsPartial: allowsPartial, context: context)
                if !isWhole || !isMatteWhole { isPartial = true }
                let isBandOpaque = canvas.isEveryPixelOpaque()
                isOpaque = isOpaque && isBandOpaque
                let rows = canvas.finish(isOpaque: isBandOpaque)
                if !resampler.isComplete { try resampler.add(rows, context: context) }
            }
            return (resampler.finish(isOpaque: isOpaque), isPartial)
        }

        /// Returns the number of rows to decode per call, which consist of complete strips or tiles.
        static func bandRows(rowsPerUnit: Int, about count: Int) -> Int { rowsPerUnit * max(1, count / rowsPerUnit) }

        /// Selects the samples that libtiff produces.
        private func keepSamples(_ color: ColorConversion?, _ format: PixelFormat) {
            if color?.source == .cmyk { wi_tiff_keep_ink(handle) }
            if format.layout.isWide { wi_tiff_keep_depth(handle) }
        }

        /// Reads rows of the selected page, and returns whether no pixels are missing.
        private func read(
            _ top: Int, count: Int, to rows: UnsafeMutablePointer<UInt8>, bytesPerRow: Int, allowsPartial: Bool,
            context: ImageProcessingContext
        ) throws(ImageError) -> Bool {
            try context.checkCancellation()
            let status = wi_tiff_rows(
                handle, UInt32(top), UInt32(count), allowsPartial ? 1 : 0, rows, bytesPerRow)
            return try isWhole(status, allowsPartial: allowsPartial)
        }

        /// Returns whether no samples are missing.
        private func isWhole(_ status: wi_tiff_status, allowsPartial: Bool) throws(ImageError) -> Bool {
            guard status != WI_TIFF_OK else { return true }
            guard allowsPartial, status == WI_TIFF_TRUNCATED || status == WI_TIFF_CORRUPT else {
                throw Self.failure(status, handle, received: received)
            }
            return false
        }

        /// Converts the colors of rows of the selected page, and returns whether no alpha is missing.
        private func convert(
            _ canvas: borrowing PixelCanvas, of page: Page, from top: Int, _ color: ColorConversion?,
            allowsPartial: Bool, context: ImageProcessingContext
        ) throws(ImageError) -> Bool {
            guard let color, color.source == .cmyk else {
                if let color {
                    try color.convertPremultiplied(canvas, context: context)
                } else if page.hasAlpha {
                    // The RGBA interface of libtiff doesn't check associated colors.
                    canvas.limitColors()
                }
                return true
            }
            color.convert(canvas, rows: 0..<canvas.size.height)
            guard page.hasAlpha else { return true }
            return try applyMatte(
                to: canvas, from: top, rowsPerUnit: page.rowsPerUnit, allowsPartial: allowsPartial, context: context)
        }

        /// Multiplies opaque rows by the alpha of the selected page, and returns whether no alpha is missing. A pixel
        /// has no room for four inks and alpha, so the alpha is read separately.
        private func applyMatte(
            to canvas: borrowing PixelCanvas, from top: Int, rowsPerUnit: Int, allowsPartial: Bool,
            context: ImageProcessingContext
        ) throws(ImageError) -> Bool {
            let (width, height) = (canvas.size.width, canvas.size.height)
            let band = min(height, Self.bandRows(rowsPerUnit: rowsPerUnit, about: 64))
            var isComplete = true
            for first in stride(from: 0, to: height, by: band) {
                try context.checkCancellation()
                let count = min(band, height - first)
                var matte = [UInt8](repeating: 0, count: width * count)
                let status = wi_tiff_alpha_rows(handle, UInt32(top + first), UInt32(count), &matte, width)
                if try !isWhole(status, allowsPartial: allowsPartial) { isComplete = false }
                for row in 0..<count {
                    let pixels = canvas.row(first + row)
                    for x in 0..<width { pixels[x * 4 + 3] = matte[row * width + x] }
                }
                canvas.premultiply(rows: first..<first + count)
            }
            return isComplete
        }

        private static func failure(_ status: wi_tiff_status, _ handle: OpaquePointer?, received: Int) -> ImageError {
            let words = String(cString: wi_tiff_message(handle))
            let reason = words.isEmpty ? "libtiff can't decode it" : words
            return switch status {
            case WI_TIFF_TRUNCATED: .decoding(.truncated(format: .tiff, receivedBytes: received, expectedBytes: nil))
            case WI_TIFF_MEMORY: .decoding(.outOfMemory(byteCount: received))
            case WI_TIFF_UNSUPPORTED: .decoding(.unsupportedFeature(format: .tiff, feature: feature(words)))
            default: .decoding(.corrupted(format: .tiff, reason: reason))
            }
        }

        /// Returns the name of the feature in a message of libtiff, such as "Sorry, can not handle …".
        private static func feature(_ words: String) -> String {
            guard let place = words.range(of: "handle ") else { return words.isEmpty ? "an unknown feature" : words }
            return String(words[place.upperBound...])
        }
    }
#endif
