// SPDX-License-Identifier: MIT

/// A detector that distinguishes camera RAW files from the TIFF files whose structure they have.
enum RAWSniffer {
    /// The maximum number of directories in another directory to check for sensor data.
    private static let maxSubdirectories = 8
    private static let maxNameBytes = 16
    /// The interpretations of pixels that only RAW files have: a color filter array, and linear sensor data (DNG 1.7).
    private static let sensorInterpretations: Set<Int> = [32_803, 34_892]

    /// Returns the format of RAW files with their own signature (Olympus and Panasonic).
    static func signature(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageFormat? {
        let format: ImageFormat
        if try bytes.has(anyOf: ["IIRO", "IIRS", "MMOR"]) {
            format = .orf
        } else if try bytes.has([0x49, 0x49, 0x55, 0x00]) {
            format = .rw2
        } else {
            return nil
        }
        // The first directory is near the beginning, while letters would be large numbers.
        let first = try bytes.number(at: 4, 4, try bytes.byte(at: 0) == 0x4D ? .big : .little)
        return (8...0xFFFF).contains(first) ? format : nil
    }

    /// Returns the RAW format of a file with the signature of TIFF, or `nil` if it's a TIFF file.
    static func format(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageFormat? {
        do throws(HeaderParsingError) {
            guard let file = try TIFFDirectory(bytes), file.firstOffset > 0 else { return nil }
            if try bytes.has([0x43, 0x52, 0x02], at: 8) { return .cr2 }
            return try format(file)
        } catch {
            if case .needsMore = error, !bytes.isComplete { throw error }
            return nil
        }
    }

    private static func format(_ file: TIFFDirectory) throws(HeaderParsingError) -> ImageFormat? {
        let first = file.firstOffset
        // 50706 is the version of DNG, and 271 is the manufacturer of the camera.
        if try file.field(50_706, at: first) != nil { return .dng }
        guard let make = try file.field(271, at: first), try hasSensorData(file) else { return nil }
        let name = try file.bytes.withBytes(min(make.count, maxNameBytes), at: make.position) {
            String(decoding: $0, as: UTF8.self).uppercased()
        }
        if name.hasPrefix("NIKON") { return .nef }
        if name.hasPrefix("SONY") { return .arw }
        if name.hasPrefix("PENTAX") || name.hasPrefix("RICOH") { return .pef }
        return .raw
    }

    /// Returns whether the first directory or a directory in it describes sensor data.
    private static func hasSensorData(_ file: TIFFDirectory) throws(HeaderParsingError) -> Bool {
        var offsets = [file.firstOffset]
        if let inner = try file.field(330, at: file.firstOffset) {
            offsets += try file.values(of: inner, limit: maxSubdirectories)
        }
        for offset in offsets where offset > 0 {
            if let value = try file.value(of: 262, at: offset), sensorInterpretations.contains(value) { return true }
        }
        return false
    }
}
