// SPDX-License-Identifier: MIT

#if SVG
    import WebImageCore

    /// The fixed bounds of SVG documents. librsvg can't be interrupted, so documents that exceed them never reach it.
    ///
    /// Bounds with the source “measured” come from librsvg 2.54.7 of Debian 12 on threads with a stack of 1 MiB and on
    /// a viewport of one megapixel.
    enum SVGBounds {
        /// The pixels of one drawing, which is 4,096². Every layer of librsvg has this size.
        static let pixels = 4_096 * 4_096
        /// The elements of a document. Measured: 20 µs and 1.3 KiB for each.
        static let elements = 50_000
        /// The elements after all references are expanded.
        static let expandedElements = 100_000
        /// The attributes of an element. Measured: their parser needs quadratic time.
        static let attributes = 256
        /// The size of an attribute, except for paths and `data:` URLs, in bytes.
        static let attributeBytes = 64 << 10
        /// The nested elements and references of a drawing. Measured: the stack overflows at a depth of 180.
        static let depth = 128
        /// The nested parentheses in a stylesheet. Measured: the stack overflows at 500 nested `:not()`.
        static let parentheses = 16
        /// The numbers in the kernel of `feConvolveMatrix`. Measured: librsvg aborts the process at 401.
        static let kernelNumbers = 400
        /// The primitives of a filter.
        static let filterPrimitives = 64
        /// The value of `numOctaves`. Chromium uses at most 9, because more octaves are invisible.
        static let octaves = 16
        /// The font size, in user units. Measured: Pango's sizes overflow at 2,000,000.
        static let fontSize = 10_000.0
        /// The characters of a text element. Measured: their layout needs quadratic time.
        static let textCharacters = 8_192
        /// The size of all stylesheets, in bytes.
        static let styleSheetBytes = 256 << 10
        /// The selectors of all stylesheets.
        static let selectors = 4_096
        /// The size of one selector, in bytes.
        static let selectorBytes = 1_024
        /// The pairs of an element and a rule that can apply to it.
        static let ruleMatches = 500_000
        /// The steps for comparing elements with the selectors of rules that define custom properties.
        static let selectorSteps = 5_000_000
        /// The size of the texts that replace references to custom properties, in bytes.
        static let variableBytes = 1 << 20
        /// The nested references to custom properties and their fallbacks.
        static let variableDepth = 32
        /// The tags of a list of languages.
        static let languages = 64
        /// The images in `data:` URLs.
        static let images = 64
        /// The pixels of all images in `data:` URLs.
        static let imagePixels = 4_096 * 4_096
        /// The text that entities insert, in bytes.
        static let entityBytes = 64 << 10
        /// The dashes of all strokes. Measured: 90 bytes for each.
        static let dashes = 1_000_000.0
        /// The estimated time for drawing if the limits allow more, in nanoseconds.
        static let maxTime = 1e10

        static func corrupt(_ reason: String) -> ImageError { .decoding(.corrupted(format: .svg, reason: reason)) }
        static func unsupported(_ feature: String) -> ImageError {
            .decoding(.unsupportedFeature(format: .svg, feature: feature))
        }
    }
#endif
