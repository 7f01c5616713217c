// SPDX-License-Identifier: MIT

#if JPEG2000
    import CJPEG2000
    import WebImageCore

    /// A JPEG 2000 image that OpenJPEG has opened. The bytes of the file must outlive it.
    struct JPEG2000Reader: ~Copyable {
        private let handle: OpaquePointer
        private var info: wi_jpeg2000_info
        private let received: Int

        /// The maximum size of a profile in bytes. Larger profiles are ignored.
        private static let maxProfileBytes = 4 << 20

        /// Reads the header. `reduction` is the number of times to halve the size. If the file has fewer resolutions,
        /// the image has its smallest one. Throws an ``ImageError/DecodingFailure``.
        init(_ bytes: UnsafeBufferPointer<UInt8>, reduction: Int) throws(ImageError) {
            var handle: OpaquePointer?
            var info = wi_jpeg2000_info()
            let status = wi_jpeg2000_open(
                bytes.baseAddress, bytes.count, UInt32(clamping: reduction), &info, &handle)
            guard status == WI_JPEG2000_OK, let handle else {
                let failure = Self.failure(status, handle, received: bytes.count)
                wi_jpeg2000_close(handle)
                throw failure
            }
            self.handle = handle
            self.info = info
            self.received = bytes.count
        }

        deinit { wi_jpeg2000_close(handle) }

        /// The size of the reduced image.
        var size: PixelSize { PixelSize(width: Int(info.width), height: Int(info.height)) }
        /// The number of times that the size is halved.
        var reduction: Int { Int(info.reduction) }
        var hasAlpha: Bool { info.has_alpha != 0 }

        /// Returns the color profile after ``decode()``.
        func iccProfile() -> [UInt8]? {
            guard let icc = info.icc, info.icc_count > 0, info.icc_count <= Self.maxProfileBytes else { return nil }
            return [UInt8](UnsafeBufferPointer(start: icc, count: info.icc_count))
        }

        var colorModel: ColorSpaceModel { info.colors == 1 ? .gray : .rgb }

        /// Decodes the planes. Afterward, all properties have their final values.
        mutating func decode() throws(ImageError) {
            let size = size
            let status = wi_jpeg2000_decode(handle, &info)
            guard status == WI_JPEG2000_OK else { throw Self.failure(status, handle, received: received) }
            guard self.size == size else {
                let reason = "the size is \(self.size) instead of \(size)"
                throw .decoding(.contradictsHeader(format: .jpeg2000, reason: reason))
            }
        }

        /// Returns the decoded pixels. `depth` is the bits per sample in the header. The result has 16 bits per sample
        /// if the source has more than 8 and `preservesBitDepth` is `true`.
        func pixels(
            depth: Int, color: ColorConversion?, preservesBitDepth: Bool, context: ImageProcessingContext
        ) throws(ImageError) -> PixelBuffer {
            let reading = PixelImporter(size, depth: depth, preservesBitDepth: preservesBitDepth, color: color)
            return try reading.pixels(context: context) { (canvas) in
                wi_jpeg2000_rows(
                    handle, Int32(canvas.format.layout.bitsPerSample), canvas.baseAddress, canvas.bytesPerRow)
                return .init(hasAlpha: hasAlpha, isPremultiplied: hasAlpha && info.is_premultiplied != 0)
            }
        }

        private static func failure(
            _ status: wi_jpeg2000_status, _ handle: OpaquePointer?, received: Int
        ) -> ImageError {
            let words = String(cString: wi_jpeg2000_message(handle))
            return switch status {
            case WI_JPEG2000_TRUNCATED:
                .decoding(.truncated(format: .jpeg2000, receivedBytes: received, expectedBytes: nil))
            case WI_JPEG2000_MEMORY: .decoding(.outOfMemory(byteCount: received))
            case WI_JPEG2000_UNSUPPORTED:
                .decoding(.unsupportedFeature(format: .jpeg2000, feature: "this number of components"))
            default: .decoding(.corrupted(format: .jpeg2000, reason: words))
            }
        }
    }
#endif
