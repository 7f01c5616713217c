// SPDX-License-Identifier: MIT

#if TIFF
    import Foundation
    import Testing
    import WebImageCodecs
    import WebImageCore

    /// The tests write classic TIFF and BigTIFF files of 20 × 10 pixels in both byte orders.
    @Suite("TIFF strips and tiles with a byte count that is too large")
    struct TIFFByteCountTests {
        /// The difference between the byte counts and the sizes of the data.
        enum Excess: CaseIterable, Sendable {
            case none
            /// Other bytes follow the data of each strip or tile, and count as a part of it.
            case padding
            /// The byte counts extend a little beyond the end of the file.
            case smallOverrun
            /// The byte counts are as large as possible.
            case largeOverrun
        }

        struct Layout: Sendable {
            var isBig = false
            var isLittleEndian = true
            var isTiled = false
            var sampleCount = 1
            var bits = 8
            var compression = TIFFAlphaTests.Compression.none
            var excess = Excess.none
        }

        private static let width = 20
        private static let height = 10
        private static let rowsPerStrip = 4
        private static let tileSide = 16

        private static func sample(_ x: Int, _ y: Int, _ index: Int) -> Int { (x * 7 + y * 13 + index * 50) & 0xFF }

        private static func number(_ value: Int, _ count: Int, _ layout: Layout) -> [UInt8] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
            return layout.isLittleEndian ? bytes : bytes.reversed()
        }

        /// Returns the samples of a part of the image. Samples outside of the image are 0.
        private static func samples(x: Range<Int>, y: Range<Int>, _ layout: Layout) -> [UInt8] {
            var bytes: [UInt8] = []
            for row in y {
                for column in x {
                    for index in 0..<layout.sampleCount {
                        let value = column < width && row < height ? sample(column, row, index) : 0
                        bytes += layout.bits == 8 ? [UInt8(value)] : number(value * 257, 2, layout)
                    }
                }
            }
            return bytes
        }

        private static func units(_ layout: Layout) -> [[UInt8]] {
            let parts =
                layout.isTiled
                ? [0, tileSide].map { samples(x: $0..<$0 + tileSide, y: 0..<tileSide, layout) }
                : stride(from: 0, to: height, by: rowsPerStrip).map {
                    samples(x: 0..<width, y: $0..<min($0 + rowsPerStrip, height), layout)
                }
            return parts.map { TIFFAlphaTests.compressed($0, layout.compression) }
        }

        /// Returns the file, in which the strips or tiles follow the directory.
        static func file(_ layout: Layout) -> Data {
            let units = Self.units(layout)
            let wide = layout.isBig ? 8 : 4
            let padding = layout.excess == .padding ? 37 : 0
            let counts = units.map { unit in
                switch layout.excess {
                case .none: unit.count
                case .padding: unit.count + padding
                case .smallOverrun: unit.count + 5_000
                case .largeOverrun: layout.isBig ? 1 << 50 : 0xFFFF_FFFF
                }
            }
            func content(_ start: Int) -> [UInt8] {
                var places: [Int] = []
                var offset = start
                for unit in units {
                    places.append(offset)
                    offset += unit.count + padding
                }
                var entries: [(tag: Int, size: Int, values: [Int])] = [
                    (256, 4, [width]), (257, 4, [height]),
                    (258, 2, Array(repeating: layout.bits, count: layout.sampleCount)),
                    (259, 2, [layout.compression.rawValue]), (262, 2, [layout.sampleCount == 3 ? 2 : 1]),
                    (277, 2, [layout.sampleCount]),
                ]
                if layout.isTiled {
                    entries += [(322, 4, [tileSide]), (323, 4, [tileSide]), (324, wide, places), (325, wide, counts)]
                } else {
                    entries += [(273, wide, places), (278, 4, [rowsPerStrip]), (279, wide, counts)]
                }
                entries.sort { $0.tag < $1.tag }
                return directory(entries, layout)
            }
            // The positions don't change the size of the directory.
            let start = content(0).count
            var file = content(start)
            for unit in units { file += unit + [UInt8](repeating: 0xAA, count: padding) }
            return Data(file)
        }

        /// Returns the header, a directory, and the values that don't fit into it.
        private static func directory(_ entries: [(tag: Int, size: Int, values: [Int])], _ layout: Layout) -> [UInt8] {
            let wide = layout.isBig ? 8 : 4
            var file = Array((layout.isLittleEndian ? "II" : "MM").utf8)
            file += number(layout.isBig ? 43 : 42, 2, layout)
            if layout.isBig { file += number(8, 2, layout) + number(0, 2, layout) }
            file += number(layout.isBig ? 16 : 8, wide, layout)
            file += number(entries.count, layout.isBig ? 8 : 2, layout)
            let tablesStart = file.count + entries.count * (layout.isBig ? 20 : 12) + wide
            var tables: [UInt8] = []
            for entry in entries {
                let kind = entry.size == 2 ? 3 : entry.size == 4 ? 4 : 16
                let bytes = entry.values.flatMap { number($0, entry.size, layout) }
                file += number(entry.tag, 2, layout) + number(kind, 2, layout)
                file += number(entry.values.count, wide, layout)
                if bytes.count > wide {
                    file += number(tablesStart + tables.count, wide, layout)
                    tables += bytes
                } else {
                    file += bytes + [UInt8](repeating: 0, count: wide - bytes.count)
                }
            }
            return file + number(0, wide, layout) + tables
        }

        /// Returns the pixels of rows, as R, G, B, A.
        private static func expected(_ layout: Layout, rows: Range<Int>) -> [UInt8] {
            var bytes: [UInt8] = []
            for y in rows {
                for x in 0..<width {
                    bytes += (0..<3).map { UInt8(sample(x, y, layout.sampleCount == 3 ? $0 : 0)) } + [255]
                }
            }
            return bytes
        }

        private static func layouts(_ compression: TIFFAlphaTests.Compression, _ excess: Excess) -> [Layout] {
            [false, true].flatMap { isBig in
                [false, true].flatMap { isLittleEndian in
                    [false, true].flatMap { isTiled in
                        [1, 3].map { sampleCount in
                            Layout(
                                isBig: isBig, isLittleEndian: isLittleEndian, isTiled: isTiled,
                                sampleCount: sampleCount, compression: compression, excess: excess)
                        }
                    }
                }
            }
        }

        @Test(
            "The pixels are complete", arguments: TIFFAlphaTests.Compression.allCases, Excess.allCases)
        func decodes(_ compression: TIFFAlphaTests.Compression, _ excess: Excess) throws {
            for layout in Self.layouts(compression, excess) {
                let data = Self.file(layout)
                let info = try ImageInfo(data: data)
                #expect(info.size == PixelSize(width: Self.width, height: Self.height))
                for allowsPartial in [false, true] {
                    do {
                        let image = try DecodedImage(
                            data: data, options: ImageDecodingOptions(allowsPartialData: allowsPartial))
                        #expect(!image.metadata.isPartial, "\(layout)")
                        #expect(
                            image.pixels.packedBytes() == Self.expected(layout, rows: 0..<Self.height), "\(layout)")
                    } catch {
                        Issue.record("\(layout): \(error)")
                    }
                }
            }
        }

        @Test("Samples with 16 bits are complete", arguments: TIFFAlphaTests.Compression.allCases, Excess.allCases)
        func deep(_ compression: TIFFAlphaTests.Compression, _ excess: Excess) throws {
            var options = ImageDecodingOptions()
            options.preservesBitDepth = true
            for var layout in Self.layouts(compression, excess) {
                layout.bits = 16
                do {
                    let image = try DecodedImage(data: Self.file(layout), options: options)
                    #expect(image.pixels.format == .rgba16 && !image.metadata.isPartial)
                    let samples = image.pixels.packedBytes().enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
                    #expect(samples == Self.expected(layout, rows: 0..<Self.height), "\(layout)")
                } catch {
                    Issue.record("\(layout): \(error)")
                }
            }
        }

        @Test(
            "If data is missing, the file is truncated", arguments: TIFFAlphaTests.Compression.allCases,
            [Excess.none, .smallOverrun, .largeOverrun])
        func truncated(_ compression: TIFFAlphaTests.Compression, _ excess: Excess) throws {
            for layout in Self.layouts(compression, excess) {
                let last = try #require(Self.units(layout).last?.count)
                let data = Self.file(layout).dropLast(last / 2)
                #expect("\(layout)") {
                    try DecodedImage(data: data)
                } throws: {
                    guard case .decoding(let failure) = $0 as? ImageError, case .truncated = failure.reason else {
                        return false
                    }
                    return true
                }
                let image = try DecodedImage(data: data, options: ImageDecodingOptions(allowsPartialData: true))
                #expect(image.metadata.isPartial, "\(layout)")
                guard !layout.isTiled else { continue }
                let rows = 0..<Self.rowsPerStrip
                let expected = Self.expected(layout, rows: rows)
                #expect(image.pixels.packedBytes().prefix(expected.count).elementsEqual(expected), "\(layout)")
            }
        }
    }
#endif
