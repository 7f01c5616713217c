// SPDX-License-Identifier: MIT

/// Why a parser of headers cannot go on.
enum ProbeStop: Error {
    /// So many bytes of the file, counted from its beginning, are the least that would help.
    case needsMore(Int)
    /// A part of the file refers to bytes beyond its own end.
    case outside
    /// The bytes break a rule or a bound.
    case failed(ImageError)

    /// The data of `format` breaks its rules.
    static func corrupt(_ format: ImageFormat, _ reason: String) -> ProbeStop {
        .failed(.decode(.corrupt(format: format, reason: reason)))
    }

    /// The data of `format` uses what nothing here reads.
    static func unsupported(_ format: ImageFormat, _ feature: String) -> ProbeStop {
        .failed(.decode(.unsupported(format: format, feature: feature)))
    }

    /// Refuses a part of the file that is larger, or a number of parts that is higher, than `limit`.
    static func check(_ actual: Int, limit: Int, _ detail: String) throws(ProbeStop) {
        guard actual <= limit else {
            throw .failed(.limit(LimitError(.structure, limit: limit, actual: actual, detail: detail)))
        }
    }
}

/// Bounds on the parts of a file that no honest picture comes near.
enum ProbeBounds {
    /// Chunks of a PNG.
    static let pngChunks = 10_000
    /// Text chunks of a PNG.
    static let textChunks = 64
    /// Bytes of an ICC profile, as stored.
    static let iccBytes = 4 << 20
    /// Bytes of an EXIF block.
    static let exifBytes = 1 << 20
    /// Directories of a TIFF.
    static let tiffDirectories = 65_536
    /// Entries of a TIFF directory; also the most a classic TIFF can have.
    static let tiffEntries = 65_535
    /// Bytes of a JPEG between segments, or filling them up.
    static let strayBytes = 64 << 10
    /// Boxes of one list of an ISO base media file; property indices of HEIF have 15 bits.
    static let boxes = 32_768
    /// Properties of the primary item of a HEIF file.
    static let itemProperties = 64
    /// Characters before and in the root element of an SVG.
    static let markupUnits = 64 << 10
    /// Bytes searched for the page size of a PDF.
    static let pdfBytes = 256 << 10
    /// Bytes of a JPEG XL codestream header.
    static let jxlHeaderBytes = 4 << 10
}
