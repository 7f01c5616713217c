// SPDX-License-Identifier: MIT

/// A reason why a header parser can't continue.
enum HeaderParsingError: Error {
    /// The minimum number of bytes from the start of the file that the parser requires to continue.
    case needsMore(Int)
    /// A part of the file that refers to bytes beyond its own end.
    case outside
    /// Data that violates a rule or exceeds a bound.
    case failed(ImageError)

    static func corrupt(_ format: ImageFormat, _ reason: String) -> HeaderParsingError {
        .failed(.decoding(.corrupted(format: format, reason: reason)))
    }

    static func unsupported(_ format: ImageFormat, _ feature: String) -> HeaderParsingError {
        .failed(.decoding(.unsupportedFeature(format: format, feature: feature)))
    }

    /// Returns the error for a whole file of `received` bytes.
    func imageError(_ format: ImageFormat, received: Int) -> ImageError {
        switch self {
        case .failed(let error): error
        case .needsMore(let count):
            .decoding(.truncated(format: format, receivedBytes: received, expectedBytes: count))
        case .outside:
            .decoding(.corrupted(format: format, reason: "a part of the file extends past its end"))
        }
    }

    static func check(_ actual: Int, limit: Int, _ detail: String) throws(HeaderParsingError) {
        guard actual <= limit else {
            throw .failed(
                .limitExceeded(ImageError.LimitFailure(.metadataSize, limit: limit, actual: actual, detail: detail)))
        }
    }
}

/// The bounds for the parts of a file, which legitimate images never approach.
enum HeaderBounds {
    static let pngChunks = 10_000
    /// The maximum number of text chunks in a PNG file.
    static let textChunks = 64
    /// The maximum size of an ICC profile as stored, in bytes.
    static let iccBytes = 4 << 20
    static let exifBytes = 1 << 20
    static let tiffDirectories = 65_536
    /// The maximum number of entries in a TIFF directory. Camera files have fewer than 300. For each unknown tag, libtiff
    /// sorts all tags, so the 4,096 tags that it accepts take half a second per directory.
    static let tiffEntries = 1_024
    static let tiffSubdirectories = 1_024
    /// The maximum number of stray or fill bytes between the segments of a JPEG file.
    static let strayBytes = 64 << 10
    /// The maximum number of boxes in one list of an ISO base media file. Property indices of HEIF have 15 bits.
    static let boxes = 32_768
    /// The maximum number of properties of the primary item in a HEIF file.
    static let itemProperties = 64
    /// The maximum number of items in a HEIF or AVIF file. libheif allocates several KiB per item when it opens a file.
    static let heifItems = 4_096
    /// The maximum number of references between the items of a HEIF or AVIF file. Files of cameras have one per tile,
    /// fewer than 1,000.
    static let heifReferences = 1_024
    /// The maximum number of references on a path between items. An overlay of turned grids has three.
    static let heifReferenceDepth = 4
    /// The maximum number of NAL units and OBUs in the items of a HEIF or AVIF file.
    static let heifUnits = 65_536
    /// The maximum number of images, masks, and other entries in an Apple icon file. Existing types number about 50.
    static let icnsEntries = 256
    /// The maximum number of directories in a camera RAW file, including those in other directories.
    static let rawDirectories = 64
    static let rawPreviews = 64
    /// The maximum number of entries in a directory of a camera RAW file. Cameras write fewer than 200.
    static let rawEntries = 1_024
    /// The maximum number of segments before the scans of all embedded JPEG images in a camera RAW file. A preview of
    /// a camera has about 10.
    static let rawSegments = 1_024
    static let sequenceSamples = 65_536
    /// The maximum number of tiles in a JPEG 2000 codestream. OpenJPEG allocates about 9 KiB per tile for four
    /// components before it decodes any of them.
    static let jpeg2000Tiles = 8_192
    /// The maximum number of components in a JPEG 2000 codestream: colors and alpha.
    static let jpeg2000Components = 5
    /// The maximum number of characters before and in the root element of an SVG document.
    static let markupUnits = 64 << 10
    /// The number of bytes in which the parser searches for the page size of a PDF.
    static let pdfBytes = 256 << 10
    static let jxlHeaderBytes = 4 << 10
    /// The maximum size of the header of a PNM or PAM file, including comments, in bytes.
    static let pnmHeaderBytes = 64 << 10
}
