// SPDX-License-Identifier: MIT

import WebImageCore

/// A formatter for the tags of an EXIF block (Exif 2.32, section 4.6). Values come from files, so the output is
/// limited.
package enum ExifTags {
    /// The maximum number of values and of characters that are printed for a tag.
    private static let maxValues = 16
    private static let maxCharacters = 200

    /// Returns the names and the values of all tags, in the order of the directories. Unknown tags have names such as
    /// `0x9C9B`.
    package static func list(_ exif: [UInt8]) -> [(name: String, value: String)] {
        guard let block = ExifBlock(exif) else { return [] }
        var tags: [(name: String, value: String)] = []
        for (entries, known) in [(block.main, names), (block.photo, names), (block.position, locationNames)] {
            for entry in entries {
                guard let value = text(entry, isBigEndian: block.isBigEndian) else { continue }
                tags.append((name: known[entry.tag] ?? hexadecimal(entry.tag), value: value))
            }
        }
        return tags
    }

    private static func hexadecimal(_ tag: Int) -> String {
        let digits = String(tag, radix: 16, uppercase: true)
        return "0x" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    private static func text(_ entry: ExifBlock.Entry, isBigEndian: Bool) -> String? {
        switch entry.kind {
        case 2:
            let text = String(decoding: entry.bytes.prefix { $0 != 0 }, as: UTF8.self)
            return DisplayText.safe(String(text.prefix(maxCharacters)))
        case 7:
            let isText = !entry.bytes.isEmpty && entry.bytes.allSatisfy { (0x20...0x7E).contains($0) }
            return isText && entry.bytes.count <= maxValues
                ? String(decoding: entry.bytes, as: UTF8.self) : "\(entry.bytes.count) bytes"
        default:
            let values = numbers(entry, isBigEndian: isBigEndian)
            guard !values.isEmpty else { return nil }
            let rest = values.count > maxValues ? ", …" : ""
            return values.prefix(maxValues).joined(separator: ", ") + rest
        }
    }

    /// Returns the numeric values as text. Rational numbers have the form `1/60`, or are integers if possible.
    private static func numbers(_ entry: ExifBlock.Entry, isBigEndian: Bool) -> [String] {
        let layouts: [Int: (width: Int, isSigned: Bool, isRational: Bool)] = [
            1: (1, false, false), 3: (2, false, false), 4: (4, false, false), 5: (4, false, true),
            6: (1, true, false), 8: (2, true, false), 9: (4, true, false), 10: (4, true, true), 13: (4, false, false),
        ]
        guard let layout = layouts[entry.kind] else { return [] }
        let values = stride(from: 0, to: entry.bytes.count - layout.width + 1, by: layout.width).map { start in
            let bytes = entry.bytes[start..<(start + layout.width)]
            let value = (isBigEndian ? Array(bytes) : bytes.reversed()).reduce(0) { $0 << 8 | Int($1) }
            let limit = 1 << (8 * layout.width)
            return layout.isSigned && value >= limit / 2 ? value - limit : value
        }
        guard layout.isRational else { return values.map { "\($0)" } }
        return stride(from: 0, to: values.count - 1, by: 2).map { index in
            let (numerator, denominator) = (values[index], values[index + 1])
            return denominator != 0 && numerator % denominator == 0
                ? "\(numerator / denominator)" : "\(numerator)/\(denominator)"
        }
    }

    private static let names: [Int: String] = [
        0x010E: "ImageDescription", 0x010F: "Make", 0x0110: "Model", 0x0112: "Orientation", 0x011A: "XResolution",
        0x011B: "YResolution", 0x0128: "ResolutionUnit", 0x0131: "Software", 0x0132: "DateTime", 0x013B: "Artist",
        0x013E: "WhitePoint", 0x013F: "PrimaryChromaticities", 0x0211: "YCbCrCoefficients",
        0x0213: "YCbCrPositioning", 0x0214: "ReferenceBlackWhite", 0x8298: "Copyright", 0x829A: "ExposureTime",
        0x829D: "FNumber", 0x8822: "ExposureProgram", 0x8827: "PhotographicSensitivity", 0x8830: "SensitivityType",
        0x9000: "ExifVersion", 0x9003: "DateTimeOriginal", 0x9004: "DateTimeDigitized", 0x9010: "OffsetTime",
        0x9011: "OffsetTimeOriginal", 0x9012: "OffsetTimeDigitized", 0x9101: "ComponentsConfiguration",
        0x9201: "ShutterSpeedValue", 0x9202: "ApertureValue", 0x9203: "BrightnessValue", 0x9204: "ExposureBiasValue",
        0x9205: "MaxApertureValue", 0x9206: "SubjectDistance", 0x9207: "MeteringMode", 0x9208: "LightSource",
        0x9209: "Flash", 0x920A: "FocalLength", 0x9214: "SubjectArea", 0x927C: "MakerNote", 0x9286: "UserComment",
        0x9290: "SubSecTime", 0x9291: "SubSecTimeOriginal", 0x9292: "SubSecTimeDigitized", 0xA000: "FlashpixVersion",
        0xA001: "ColorSpace", 0xA002: "PixelXDimension", 0xA003: "PixelYDimension", 0xA20E: "FocalPlaneXResolution",
        0xA20F: "FocalPlaneYResolution", 0xA210: "FocalPlaneResolutionUnit", 0xA217: "SensingMethod",
        0xA300: "FileSource", 0xA301: "SceneType", 0xA401: "CustomRendered", 0xA402: "ExposureMode",
        0xA403: "WhiteBalance", 0xA404: "DigitalZoomRatio", 0xA405: "FocalLengthIn35mmFilm",
        0xA406: "SceneCaptureType", 0xA407: "GainControl", 0xA408: "Contrast", 0xA409: "Saturation",
        0xA40A: "Sharpness", 0xA40C: "SubjectDistanceRange", 0xA420: "ImageUniqueID", 0xA430: "CameraOwnerName",
        0xA431: "BodySerialNumber", 0xA432: "LensSpecification", 0xA433: "LensMake", 0xA434: "LensModel",
        0xA435: "LensSerialNumber",
    ]

    private static let locationNames: [Int: String] = [
        0: "GPSVersionID", 1: "GPSLatitudeRef", 2: "GPSLatitude", 3: "GPSLongitudeRef", 4: "GPSLongitude",
        5: "GPSAltitudeRef", 6: "GPSAltitude", 7: "GPSTimeStamp", 8: "GPSSatellites", 9: "GPSStatus",
        10: "GPSMeasureMode", 11: "GPSDOP", 12: "GPSSpeedRef", 13: "GPSSpeed", 14: "GPSTrackRef", 15: "GPSTrack",
        16: "GPSImgDirectionRef", 17: "GPSImgDirection", 18: "GPSMapDatum", 29: "GPSDateStamp",
        31: "GPSHPositioningError",
    ]
}
