// SPDX-License-Identifier: MIT

#if HEIF
    import Foundation
    import WebImageCore

    /// A HEIC file in memory with one still image, which is a sample of an image sequence (ISO/IEC 23008-12, annex B).
    ///
    /// libheif 1.15 can't decode tracks, but a sync sample of a track is a complete HEVC image.
    struct HEIFSampleFile {
        private var bytes = Data()

        static func data(for sample: Data, in sequence: HEIFSequence) -> Data {
            var size = HEIFSampleFile()
            size.append(0)
            size.append(sequence.size.width)
            size.append(sequence.size.height)
            var properties = HEIFSampleFile()
            properties.append(box: "hvcC", sequence.configuration)
            properties.append(box: "ispe", size.bytes)
            if let color = sequence.color { properties.append(box: "colr", color) }
            let count = sequence.color == nil ? 2 : 3
            // One item with all properties. The decoder configuration is essential.
            var associations = Data([0, 0, 0, 0, 0, 0, 0, 1, 0, 1, UInt8(count), 0x81])
            associations.append(contentsOf: (2...count).map { UInt8($0) })
            var item = HEIFSampleFile()
            item.append(box: "ipco", properties.bytes)
            item.append(box: "ipma", associations)
            let head = brands()
            // The position of the sample doesn't change the size of the header.
            let start = head.count + meta(item.bytes, sample.count, at: 0).count + 8
            var file = HEIFSampleFile()
            file.bytes = head + meta(item.bytes, sample.count, at: start)
            file.append(box: "mdat", sample)
            return file.bytes
        }

        private static func brands() -> Data {
            var file = HEIFSampleFile()
            file.append(box: "ftyp", Data("heic".utf8) + Data(count: 4) + Data("mif1heic".utf8))
            return file.bytes
        }

        private static func meta(_ properties: Data, _ count: Int, at start: Int) -> Data {
            var location = HEIFSampleFile()
            // Version 0 with 4 bytes for offsets and lengths, one item, and one extent.
            location.bytes = Data([0, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, 0, 0, 1])
            location.append(start)
            location.append(count)
            var entry = HEIFSampleFile()
            entry.append(box: "infe", Data([2, 0, 0, 0, 0, 1, 0, 0]) + Data("hvc1".utf8) + Data([0]))
            var content = HEIFSampleFile()
            content.append(0)
            content.append(box: "hdlr", Data(count: 8) + Data("pict".utf8) + Data(count: 13))
            content.append(box: "pitm", Data([0, 0, 0, 0, 0, 1]))
            content.append(box: "iloc", location.bytes)
            content.append(box: "iinf", Data([0, 0, 0, 0, 0, 1]) + entry.bytes)
            content.append(box: "iprp", properties)
            var file = HEIFSampleFile()
            file.append(box: "meta", content.bytes)
            return file.bytes
        }

        private mutating func append(_ value: Int) {
            withUnsafeBytes(of: UInt32(clamping: value).bigEndian) { bytes.append(contentsOf: $0) }
        }

        private mutating func append(box name: String, _ content: Data) {
            append(content.count + 8)
            bytes += Data(name.utf8) + content
        }
    }
#endif
