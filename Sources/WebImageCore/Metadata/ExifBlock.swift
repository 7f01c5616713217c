// SPDX-License-Identifier: MIT

/// A parsed EXIF block that can be written again without undesired content (TIFF 6.0, section 2; Exif 2.32, section
/// 4.5). Only data that the directories refer to is preserved.
package struct ExifBlock: Sendable, Hashable {
    /// A tag and its values, in the byte order of the block.
    package struct Entry: Sendable, Hashable {
        package var tag: Int
        package var kind: Int
        package var count: Int
        package var bytes: [UInt8]

        /// Creates a field.
        package init(tag: Int, kind: Int, count: Int, bytes: [UInt8]) {
            self.tag = tag
            self.kind = kind
            self.count = count
            self.bytes = bytes
        }
    }

    /// The maximum size of a block to read in bytes, which is also the maximum total size of its values.
    package static let maxBytes = 1 << 20
    /// The maximum number of tags in one directory. Cameras write fewer than a tenth of it.
    static let maxEntries = 2_000

    package var isBigEndian: Bool
    /// The directories for the image (IFD0), the photo (Exif IFD), the location (GPS IFD), and interoperability
    /// (Interoperability IFD).
    package var main: [Entry] = []
    package var photo: [Entry] = []
    package var position: [Entry] = []
    package var rules: [Entry] = []
    /// The JPEG thumbnail (IFD1).
    package var thumbnail: [UInt8]?

    /// Creates an empty block.
    package init(isBigEndian: Bool = false) { self.isBigEndian = isBigEndian }

    /// Whether the block is empty.
    package var isEmpty: Bool {
        main.isEmpty && photo.isEmpty && position.isEmpty && rules.isEmpty && thumbnail == nil
    }

    /// The tag numbers (Exif 2.32, TIFF 6.0).
    enum Tag {
        static let width = 0x0100
        static let height = 0x0101
        static let orientation = 0x0112
        static let author = 0x013B
        static let copyright = 0x8298
        static let rights: Set<Int> = [author, copyright]
        static let xmp = 0x02BC
        static let photo = 0x8769
        static let position = 0x8825
        static let makerNote = 0x927C
        static let colorSpace = 0xA001
        static let photoWidth = 0xA002
        static let photoHeight = 0xA003
        static let rules = 0xA005
    }

    /// The tags that describe the storage of pixels, the locations of other parts, or the content of other blocks. In
    /// another file, they're useless or wrong.
    static let structural: Set<Int> = [
        0x00FE, 0x00FF, 0x0102, 0x0103, 0x0106, 0x0107, 0x0108, 0x0109, 0x010A, 0x0111, 0x0115, 0x0116, 0x0117, 0x0118,
        0x0119, 0x011C, 0x0120, 0x0121, 0x0122, 0x0123, 0x0124, 0x0125, 0x013D, 0x0140, 0x0141, 0x0142, 0x0143, 0x0144,
        0x0145, 0x014A, 0x014C, 0x0150, 0x0151, 0x0152, 0x0153, 0x0154, 0x0155, 0x0156, 0x015B, 0x0200, 0x0201, 0x0202,
        0x0203, 0x0205, 0x0206, 0x0207, 0x0208, 0x0209, 0x0212, 0x0213, Tag.xmp, 0x83BB, 0x8649, 0x8773,
    ]

    /// The sizes of values by their type, from BYTE to IFD.
    static let sizes = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4]

    /// Returns a field with one 16-bit number, or a 32-bit number if the value is larger.
    func entry(_ tag: Int, _ value: Int) -> Entry {
        let width = value <= 0xFFFF ? 2 : 4
        return Entry(tag: tag, kind: width == 2 ? 3 : 4, count: 1, bytes: number(value, width))
    }

    /// Returns a number of `width` bytes in the byte order of the block.
    func number(_ value: Int, _ width: Int) -> [UInt8] {
        let big = (0..<width).map { UInt8(truncatingIfNeeded: value >> ((width - 1 - $0) * 8)) }
        return isBigEndian ? big : big.reversed()
    }
}
