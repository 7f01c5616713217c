// SPDX-License-Identifier: MIT

import Foundation

extension ExifBlock {
    /// Creates a block from EXIF data, which may have the `Exif\0\0` prefix of JPEG, or from a whole TIFF file.
    ///
    /// Invalid fields and the existing thumbnail are omitted. The result is `nil` if the data doesn't begin with a
    /// valid header.
    package init?(_ bytes: [UInt8]) {
        let block = bytes.withUnsafeBytes { ExifBlock(reading: HeaderBytes($0, isComplete: true)) }
        guard let block else { return nil }
        self = block
    }

    /// Creates a block with only the author and the copyright of EXIF data (Exif 2.32, section 4.6.5). The result is `nil`
    /// if the data contains neither.
    package init?(copyrightOf bytes: [UInt8]) {
        let main = bytes.withUnsafeBytes { bytes in
            Self.start(of: HeaderBytes(bytes, isComplete: true)).map { start in
                var reader = start.reader
                return (reader.order, reader.entries(at: start.main).filter { Tag.rights.contains($0.tag) })
            }
        }
        guard let main, !main.1.isEmpty else { return nil }
        self.init(isBigEndian: main.0 == .big)
        self.main = main.1
    }

    init?(reading bytes: HeaderBytes) {
        guard let start = Self.start(of: bytes) else { return nil }
        var reader = start.reader
        self.init(isBigEndian: reader.order == .big)
        main = reader.entries(at: start.main)
        photo = reader.entries(at: removePointer(Tag.photo, from: \.main))
        position = reader.entries(at: removePointer(Tag.position, from: \.main))
        rules = reader.entries(at: removePointer(Tag.rules, from: \.photo))
    }

    private static func start(of bytes: HeaderBytes) -> (reader: Reader, main: Int)? {
        do throws(HeaderParsingError) {
            let block = try bytes.rest(from: try bytes.has("Exif\0") ? 6 : 0)
            let mark = try block.big16(at: 0)
            guard mark == 0x4949 || mark == 0x4D4D else { return nil }
            let reader = Reader(bytes: block, order: mark == 0x4D4D ? .big : .little)
            guard try block.number(at: 2, 2, reader.order) == 42 else { return nil }
            return (reader, try block.number(at: 4, 4, reader.order))
        } catch {
            return nil
        }
    }

    private mutating func removePointer(_ tag: Int, from directory: WritableKeyPath<ExifBlock, [Entry]>) -> Int? {
        guard let place = self[keyPath: directory].firstIndex(where: { $0.tag == tag }) else { return nil }
        return value(of: self[keyPath: directory].remove(at: place))
    }

    /// Returns the first integer of a field.
    func value(of field: Entry) -> Int? {
        let width: Int
        switch field.kind {
        case 1, 7: width = 1
        case 3: width = 2
        case 4, 13: width = 4
        default: return nil
        }
        guard field.bytes.count >= width else { return nil }
        let bytes = field.bytes.prefix(width)
        return (isBigEndian ? Array(bytes) : bytes.reversed()).reduce(0) { $0 << 8 | Int($1) }
    }

    /// A reader for directories, which limits the total size of their values.
    private struct Reader {
        let bytes: HeaderBytes
        let order: HeaderBytes.Order
        var budget = ExifBlock.maxBytes

        init(bytes: HeaderBytes, order: HeaderBytes.Order) {
            self.bytes = bytes
            self.order = order
        }

        mutating func entries(at offset: Int?) -> [Entry] {
            guard let offset, let count = try? bytes.number(at: offset, 2, order), offset > 0 else { return [] }
            var fields: [Entry] = []
            var seen: Set<Int> = []
            for index in 0..<min(count, ExifBlock.maxEntries) {
                guard let field = try? entry(at: offset + 2 + index * 12), seen.insert(field.tag).inserted else {
                    continue
                }
                fields.append(field)
            }
            return fields.sorted { $0.tag < $1.tag }
        }

        private mutating func entry(at entry: Int) throws(HeaderParsingError) -> Entry? {
            let tag = try bytes.number(at: entry, 2, order)
            let kind = try bytes.number(at: entry + 2, 2, order)
            let count = try bytes.number(at: entry + 4, 4, order)
            guard let size = ExifBlock.sizes[kind], !ExifBlock.structural.contains(tag) else { return nil }
            // The product can't overflow, because both numbers have at most 32 bits.
            let byteCount = count * size
            guard count > 0, byteCount <= budget else { return nil }
            let place = byteCount <= 4 ? entry + 8 : try bytes.number(at: entry + 8, 4, order)
            let values = try bytes.withBytes(byteCount, at: place) { [UInt8]($0) }
            budget -= byteCount
            return Entry(tag: tag, kind: kind, count: count, bytes: values)
        }
    }
}
