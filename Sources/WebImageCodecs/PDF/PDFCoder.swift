// SPDX-License-Identifier: MIT

#if PDF
    import CPDF
    import Foundation
    import WebImageCore

    /// A coder for pages of PDF documents, based on poppler.
    ///
    /// The coder draws pages on white paper at the requested size. It writes the page again from the parts that it
    /// checked, so poppler receives neither other pages nor scripts. Encrypted documents aren’t supported. This type
    /// requires the package trait `PDF`.
    package struct PDFCoder: ImageCoder {
        /// The maximum width and height of a cairo surface, in pixels.
        private static let maxDimension = 32_767

        /// Creates a coder.
        package init() {}

        /// Returns whether the format is PDF.
        package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .pdf }

        /// Draws one page of a PDF document.
        ///
        /// The coder draws the first page, or the page n for `frames: .single(n)`. Without a requested size, one point
        /// of the crop box is one pixel (72 dots per inch). The requested size may be larger.
        ///
        /// - Throws: An ``ImageError/DecodingFailure``, an ``ImageError/LimitFailure``, or
        ///   ``ImageError/RequestFailure/frameNotFound(index:frameCount:)``.
        package func decode(
            _ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext
        )
            throws(ImageError) -> DecodedImage
        {
            try context.checkCancellation()
            guard !data.isEmpty else { throw .decoding(.noData) }
            let page = try PDFPage(data, index: options.firstIndex, context: context)
            return try page.data.withBytes { (bytes) throws(ImageError) in
                let document = try PDFDocumentReader(bytes)
                let size = try document.size(ofPage: 0)
                let layout = try VectorLayout(size: size, options: options, limits: context.limits)
                let longer = max(layout.drawn.width, layout.drawn.height)
                guard longer <= Self.maxDimension else {
                    throw .limitExceeded(ImageError.LimitFailure(.dimension, limit: Self.maxDimension, actual: longer))
                }
                try check(page.work, layout.drawn, context.limits)
                try context.checkCancellation()
                let canvas = try PixelCanvas.forDecoding(layout.drawn, zeroed: true, context: context)
                try document.draw(page: 0, into: canvas)
                try context.checkCancellation()
                let pixels = try canvas.finish(isOpaque: true).part(layout.part, context: context)
                return DecodedImage(
                    pixels: pixels, scale: options.scale, format: .pdf, metadata: ImageMetadata(storedSize: size))
            }
        }

        /// Checks that poppler can draw a page in the time and with the memory of the limits.
        private func check(_ work: PDFWork, _ size: PixelSize, _ limits: ImageLimits) throws(ImageError) {
            let allowed = limits.maxDecodingTime / .nanoseconds(1)
            let time = limits.maxDecodingTime < .unlimited ? min(PDFBounds.maxTime, allowed) : .infinity
            try work.check(size: size, time: time, memory: limits.maxDecodedBytes)
        }
    }

    /// A PDF document that poppler has opened. The bytes of the file must outlive it.
    struct PDFDocumentReader: ~Copyable {
        private let handle: OpaquePointer
        private let pages: Int

        /// Throws an ``ImageError/DecodingFailure``.
        init(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageError) {
            try CodecLibraries.load(.pdf, with: wi_pdf_load)
            var handle: OpaquePointer?
            var pages: UInt32 = 0
            var message = [CChar](repeating: 0, count: 200)
            let status = wi_pdf_open(bytes.baseAddress, bytes.count, &pages, &message, message.count, &handle)
            guard status == WI_PDF_OK, let handle else {
                wi_pdf_close(handle)
                let words = message.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
                switch status {
                case WI_PDF_MEMORY: throw .decoding(.outOfMemory(byteCount: bytes.count))
                case WI_PDF_ENCRYPTED:
                    throw .decoding(.unsupportedFeature(format: .pdf, feature: PDFBounds.encryption))
                default: throw .decoding(.corrupted(format: .pdf, reason: words))
                }
            }
            self.handle = handle
            self.pages = Int(pages)
        }

        deinit { wi_pdf_close(handle) }

        /// Returns the size of a page in points, rounded up to whole pixels.
        func size(ofPage index: Int) throws(ImageError) -> PixelSize {
            guard pages > 0 else { throw .decoding(.corrupted(format: .pdf, reason: "it has no pages")) }
            guard (0..<pages).contains(index) else { throw .request(.frameNotFound(index: index, frameCount: pages)) }
            var width = 0.0
            var height = 0.0
            guard wi_pdf_size(handle, UInt32(index), &width, &height) != 0, width > 0, height > 0, width <= 1e9,
                height <= 1e9
            else { throw .decoding(.corrupted(format: .pdf, reason: "page \(index) has no size")) }
            return PixelSize(width: Int(width.rounded(.up)), height: Int(height.rounded(.up)))
        }

        func draw(page index: Int, into canvas: borrowing PixelCanvas) throws(ImageError) {
            let status = wi_pdf_draw(
                handle, UInt32(index), UInt32(canvas.size.width), UInt32(canvas.size.height), canvas.row(0),
                canvas.bytesPerRow)
            switch status {
            case WI_PDF_OK: return
            case WI_PDF_MEMORY: throw .decoding(.outOfMemory(byteCount: canvas.byteCount))
            default: throw .decoding(.corrupted(format: .pdf, reason: "page \(index) can't be drawn"))
            }
        }
    }
#endif
