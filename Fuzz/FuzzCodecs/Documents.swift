// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport
import WebImageCore

@testable import WebImageCodecs

/// Fuzzing of the checks before a library receives a document.
enum Documents {
    #if PDF
        /// Reads a page. The written page must be accepted again, and its second copy must need no more work.
        static func pdf(_ bytes: UnsafeRawBufferPointer) {
            guard let page = try? PDFPage(Data(bytes), index: 0, context: Decoding.context) else { return }
            require(page.pageCount > 0, "A document without pages has a page.")
            let again: PDFPage
            do {
                again = try PDFPage(page.data, index: 0, context: Decoding.context)
            } catch {
                // The written streams aren't compressed, so they count more than the original ones.
                if case .limitExceeded = error { return }
                fatalError("A written page is rejected: \(error.message)")
            }
            require(again.pageCount == 1, "A written document has \(again.pageCount) pages.")
            let size = PixelSize(width: 100, height: 100)
            guard (try? page.work.check(size: size, time: 1e10, memory: 1 << 28)) != nil else { return }
            let isAccepted = (try? again.work.check(size: size, time: 2e10, memory: 1 << 29)) != nil
            require(isAccepted, "A written page needs more work.")
        }
    #endif

    #if SVG
        /// Checks a document as the coder does. The written document must be accepted again with the same work, and its
        /// second copy must not be longer. It can be shorter, because the first copy omits unknown elements, and the second
        /// one also omits what only they reference.
        static func svg(_ bytes: UnsafeRawBufferPointer) {
            var choices = FuzzChoices(bytes)
            let side = choices.element(of: [1, 100, 1_000, 4_096])
            let size = PixelSize(width: side, height: choices.element(of: [1, 100, 1_000, 4_096]))
            let time = choices.element(of: [1e8, 1e10])
            guard let written = try? accepted(choices.rest, size: size, time: time) else { return }
            // Copies of rules count only for the elements with certain custom properties, which the written document no
            // longer defines.
            guard written.range(of: Data(SVGCustomProperties.scopeAttribute.utf8)) == nil else { return }
            do {
                // The sums can have another order.
                let again = try accepted(written, size: size, time: time * 1.001)
                require(again.count <= written.count, "A written document grows when it's written again.")
            } catch {
                fatalError("A written document is rejected: \(error.message)")
            }
        }

        /// Returns the document that librsvg would receive.
        private static func accepted(_ data: Data, size: PixelSize, time: Double) throws(ImageError) -> Data {
            var document = try SVGDocument(data, limits: Decoding.limits)
            let graph = try SVGGraph(&document)
            require(Set(graph.order).count == graph.order.count, "The graph contains an element twice.")
            try SVGWork.check(document, graph, size: size, time: time)
            return document.text()
        }
    #endif
}
