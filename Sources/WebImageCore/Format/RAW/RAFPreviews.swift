// SPDX-License-Identifier: MIT

/// A search for the JPEG preview of a Fujifilm RAF file, as documented by ExifTool and by the project libopenraw.
///
/// The file begins with a signature of 16 bytes, the version of the format in four digits, and the name of the camera. A
/// directory of three positions and sizes in big-endian order follows: the JPEG file, the header of the sensor data, and
/// the sensor data. The JPEG file has the size of the image, and its EXIF data contains the orientation.
enum RAFPreviews {
    private static let signature: StaticString = "FUJIFILMCCD-RAW "
    private static let versionDigits = 4
    /// The position of the offset of the JPEG file. Its size follows.
    private static let offsetPosition = 84
    private static let countPosition = 88
    /// The end of the fields that this type reads. A preview doesn't overlap them.
    private static let headerEnd = 92

    /// Returns whether a file begins with the signature and a version, which distinguishes it from a text.
    static func isPlausible(_ bytes: HeaderBytes) throws(HeaderParsingError) -> Bool {
        guard try bytes.has(signature) else { return false }
        let start = signature.utf8CodeUnitCount
        for position in start..<start + versionDigits {
            guard try (0x30...0x39).contains(bytes.byte(at: position)) else { return false }
        }
        return true
    }

    /// Returns the position of the preview, or an empty list if the position isn't valid.
    static func read(_ bytes: HeaderBytes) throws(HeaderParsingError) -> RAWPreviewList {
        var found = RAWPreviewList()
        let offset = try bytes.big32(at: offsetPosition)
        let count = try bytes.big32(at: countPosition)
        if offset >= headerEnd { try found.add(offset: offset, count: count) }
        return found
    }
}
