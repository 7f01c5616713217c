// SPDX-License-Identifier: MIT

#if SVG
    import CSVG
    import Foundation
    import WebImageCore

    /// A coder for SVG images, based on librsvg, including compressed SVG (svgz).
    ///
    /// This type requires the package trait `SVG`.
    ///
    /// The coder draws documents at the requested size. A document can't load files or URLs, except for `data:` URLs.
    /// Scripts and animations don't run.
    package struct SVGCoder: ImageCoder {
        private let maxTextBytes: Int
        /// The maximum width and height of a cairo surface, in pixels.
        private static let maxDimension = 32_767

        /// Creates a coder for documents with up to `maxTextBytes` bytes after decompression. The default is 1 MiB.
        package init(maxTextBytes: Int = 1 << 20) { self.maxTextBytes = max(1, min(maxTextBytes, 1 << 30)) }

        /// Returns whether the format is SVG.
        package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .svg }

        /// Draws an SVG document.
        ///
        /// The requested size may be larger than the intrinsic size, which is determined by `width`, `height`, and
        /// `viewBox`.
        ///
        /// - Throws: An ``ImageError/DecodingFailure``, an ``ImageError/LimitFailure``, or
        ///   ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``.
        package func decode(
            _ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext
        )
            throws(ImageError) -> DecodedImage
        {
            try options.requireStill()
            try context.checkCancellation()
            guard !data.isEmpty else { throw .decoding(.noData) }
            var header = info
            if header == nil { header = try ImageInfo(data: data) }
            let size = header?.storedSize ?? PixelSize(width: 1, height: 1)
            let layout = try VectorLayout(size: size, options: options, limits: context.limits)
            guard max(layout.drawn.width, layout.drawn.height) <= Self.maxDimension else {
                throw .limitExceeded(
                    ImageError.LimitFailure(
                        .dimension, limit: Self.maxDimension, actual: max(layout.drawn.width, layout.drawn.height)))
            }
            guard let area = layout.drawn.area, area <= SVGBounds.pixels else {
                throw .limitExceeded(
                    ImageError.LimitFailure(
                        .pixelCount, limit: SVGBounds.pixels, actual: layout.drawn.area ?? .max,
                        detail: "pixels of an SVG drawing"))
            }
            let text = try safeText(plainText(data), size: layout.drawn, context: context)
            let canvas = try PixelCanvas.forDecoding(layout.drawn, zeroed: true, context: context)
            try draw(text, into: canvas)
            try context.checkCancellation()
            let isOpaque = canvas.isEveryPixelOpaque()
            let pixels = try canvas.finish(isOpaque: isOpaque).part(layout.part, context: context)
            return DecodedImage(
                pixels: pixels, scale: options.scale, format: .svg,
                metadata: ImageMetadata(storedSize: size, hasAlpha: !isOpaque))
        }

        /// Returns a document that librsvg can draw in bounded time and memory.
        ///
        /// The document is written again from the parts that were checked, so librsvg can’t understand it differently.
        private func safeText(_ text: Data, size: PixelSize, context: ImageProcessingContext) throws(ImageError) -> Data
        {
            var document = try SVGDocument(text, limits: context.limits)
            try context.checkCancellation()
            let graph = try SVGGraph(&document)
            let allowed = context.limits.maxDecodingTime / .nanoseconds(1)
            let time = context.limits.maxDecodingTime < .unlimited ? min(SVGBounds.maxTime, allowed) : .infinity
            try SVGWork.check(document, graph, size: size, time: time)
            try context.checkCancellation()
            return document.text()
        }

        private func plainText(_ data: Data) throws(ImageError) -> Data {
            guard data.starts(with: [0x1F, 0x8B]) else {
                guard data.count <= maxTextBytes else { throw tooLarge(data.count) }
                return data
            }
            return try data.withBytes { (bytes) throws(ImageError) in
                var text: UnsafeMutablePointer<UInt8>?
                var count = 0
                switch wi_svg_unpack(bytes.baseAddress, bytes.count, maxTextBytes, &text, &count) {
                case WI_SVG_OK: break
                case WI_SVG_TOO_LARGE: throw tooLarge(maxTextBytes + 1)
                case WI_SVG_TRUNCATED:
                    throw .decoding(.truncated(format: .svg, receivedBytes: bytes.count, expectedBytes: nil))
                case WI_SVG_MEMORY: throw .decoding(.outOfMemory(byteCount: maxTextBytes))
                default: throw .decoding(.corrupted(format: .svg, reason: "the gzip data is invalid"))
                }
                defer { free(text) }
                return text.map { Data(bytes: $0, count: count) } ?? Data()
            }
        }

        private func tooLarge(_ count: Int) -> ImageError {
            .limitExceeded(
                ImageError.LimitFailure(.metadataSize, limit: maxTextBytes, actual: count, detail: "bytes of SVG text"))
        }

        private func draw(_ text: Data, into canvas: borrowing PixelCanvas) throws(ImageError) {
            try CodecLibraries.load(.svg, with: wi_svg_load)
            var message = [CChar](repeating: 0, count: 200)
            let size = canvas.size
            let (first, stride) = (canvas.row(0), canvas.bytesPerRow)
            let status = try text.withBytes { (bytes) throws(ImageError) in
                wi_svg_draw(
                    bytes.baseAddress, bytes.count, UInt32(size.width), UInt32(size.height), first, stride, &message,
                    message.count)
            }
            guard status != WI_SVG_OK else { return }
            let words = message.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
            throw .decoding(
                status == WI_SVG_MEMORY
                    ? .outOfMemory(byteCount: stride * size.height) : .corrupted(format: .svg, reason: words))
        }
    }
#endif
