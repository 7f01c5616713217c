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
            /// A Boolean value that indicates whether the samples can be decoded with 16 bits.
            var isDeep: Bool
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

        /// Opens a file.
        ///
        /// - Throws: A decoding error (4xxx).
        init(_ bytes: UnsafeBufferPointer<UInt8>, limits: ImageLimits) throws(ImageError) {
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

        /// Selects a page and returns its properties.
        ///
        /// - Throws: ``ImageError/RequestFailure/frameNotFound(index:frameCount:)`` or a decoding error (4xxx).
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
            case 4: info.has_alpha == 0 ? .cmyk : nil
            default: nil
            }
        }

        /// Decodes the selected page without applying its orientation.
        ///
        /// - Parameters:
        ///   - page: The properties of the selected page.
        ///   - color: The color conversion to apply.
        ///   - format: The pixel format of the result. 16 bits per sample require a page with `isDeep`.
        ///   - allowsPartial: A Boolean value that indicates whether missing pixels are accepted.
        ///   - context: The limits, the deadline, and the cancellation of the operation.
        /// - Returns: The pixels, and a Boolean value that indicates whether some are missing.
        func decode(
            _ page: Page, color: ColorConversion?, format: PixelFormat, allowsPartial: Bool,
            context: ImageProcessingContext
        ) throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool) {
            let canvas = try PixelCanvas.forDecoding(page.size, format: format, zeroed: true, context: context)
            // Decode complete strips, so that none is decompressed twice, and enough of them per call to limit the
            // overhead.
            let units = max(1, 256 / page.rowsPerUnit)
            let band = min(page.size.height, page.rowsPerUnit * units)
            var isPartial = false
            if color?.source == .cmyk { wi_tiff_keep_ink(handle) }
            if format == .rgba16 { wi_tiff_keep_depth(handle) }
            for top in stride(from: 0, to: page.size.height, by: band) {
                try context.checkCancellation()
                let rows = min(band, page.size.height - top)
                let status = wi_tiff_rows(
                    handle, UInt32(top), UInt32(rows), allowsPartial ? 1 : 0, canvas.row(top), canvas.bytesPerRow)
                guard status != WI_TIFF_OK else { continue }
                guard allowsPartial, status == WI_TIFF_TRUNCATED || status == WI_TIFF_CORRUPT else {
                    throw Self.failure(status, handle, received: received)
                }
                isPartial = true
            }
            if let color, color.source == .cmyk {
                color.convert(canvas, rows: 0..<page.size.height)
            } else {
                try color?.convertPremultiplied(canvas, context: context)
            }
            let isOpaque = canvas.isEveryPixelOpaque()
            return (canvas.finish(isOpaque: isOpaque), isPartial)
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
