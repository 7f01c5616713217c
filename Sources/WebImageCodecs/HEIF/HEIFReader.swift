// SPDX-License-Identifier: MIT

#if HEIF
    import CHEIF
    import WebImageCore

    /// An image in a HEIF file that libheif has opened. The bytes of the file must outlive it.
    struct HEIFReader: ~Copyable {
        private let handle: OpaquePointer
        private let imageInfo: wi_heif_info
        /// The description of the image, or of the thumbnail that replaces it.
        private var info: wi_heif_info
        private let received: Int
        /// The maximum size of a profile in bytes. Larger profiles are ignored.
        private static let maxProfileBytes = 4 << 20

        /// Opens the image with the index `imageIndex`. Index 0 is the primary image. Throws
        /// ``ImageError/RequestFailure/frameNotFound(index:frameCount:)`` or an ``ImageError/DecodingFailure``.
        init(_ bytes: UnsafeBufferPointer<UInt8>, imageIndex: Int, limits: ImageLimits) throws(ImageError) {
            try CodecLibraries.load(.heif, with: wi_heif_load)
            var handle: OpaquePointer?
            var info = wi_heif_info()
            // No image has such a high index.
            let index = imageIndex >= 0 ? UInt32(clamping: imageIndex) : UInt32.max
            let images = index > 0 ? HEIFImageItems.find(in: UnsafeRawBufferPointer(bytes)) : nil
            let parts = (images?.parts ?? []).map { UInt32(clamping: $0) }
            let status = wi_heif_open(
                bytes.baseAddress, bytes.count, UInt32(clamping: max(1, limits.maxDimension)), index, parts,
                parts.count, &info, &handle)
            guard status == WI_HEIF_OK, let handle else {
                defer { wi_heif_close(handle) }
                guard status != WI_HEIF_END else {
                    throw .request(.frameNotFound(index: imageIndex, frameCount: Int(info.pictures)))
                }
                throw Self.failure(status, handle, received: bytes.count)
            }
            self.handle = handle
            self.imageInfo = info
            self.info = info
            self.received = bytes.count
        }

        deinit { wi_heif_close(handle) }

        /// The size with the orientation applied, in pixels.
        var size: PixelSize { PixelSize(width: Int(info.width), height: Int(info.height)) }
        var depth: Int { Int(info.depth) }
        var hasAlpha: Bool { info.has_alpha != 0 }

        /// Replaces the image with a thumbnail that has at least this many pixels on each axis. Returns `false` if the
        /// file contains no such thumbnail. Afterward, all properties describe the thumbnail.
        mutating func useThumbnail(
            width: Double, height: Double, preservesBitDepth: Bool
        ) -> Bool {
            let depth = preservesBitDepth && depth > 8 ? imageInfo.depth : 1
            return wi_heif_use_thumbnail(handle, width, height, depth, &info) != 0
        }

        /// Replaces the image with a thumbnail like ``useThumbnail(width:height:preservesBitDepth:)``, and returns
        /// whether libheif found it.
        mutating func useThumbnail(item: Int) -> Bool {
            wi_heif_use_thumbnail_item(handle, UInt32(clamping: item), &info) != 0
        }

        /// Reverts the effect of ``useThumbnail(width:height:preservesBitDepth:)``.
        mutating func useFullImage() {
            info = imageInfo
            wi_heif_use_picture(handle, &info)
        }

        /// Whether the file contains color information.
        var hasColors: Bool { info.icc_count > 0 || info.transfer != 0 }

        func iccProfile() -> [UInt8]? {
            guard info.icc_count > 0, info.icc_count <= Self.maxProfileBytes else { return nil }
            var profile = [UInt8](repeating: 0, count: info.icc_count)
            return wi_heif_icc(handle, &profile) != 0 ? profile : nil
        }

        /// The color code points of the profile or of the file, or `nil` if there are none.
        var codePoints: ColorCodePoints? {
            if let points = iccProfile().flatMap({ ColorCodePoints(iccProfile: $0) }) { return points }
            guard info.transfer != 0 else { return nil }
            return ColorCodePoints(primaries: Int(info.primaries), transfer: Int(info.transfer))
        }

        /// Returns the conversion to sRGB. A color profile takes precedence over code points (ISO/IEC 23000-22,
        /// 7.3.6.4).
        func conversion(profile: [UInt8]?) -> ColorConversion? {
            profile == nil ? .from(codePoints) : .from(profile: profile)
        }

        /// The result has 16 bits per sample if the source has more than 8 and `preservesBitDepth` is `true`.
        func decode(color: ColorConversion?, preservesBitDepth: Bool, context: ImageProcessingContext)
            throws(ImageError) -> PixelBuffer
        {
            try context.checkCancellation()
            let reading = PixelImporter(size, depth: depth, preservesBitDepth: preservesBitDepth, color: color)
            let pixels = try reading.pixels(context: context) { (canvas) throws(ImageError) in
                try context.countingThreads { () throws(ImageError) in
                    try read(into: canvas, threads: context.threadCount)
                }
                return .init(hasAlpha: hasAlpha, isPremultiplied: hasAlpha && info.is_premultiplied != 0)
            }
            try context.checkCancellation()
            return pixels
        }

        private func read(into canvas: borrowing PixelCanvas, threads: Int) throws(ImageError) {
            let status = wi_heif_decode(
                handle, Int32(clamping: threads), Int32(canvas.format.layout.bitsPerSample), canvas.baseAddress,
                canvas.bytesPerRow)
            guard status == WI_HEIF_OK else { throw Self.failure(status, handle, received: received) }
        }

        private static func failure(_ status: wi_heif_status, _ handle: OpaquePointer?, received: Int) -> ImageError {
            let words = String(cString: wi_heif_message(handle))
            return switch status {
            case WI_HEIF_TRUNCATED: .decoding(.truncated(format: .heif, receivedBytes: received, expectedBytes: nil))
            case WI_HEIF_MEMORY: .decoding(.outOfMemory(byteCount: received))
            case WI_HEIF_UNSUPPORTED: .decoding(.unsupportedFeature(format: .heif, feature: words))
            case WI_HEIF_INCONSISTENT:
                .decoding(
                    .contradictsHeader(format: .heif, reason: "the decoded size differs from the size in the header"))
            default: .decoding(.corrupted(format: .heif, reason: words))
            }
        }
    }
#endif
