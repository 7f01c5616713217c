// SPDX-License-Identifier: MIT

/// A kind of encoded data, as its first bytes tell. Some are named only so that errors can say what came
/// instead of a picture.
public struct ImageFormat: Sendable, Hashable, Codable, RawRepresentable, CustomStringConvertible {
    /// Lower-case short name, `jpeg`.
    public let rawValue: String

    /// Creates a format by its short name; an app's own coder may use names of its own.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// JPEG (ITU-T T.81).
    public static let jpeg = ImageFormat(rawValue: "jpeg")
    /// PNG (W3C PNG third edition), still.
    public static let png = ImageFormat(rawValue: "png")
    /// PNG with an animation control chunk.
    public static let apng = ImageFormat(rawValue: "apng")
    /// GIF 87a or 89a.
    public static let gif = ImageFormat(rawValue: "gif")
    /// WebP (RFC 9649).
    public static let webp = ImageFormat(rawValue: "webp")
    /// Windows or OS/2 bitmap.
    public static let bmp = ImageFormat(rawValue: "bmp")
    /// QOI, the "quite OK image" format.
    public static let qoi = ImageFormat(rawValue: "qoi")
    /// Windows icon.
    public static let ico = ImageFormat(rawValue: "ico")
    /// Windows cursor.
    public static let cur = ImageFormat(rawValue: "cur")
    /// TIFF 6 or BigTIFF.
    public static let tiff = ImageFormat(rawValue: "tiff")
    /// AVIF still or sequence.
    public static let avif = ImageFormat(rawValue: "avif")
    /// HEIF with HEVC pictures.
    public static let heif = ImageFormat(rawValue: "heif")
    /// JPEG XL codestream or container.
    public static let jxl = ImageFormat(rawValue: "jxl")
    /// SVG, also compressed with gzip.
    public static let svg = ImageFormat(rawValue: "svg")
    /// PDF.
    public static let pdf = ImageFormat(rawValue: "pdf")
    /// JPEG 2000; named, not decoded.
    public static let jpeg2000 = ImageFormat(rawValue: "jpeg2000")
    /// MP4; named, not decoded.
    public static let mp4 = ImageFormat(rawValue: "mp4")
    /// QuickTime; named, not decoded.
    public static let mov = ImageFormat(rawValue: "mov")
    /// WebM or Matroska; named, not decoded.
    public static let webm = ImageFormat(rawValue: "webm")
    /// HTML; named, not decoded.
    public static let html = ImageFormat(rawValue: "html")
    /// XML that is not SVG; named, not decoded.
    public static let xml = ImageFormat(rawValue: "xml")
    /// JSON; named, not decoded.
    public static let json = ImageFormat(rawValue: "json")
    /// Other text; named, not decoded.
    public static let text = ImageFormat(rawValue: "text")
    /// gzip data that is not SVG; named, not decoded.
    public static let gzip = ImageFormat(rawValue: "gzip")

    /// The short name.
    public var description: String { rawValue }
}

extension ImageFormat {
    /// Media type (IANA), nil for names this library does not know.
    public var mediaType: String? { Self.facts[self]?.mediaType }

    /// Usual file name extension without a dot; the short name for names this library does not know.
    public var fileExtension: String { Self.facts[self]?.fileExtension ?? rawValue }

    /// True for what a picture coder could decode; false for the formats that are only named.
    public var isPicture: Bool { Self.facts[self]?.isPicture ?? true }

    /// True for what is drawn from vectors, at whatever size is asked for: SVG and PDF.
    public var isVector: Bool { self == .svg || self == .pdf }

    private static let facts: [ImageFormat: (mediaType: String, fileExtension: String, isPicture: Bool)] = [
        .jpeg: ("image/jpeg", "jpg", true),
        .png: ("image/png", "png", true),
        .apng: ("image/apng", "png", true),
        .gif: ("image/gif", "gif", true),
        .webp: ("image/webp", "webp", true),
        .bmp: ("image/bmp", "bmp", true),
        .qoi: ("image/qoi", "qoi", true),
        .ico: ("image/vnd.microsoft.icon", "ico", true),
        .cur: ("image/x-win-bitmap", "cur", true),
        .tiff: ("image/tiff", "tiff", true),
        .avif: ("image/avif", "avif", true),
        .heif: ("image/heif", "heic", true),
        .jxl: ("image/jxl", "jxl", true),
        .svg: ("image/svg+xml", "svg", true),
        .pdf: ("application/pdf", "pdf", true),
        .jpeg2000: ("image/jp2", "jp2", false),
        .mp4: ("video/mp4", "mp4", false),
        .mov: ("video/quicktime", "mov", false),
        .webm: ("video/webm", "webm", false),
        .html: ("text/html", "html", false),
        .xml: ("application/xml", "xml", false),
        .json: ("application/json", "json", false),
        .text: ("text/plain", "txt", false),
        .gzip: ("application/gzip", "gz", false),
    ]
}
