// SPDX-License-Identifier: MIT

#if SVG || PDF
    import WebImageCore

    /// The checks of the fixed bounds of SVG and PDF documents.
    enum DrawingBounds {
        static func check(_ count: Int, _ bound: Int, _ what: String) throws(ImageError) {
            guard count <= bound else {
                throw .limitExceeded(ImageError.LimitFailure(.metadataSize, limit: bound, actual: count, detail: what))
            }
        }

        static func check(_ number: Double, _ bound: Double, _ what: String) throws(ImageError) {
            guard number <= bound else { return try check(integer(number), integer(bound), what) }
        }

        private static func integer(_ number: Double) -> Int {
            number.isNaN || number >= 1e18 ? .max : Int(max(number, -1e18).rounded(.up))
        }
    }
#endif
