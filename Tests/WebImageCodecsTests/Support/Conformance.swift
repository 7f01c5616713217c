// SPDX-License-Identifier: MIT

import Foundation
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

/// A collection of public test files and their expected values. Its directory is next to the checkout or is set with
/// the environment variable `WEBIMAGE_CONFORMANCE`.
enum Conformance {
    struct Row: Sendable {
        var file: String
        var format: ImageFormat
        var size: PixelSize?
        var rawSize: PixelSize?
        var frames: Int?
        var loop: Int?
        var orientation: ImageOrientation
        var digest: String?
    }

    static let directory: URL? = {
        let environment = ProcessInfo.processInfo.environment["WEBIMAGE_CONFORMANCE"]
        let beside = Fixtures.directory.appending(path: "../../../shared/conformance").standardizedFileURL
        let folder = environment.map { URL(filePath: $0) } ?? beside
        return FileManager.default.fileExists(atPath: folder.appending(path: "manifest.csv").path) ? folder : nil
    }()

    static let formats: Set<ImageFormat> = [.jpeg, .png, .apng, .gif, .webp, .bmp]

    /// Icons and the enabled optional formats.
    static let optionalFormats = [ImageFormat.ico, .cur, .avif, .jxl, .tiff, .heif, .svg]
        .filter(ImageCoderRegistry.standard.canDecode)

    static func rows(_ formats: Set<ImageFormat> = formats) throws -> [Row] {
        guard let directory else { return [] }
        let text = try String(contentsOf: directory.appending(path: "manifest.csv"), encoding: .utf8)
        return text.split(whereSeparator: \.isNewline).dropFirst().compactMap { line -> Row? in
            let cells = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard cells.count >= 11, formats.contains(ImageFormat(rawValue: cells[1])) else { return nil }
            func size(_ width: String, _ height: String) -> PixelSize? {
                guard let width = Int(width), let height = Int(height) else { return nil }
                return PixelSize(width: width, height: height)
            }
            // GIF files contain the number of repetitions after the first play.
            let repeats = cells[1] == "gif" && cells[7] != "0"
            return Row(
                file: cells[0], format: ImageFormat(rawValue: cells[1]), size: size(cells[2], cells[3]),
                rawSize: size(cells[4], cells[5]), frames: Int(cells[6]),
                loop: cells[7] == "none" ? 1 : Int(cells[7]).map { repeats ? $0 + 1 : $0 },
                orientation: Int(cells[9]).flatMap(ImageOrientation.init(rawValue:)) ?? .up,
                digest: cells[10].isEmpty ? nil : cells[10])
        }
    }

    /// Returns the files that violate their format, with the format that their signature indicates.
    static func malformed(_ formats: Set<ImageFormat> = formats) throws -> [(file: String, format: ImageFormat)] {
        guard let directory else { return [] }
        let text = try String(contentsOf: directory.appending(path: "malformed.csv"), encoding: .utf8)
        return text.split(whereSeparator: \.isNewline).dropFirst().compactMap { line in
            let cells = line.split(separator: ",", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            let format = ImageFormat(rawValue: cells.count > 1 ? cells[1] : "")
            return formats.contains(format) ? (cells[0], format) : nil
        }
    }

    static func data(_ file: String) throws -> Data {
        guard let directory else { return Data() }
        return try Data(contentsOf: directory.appending(path: file))
    }

    /// Returns the bytes to compare, or `nil` if an alpha value isn't 0 or 255. The digest of the collection covers
    /// unpremultiplied colors, so other premultiplied 8-bit pixels can't be compared.
    static func comparableBytes(_ pixels: PixelBuffer) -> [UInt8]? {
        let bytes = pixels.packedBytes()
        let isComparable = bytes.withUnsafeBytes { bytes -> Bool in
            // In little-endian order, alpha is the most significant byte.
            let words = bytes.bindMemory(to: UInt32.self)
            guard let start = words.baseAddress else { return true }
            var place = 0
            while place < words.count {
                let alpha = start[place] &>> 24
                if alpha != 0 && alpha != 255 { return false }
                place += 1
            }
            return true
        }
        return isComparable ? bytes : nil
    }
}
