// SPDX-License-Identifier: MIT

#if PDF
    import WebImageCore

    /// The fixed bounds of PDF documents. poppler can't be interrupted, so documents that exceed them never reach it.
    ///
    /// Bounds with the source “measured” come from poppler 22.12 of Debian 12.
    enum PDFBounds {
        /// The sections of the cross-reference table, each of which refers to the previous one.
        static let sections = 1_024
        /// The objects of a document, of which most files of 32 MiB have far fewer.
        static let objects = 1 << 20
        /// The nested arrays and dictionaries of one object.
        static let nesting = 64
        /// The values that are read for one page.
        static let values = 4 << 20
        /// The pages and nodes of the page tree.
        static let pages = 100_000
        /// The filters of one stream.
        static let filters = 8
        /// The size of all streams that are decoded for one page, in bytes.
        static let decodedBytes = 64 << 20
        /// The objects that a page refers to.
        static let pageObjects = 100_000
        /// The operators of all content streams of a page, each stream counted once.
        static let operators = 1_000_000
        /// The operators with all forms, patterns, and glyphs expanded.
        static let expandedOperators = 5_000_000.0
        /// The saved graphics states. Measured: 2.5 KiB for each.
        static let savedStates = 256
        /// The nested forms, patterns, masks, and glyphs.
        static let depth = 28
        /// The annotations of a page.
        static let annotations = 4_096
        /// The samples of a function, each of which poppler stores as a number of 8 bytes.
        static let samples = 1 << 20
        /// The dashes of all strokes.
        static let dashes = 1_000_000.0
        /// The estimated time for drawing if the limits allow more, in nanoseconds.
        static let maxTime = 1e10

        /// The unsupported feature of encrypted documents, for errors.
        static let encryption =
            "encryption, even if the document opens without a password (remove it, for example with `qpdf --decrypt`)"

        static func corrupt(_ reason: String) -> ImageError { .decoding(.corrupted(format: .pdf, reason: reason)) }
    }
#endif
