// SPDX-License-Identifier: MIT

/// A data format that's detected from the first bytes. Some formats can't be decoded and exist only for error messages
/// about data that isn't an image.
public struct ImageFormat: Sendable, Hashable, Codable, RawRepresentable, CustomStringConvertible {
    /// The lowercase short name, such as `jpeg`.
    public let rawValue: String

    /// Creates a format with a short name. Custom coders may use their own names.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// JPEG (ITU-T T.81).
    public static let jpeg = ImageFormat(rawValue: "jpeg")
    /// Still PNG (W3C PNG, third edition).
    public static let png = ImageFormat(rawValue: "png")
    /// Animated PNG, which has an animation control chunk.
    public static let apng = ImageFormat(rawValue: "apng")
    /// GIF 87a or 89a.
    public static let gif = ImageFormat(rawValue: "gif")
    /// WebP (RFC 9649).
    public static let webp = ImageFormat(rawValue: "webp")
    /// Windows or OS/2 bitmap.
    public static let bmp = ImageFormat(rawValue: "bmp")
    /// QOI, the Quite OK Image format.
    public static let qoi = ImageFormat(rawValue: "qoi")
    /// PBM, the black and white format of Netpbm, as text or binary.
    public static let pbm = ImageFormat(rawValue: "pbm")
    /// PGM, the gray format of Netpbm, as text or binary.
    public static let pgm = ImageFormat(rawValue: "pgm")
    /// PPM, the RGB format of Netpbm, as text or binary.
    public static let ppm = ImageFormat(rawValue: "ppm")
    /// PAM, the format of Netpbm for gray and RGB pixels with or without alpha.
    public static let pam = ImageFormat(rawValue: "pam")
    /// Windows icon.
    public static let ico = ImageFormat(rawValue: "ico")
    /// Windows cursor.
    package static let cur = ImageFormat(rawValue: "cur")
    /// Apple icon.
    public static let icns = ImageFormat(rawValue: "icns")
    /// TIFF 6 or BigTIFF.
    public static let tiff = ImageFormat(rawValue: "tiff")
    /// AVIF, as a still image or an image sequence.
    public static let avif = ImageFormat(rawValue: "avif")
    /// HEIF with HEVC images.
    public static let heif = ImageFormat(rawValue: "heif")
    /// JPEG XL, as a codestream or in a container.
    public static let jxl = ImageFormat(rawValue: "jxl")
    /// SVG, optionally compressed with gzip.
    public static let svg = ImageFormat(rawValue: "svg")
    /// PDF.
    public static let pdf = ImageFormat(rawValue: "pdf")
    /// JPEG 2000, as a JP2 file or as a codestream.
    public static let jpeg2000 = ImageFormat(rawValue: "jpeg2000")
    /// Nikon RAW.
    public static let nef = ImageFormat(rawValue: "nef")
    /// Sony RAW.
    public static let arw = ImageFormat(rawValue: "arw")
    /// Canon RAW, version 2.
    public static let cr2 = ImageFormat(rawValue: "cr2")
    /// Canon RAW, version 3.
    public static let cr3 = ImageFormat(rawValue: "cr3")
    /// Adobe Digital Negative.
    public static let dng = ImageFormat(rawValue: "dng")
    /// Olympus and OM System RAW.
    public static let orf = ImageFormat(rawValue: "orf")
    /// Pentax RAW.
    public static let pef = ImageFormat(rawValue: "pef")
    /// Fujifilm RAW.
    public static let raf = ImageFormat(rawValue: "raf")
    /// Panasonic and Leica RAW.
    public static let rw2 = ImageFormat(rawValue: "rw2")
    /// The RAW format of another camera, which has the structure of TIFF.
    public static let raw = ImageFormat(rawValue: "raw")
    /// MP4, which is detected but not decoded.
    package static let mp4 = ImageFormat(rawValue: "mp4")
    /// QuickTime, which is detected but not decoded.
    package static let mov = ImageFormat(rawValue: "mov")
    /// WebM or Matroska, which is detected but not decoded.
    package static let webm = ImageFormat(rawValue: "webm")
    /// HTML, which is detected but not decoded.
    package static let html = ImageFormat(rawValue: "html")
    /// XML other than SVG, which is detected but not decoded.
    package static let xml = ImageFormat(rawValue: "xml")
    /// JSON, which is detected but not decoded.
    package static let json = ImageFormat(rawValue: "json")
    /// Other text, which is detected but not decoded.
    package static let text = ImageFormat(rawValue: "text")
    /// Data compressed with gzip other than SVG, which is detected but not decoded.
    package static let gzip = ImageFormat(rawValue: "gzip")

    /// The short name.
    public var description: String { rawValue }
}

extension ImageFormat {
    /// The media type (IANA), or `nil` for formats that the library doesn't know.
    public var mimeType: String? { Self.facts[self]?.mediaType }

    /// The usual file extension without a dot. For formats that the library doesn't know, it's the short name.
    public var fileExtension: String { Self.facts[self]?.fileExtension ?? rawValue }

    /// Creates the format that a file name extension stands for, or returns `nil` if the library doesn't know the
    /// extension.
    ///
    /// - Parameter fileExtension: The extension without a dot, such as `jpg` or `heic`. Letter case doesn't matter.
    public init?(fileExtension: String) {
        let name = fileExtension.lowercased()
        guard let format = Self.formatsByExtension[name] else { return nil }
        self = format
    }

    /// Creates the format that a media type stands for, or returns `nil` if the library doesn't know the type or if it
    /// isn't that of an image.
    ///
    /// - Parameter mimeType: The media type, such as `image/jpeg`, `image/jpg`, or `image/svg+xml; charset=utf-8`. Letter
    ///   case and parameters don't matter.
    public init?(mimeType: String) {
        let type = mimeType.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        guard let format = Self.formatsByMediaType[type] else { return nil }
        self = format
    }

    /// The image formats by media type, including types that servers send although they're not registered.
    private static let formatsByMediaType: [String: ImageFormat] = {
        var formats: [String: ImageFormat] = [
            "image/jpg": .jpeg, "image/pjpeg": .jpeg, "image/x-png": .png, "image/vnd.mozilla.apng": .apng,
            "image/x-webp": .webp, "image/x-ms-bmp": .bmp, "image/x-bmp": .bmp, "image/x-icon": .ico,
            "image/ico": .ico, "image/x-qoi": .qoi, "image/tif": .tiff, "image/x-tiff": .tiff, "image/heic": .heif,
            "image/heic-sequence": .heif, "image/heif-sequence": .heif, "image/avif-sequence": .avif,
            "image/x-portable-anymap": .ppm, "image/svg": .svg, "application/x-pdf": .pdf, "image/jpx": .jpeg2000,
            "image/jpeg2000": .jpeg2000,
            "image/j2c": .jpeg2000, "image/dng": .dng,
        ]
        for (format, fact) in facts where fact.isPicture { formats[fact.mediaType] = format }
        return formats
    }()

    /// The image formats by file name extension. APNG files have the extension of PNG, which stands for PNG.
    private static let formatsByExtension: [String: ImageFormat] = {
        var formats: [String: ImageFormat] = [
            "jpeg": .jpeg, "jpe": .jpeg, "jfif": .jpeg, "apng": .apng, "dib": .bmp, "tif": .tiff, "heif": .heif,
            "heics": .heif, "avifs": .avif, "svgz": .svg, "j2k": .jpeg2000, "j2c": .jpeg2000, "jpc": .jpeg2000,
            "jpf": .jpeg2000, "jpx": .jpeg2000, "pnm": .ppm, "nrw": .nef, "sr2": .arw, "srw": .raw, "rwl": .rw2,
        ]
        for (format, fact) in facts where fact.isPicture && format != .apng { formats[fact.fileExtension] = format }
        return formats
    }()

    /// A Boolean value that indicates whether image coders may decode the format. The value is `false` for formats
    /// that are only detected.
    public var isImage: Bool { Self.facts[self]?.isPicture ?? true }

    /// A Boolean value that indicates whether the format (SVG or PDF) contains vector graphics that can be rendered at
    /// any size.
    public var isVector: Bool { self == .svg || self == .pdf }

    /// A Boolean value that indicates whether the format contains the sensor data of a camera. The library decodes only
    /// the largest JPEG preview of such a file.
    public var isRAW: Bool { Self.rawFormats.contains(self) }

    /// Whether the format is a camera RAW format whose files are valid TIFF files.
    package var isTIFFBasedRAW: Bool { isRAW && !Self.otherRAWFormats.contains(self) }

    private static let rawFormats: Set<ImageFormat> = [.nef, .arw, .cr2, .cr3, .dng, .orf, .pef, .raf, .rw2, .raw]
    /// The camera RAW formats whose files aren't valid TIFF files.
    private static let otherRAWFormats: Set<ImageFormat> = [.cr3, .orf, .raf, .rw2]

    private static let facts: [ImageFormat: (mediaType: String, fileExtension: String, isPicture: Bool)] = [
        .jpeg: ("image/jpeg", "jpg", true),
        .png: ("image/png", "png", true),
        .apng: ("image/apng", "png", true),
        .gif: ("image/gif", "gif", true),
        .webp: ("image/webp", "webp", true),
        .bmp: ("image/bmp", "bmp", true),
        .qoi: ("image/qoi", "qoi", true),
        .pbm: ("image/x-portable-bitmap", "pbm", true),
        .pgm: ("image/x-portable-graymap", "pgm", true),
        .ppm: ("image/x-portable-pixmap", "ppm", true),
        .pam: ("image/x-portable-arbitrarymap", "pam", true),
        .ico: ("image/vnd.microsoft.icon", "ico", true),
        .cur: ("image/x-win-bitmap", "cur", true),
        .icns: ("image/x-icns", "icns", true),
        .tiff: ("image/tiff", "tiff", true),
        .nef: ("image/x-nikon-nef", "nef", true),
        .arw: ("image/x-sony-arw", "arw", true),
        .cr2: ("image/x-canon-cr2", "cr2", true),
        .cr3: ("image/x-canon-cr3", "cr3", true),
        .dng: ("image/x-adobe-dng", "dng", true),
        .orf: ("image/x-olympus-orf", "orf", true),
        .pef: ("image/x-pentax-pef", "pef", true),
        .raf: ("image/x-fuji-raf", "raf", true),
        .rw2: ("image/x-panasonic-rw2", "rw2", true),
        .raw: ("image/x-dcraw", "raw", true),
        .avif: ("image/avif", "avif", true),
        .heif: ("image/heif", "heic", true),
        .jxl: ("image/jxl", "jxl", true),
        .svg: ("image/svg+xml", "svg", true),
        .pdf: ("application/pdf", "pdf", true),
        .jpeg2000: ("image/jp2", "jp2", true),
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
