// SPDX-License-Identifier: MIT

/// The details in the segments of a JPEG file before its first scan (ITU-T T.81, annex B).
struct JPEGFileDetails {
    private(set) var resolution: ImageResolution?
    private var components: [Component] = []
    private var isDCT = false
    /// The value of Adobe’s marker, which is 0 for RGB and CMYK.
    private var transform: UInt8?
    /// The quantization tables in the order of the coefficients.
    private var tables: [Int: [Int]] = [:]

    private struct Component {
        let identifier: UInt8
        let columns: Int
        let rows: Int
        let table: Int
    }

    /// Reads the segments of a whole file. Everything after invalid data is ignored.
    init(_ file: HeaderBytes) {
        var segments = JPEGSegments(file)
        do throws(HeaderParsingError) {
            while let segment = try segments.next() { try? read(segment.marker, segment.content) }
        } catch {
            return
        }
    }

    private mutating func read(_ marker: UInt8, _ segment: HeaderBytes) throws(HeaderParsingError) {
        switch marker {
        case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
            guard components.isEmpty else { return }
            isDCT = marker & 3 != 3
            var found: [Component] = []
            for index in 0..<Int(try segment.byte(at: 5)) {
                let factors = Int(try segment.byte(at: 7 + index * 3))
                found.append(
                    Component(
                        identifier: try segment.byte(at: 6 + index * 3), columns: factors >> 4, rows: factors & 15,
                        table: Int(try segment.byte(at: 8 + index * 3))))
            }
            components = found
        case 0xDB: try readTables(segment)
        case 0xE0:
            if resolution == nil, try segment.has("JFIF\0") { resolution = try ImageResolution(jfif: segment) }
        case 0xEE:
            if try segment.has("Adobe") { transform = try segment.byte(at: 11) }
        default: return
        }
    }

    private mutating func readTables(_ segment: HeaderBytes) throws(HeaderParsingError) {
        var offset = 0
        while offset < segment.declaredLength ?? 0 {
            let selector = Int(try segment.byte(at: offset))
            let width = selector >> 4 == 0 ? 1 : 2
            var table: [Int] = []
            for index in 0..<64 { table.append(try segment.number(at: offset + 1 + index * width, width, .big)) }
            tables[selector & 15] = table
            offset += 1 + 64 * width
        }
    }

    /// The subsampling of YCbCr and YCCK. The chroma of both components must have the same size, and it must be the size of
    /// the luma divided by integers.
    var chromaSubsampling: ChromaSampling? {
        let isYCbCr = components.count == 3 && transform != 0 && components.map(\.identifier) != Array("RGB".utf8)
        guard isYCbCr || components.count == 4 && transform == 2 else { return nil }
        let (luma, blue, red) = (components[0], components[1], components[2])
        guard blue.columns > 0, blue.rows > 0, blue.columns == red.columns, blue.rows == red.rows,
            luma.columns > 0, luma.rows > 0, luma.columns % blue.columns == 0, luma.rows % blue.rows == 0
        else { return nil }
        return ChromaSampling(columns: luma.columns / blue.columns, rows: luma.rows / blue.rows)
    }

    /// The quality from 1 to 100 for which libjpeg has the most similar table for the first component.
    var estimatedQuality: Int? {
        guard isDCT, let table = components.first.flatMap({ tables[$0.table] }) else { return nil }
        // Tables of baseline files are limited to bytes.
        let limit = table.contains { $0 > 255 } ? 32_767 : 255
        func distance(_ quality: Int) -> Int {
            zip(table, Self.steps(quality: quality, limit: limit)).reduce(0) { $0 + abs($1.0 - $1.1) }
        }
        return (1...100).min { distance($0) < distance($1) }
    }

    /// Returns the table of libjpeg for luminance (`jpeg_set_quality`) in the order of the coefficients.
    private static func steps(quality: Int, limit: Int) -> [Int] {
        let scale = quality < 50 ? 5_000 / quality : 200 - 2 * quality
        return luminance.map { min(max(1, ($0 * scale + 50) / 100), limit) }
    }

    /// The table for luminance of T.81 (table K.1), in the order of the coefficients.
    private static let luminance = [
        16, 11, 12, 14, 12, 10, 16, 14, 13, 14, 18, 17, 16, 19, 24, 40, 26, 24, 22, 22, 24, 49, 35, 37, 29, 40, 58, 51,
        61, 60, 57, 51, 56, 55, 64, 72, 92, 78, 64, 68, 87, 69, 55, 56, 80, 109, 81, 87, 95, 98, 103, 104, 103, 62, 77,
        113, 121, 112, 100, 120, 92, 101, 103, 99,
    ]
}
