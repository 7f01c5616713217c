// SPDX-License-Identifier: MIT

#if TIFF
    import Foundation
    import Testing
    import WebImageCodecs
    import WebImageCore

    /// The tests write files with every combination of colors, extra samples, depths, layouts, and compressions.
    @Suite("The extra samples of TIFF images")
    struct TIFFAlphaTests {
        /// The meaning of the samples before the extra samples.
        enum Colors: Int, CaseIterable, Sendable {
            /// The values of `PhotometricInterpretation`.
            case whiteIsZero = 0
            case blackIsZero = 1
            case rgb = 2
            case palette = 3
            case cmyk = 5

            var count: Int {
                switch self {
                case .rgb: 3
                case .cmyk: 4
                default: 1
                }
            }
        }

        /// The compressions for which the tests contain an encoder. The raw values are those of `Compression`.
        enum Compression: Int, CaseIterable, Sendable {
            case none = 1
            case lzw = 5
            case deflate = 8
            case packBits = 32_773
        }

        /// A file with 3 columns and equal rows.
        struct Layout: Sendable {
            var colors: Colors
            /// The values of `ExtraSamples`, or `nil` to omit the tag, which leaves one undeclared sample.
            var extras: [Int]?
            var bits = 8
            /// A Boolean value that indicates whether each sample has its own plane.
            var isPlanar = false
            var compression = Compression.none
            var profile: [UInt8] = []
            var rowCount = 2
            /// A Boolean value that indicates whether the planes of the extra samples are empty.
            var hasEmptyExtras = false

            var extraCount: Int { extras?.count ?? 1 }
            var sampleCount: Int { colors.count + extraCount }
            /// The index of the sample with alpha: the first declared one, or else the first one.
            var alphaIndex: Int { (extras ?? []).firstIndex { $0 > 0 } ?? 0 }
            var isAssociated: Bool { extras.map { $0.first { $0 > 0 } == 1 } ?? false }
        }

        static let extras: [[Int]?] = [nil, [0], [1], [2], [0, 1], [0, 2], [2, 0], [0, 0], [0, 0, 2]]

        private static let width = 3

        /// Returns the stored colors of the pixels of a row. The palette has 256 entries.
        private static func storedColors(_ colors: Colors) -> [[Int]] {
            switch colors {
            case .whiteIsZero: [[200], [35], [0]]
            case .blackIsZero: [[55], [220], [255]]
            case .rgb: [[220, 30, 30], [10, 60, 20], [255, 255, 255]]
            case .palette: [[7], [100], [255]]
            case .cmyk: [[20, 200, 100, 10], [0, 40, 60, 0], [0, 0, 0, 0]]
            }
        }

        private static let alpha = [128, 60, 0]
        /// The value of the extra samples that aren't alpha.
        private static let filler = 77

        private static func paletteColor(_ index: Int) -> [Int] { [index, 255 - index, index / 2] }

        /// Returns the color of stored samples from 0 to 255.
        private static func color(_ samples: [Double], _ colors: Colors) -> [Double] {
            switch colors {
            case .whiteIsZero: Array(repeating: 255 - samples[0], count: 3)
            case .blackIsZero: Array(repeating: samples[0], count: 3)
            case .rgb: samples
            case .palette: paletteColor(Int(samples[0])).map { Double($0) }
            case .cmyk: (0..<3).map { (255 - samples[$0]) * (255 - samples[3]) / 255 }
            }
        }

        /// Returns the premultiplied pixel for stored samples.
        private static func expected(_ samples: [Int], alpha: Int, _ layout: Layout) -> [Double] {
            var numbers = samples.map { Double($0) }
            let share = Double(alpha) / 255
            if layout.isAssociated, layout.colors == .cmyk {
                numbers = numbers.map { alpha == 0 ? 0 : min(255, $0 / share) }
            }
            let straight = color(numbers, layout.colors)
            // The index of a palette and inks can't be multiplied by alpha.
            let isStraight = !layout.isAssociated || layout.colors == .cmyk || layout.colors == .palette
            return straight.map { isStraight ? $0 * share : min($0, Double(alpha)) } + [Double(alpha)]
        }

        private static func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }

        /// Returns the compressed data of a strip or tile with at most 65,535 bytes.
        static func compressed(_ bytes: [UInt8], _ compression: Compression) -> [UInt8] {
            switch compression {
            case .none: bytes
            case .packBits: chunks(bytes, 128).flatMap { [UInt8($0.count - 1)] + $0 }
            case .deflate: zlibStream(bytes)
            case .lzw: lzwCodes(bytes)
            }
        }

        private static func chunks(_ bytes: [UInt8], _ count: Int) -> [ArraySlice<UInt8>] {
            stride(from: 0, to: bytes.count, by: count).map { bytes[$0..<min($0 + count, bytes.count)] }
        }

        /// Returns a zlib stream with one block that isn't compressed (RFC 1950; RFC 1951, section 3.2.4).
        private static func zlibStream(_ bytes: [UInt8]) -> [UInt8] {
            var stream: [UInt8] = [0x78, 0x01, 1]
            stream += little(bytes.count, 2) + little(~bytes.count, 2)
            stream += bytes
            stream += little(Int(HandmadePNG.checksum(bytes)), 4).reversed()
            return stream
        }

        /// Returns LZW codes of 9 bits, each of which stands for one byte (TIFF 6.0, section 13). The code 256 clears the
        /// table before the codes become longer.
        private static func lzwCodes(_ bytes: [UInt8]) -> [UInt8] {
            var bits: [UInt8] = []
            for code in chunks(bytes, 200).flatMap({ [256] + $0.map { Int($0) } }) + [257] {
                for bit in (0..<9).reversed() { bits.append(UInt8(code >> bit & 1)) }
            }
            var bytes: [UInt8] = []
            for start in stride(from: 0, to: bits.count, by: 8) {
                var byte: UInt8 = 0
                for bit in start..<start + 8 { byte = byte << 1 | (bit < bits.count ? bits[bit] : 0) }
                bytes.append(byte)
            }
            return bytes
        }

        /// Returns the samples of each pixel of a row, from 0 to 255.
        private static func pixels(_ layout: Layout) -> [[Int]] {
            zip(storedColors(layout.colors), alpha).map { color, alpha in
                color + (0..<layout.extraCount).map { $0 == layout.alphaIndex ? alpha : filler }
            }
        }

        /// A tag of the directory.
        private struct Entry {
            var tag: Int
            /// The type: 3 for 16 bits, 4 for 32 bits, and 7 for bytes.
            var kind: Int
            var values: [Int]

            init(_ tag: Int, _ kind: Int, _ values: [Int]) {
                self.tag = tag
                self.kind = kind
                self.values = values
            }

            var bytes: [UInt8] {
                let size = kind == 3 ? 2 : kind == 4 ? 4 : 1
                return values.flatMap { TIFFAlphaTests.little($0, size) }
            }
        }

        /// Returns the strips, each of which contains one row or one row of a plane.
        private static func strips(_ layout: Layout) -> [[UInt8]] {
            let bytesPerSample = layout.bits / 8
            let pixels = Self.pixels(layout)
            var rows: [[Int]] = [pixels.flatMap { $0 }]
            if layout.isPlanar { rows = (0..<layout.sampleCount).map { sample in pixels.map { $0[sample] } } }
            return rows.enumerated().flatMap { plane, row -> [[UInt8]] in
                if layout.hasEmptyExtras, plane >= layout.colors.count {
                    return Array(repeating: [], count: layout.rowCount)
                }
                let bytes = row.flatMap { little(bytesPerSample == 1 ? $0 : $0 * 257, bytesPerSample) }
                return Array(repeating: compressed(bytes, layout.compression), count: layout.rowCount)
            }
        }

        private static func entries(_ layout: Layout, lengths: [Int], places: [Int]) -> [Entry] {
            var entries = [
                Entry(256, 4, [width]), Entry(257, 4, [layout.rowCount]),
                Entry(258, 3, Array(repeating: layout.bits, count: layout.sampleCount)),
                Entry(259, 3, [layout.compression.rawValue]), Entry(262, 3, [layout.colors.rawValue]),
                Entry(273, 4, places), Entry(277, 3, [layout.sampleCount]), Entry(278, 4, [1]),
                Entry(279, 4, lengths), Entry(284, 3, [layout.isPlanar ? 2 : 1]),
            ]
            if layout.colors == .palette {
                let palette = (0..<256).map(paletteColor)
                entries.append(Entry(320, 3, (0..<3).flatMap { channel in palette.map { $0[channel] * 257 } }))
            }
            if let extras = layout.extras, !extras.isEmpty { entries.append(Entry(338, 3, extras)) }
            if !layout.profile.isEmpty { entries.append(Entry(34_675, 7, layout.profile.map { Int($0) })) }
            return entries
        }

        static func file(_ layout: Layout) -> Data {
            let strips = Self.strips(layout)
            let lengths = strips.map(\.count)
            // The positions of the strips don't change the size of the directory.
            let draft = entries(layout, lengths: lengths, places: lengths)
            let tablesStart = 8 + 2 + draft.count * 12 + 4
            var offset = tablesStart + draft.map(\.bytes.count).filter { $0 > 4 }.reduce(0, +)
            var places: [Int] = []
            for length in lengths {
                places.append(offset)
                offset += length
            }
            var directory = little(draft.count, 2)
            var tables: [UInt8] = []
            for entry in entries(layout, lengths: lengths, places: places) {
                let bytes = entry.bytes
                directory += little(entry.tag, 2) + little(entry.kind, 2) + little(entry.values.count, 4)
                if bytes.count > 4 {
                    directory += little(tablesStart + tables.count, 4)
                    tables += bytes
                } else {
                    directory += bytes + [UInt8](repeating: 0, count: 4 - bytes.count)
                }
            }
            var file = Array("II".utf8) + little(42, 2) + little(8, 4)
            file += directory + little(0, 4)
            file += tables
            for strip in strips { file += strip }
            return Data(file)
        }

        /// Checks that the image has the expected pixels and no color that exceeds its alpha.
        private func check(_ image: DecodedImage, _ layout: Layout) {
            let isWide = image.pixels.format == .rgba16
            let packed = image.pixels.packedBytes()
            var samples: [Double] = []
            for index in stride(from: 0, to: packed.count, by: isWide ? 2 : 1) {
                guard isWide else {
                    samples.append(Double(packed[index]))
                    continue
                }
                let sample = UInt16(packed[index]) | UInt16(packed[index + 1]) << 8
                samples.append(Double(sample) / 257)
            }
            var wanted: [Double] = []
            for (index, color) in Self.storedColors(layout.colors).enumerated() {
                wanted += Self.expected(color, alpha: Self.alpha[index], layout)
            }
            #expect(samples.count == wanted.count * layout.rowCount)
            for (index, sample) in samples.enumerated() {
                #expect(abs(sample - wanted[index % wanted.count]) <= 1.01, "sample \(index) of \(layout)")
                #expect(sample <= samples[index / 4 * 4 + 3], "sample \(index) of \(layout)")
            }
        }

        @Test(
            "The declared alpha applies, or the first extra sample as unassociated alpha", arguments: Colors.allCases,
            [false, true])
        func product(_ colors: Colors, _ isPlanar: Bool) throws {
            for extras in Self.extras {
                for bits in colors == .palette ? [8] : [8, 16] {
                    for compression in Compression.allCases {
                        let layout = Layout(
                            colors: colors, extras: extras, bits: bits, isPlanar: isPlanar, compression: compression)
                        let file = Self.file(layout)
                        #expect(try ImageInfo(data: file).hasAlpha, "\(layout)")
                        let image = try DecodedImage(data: file)
                        #expect(image.metadata.hasAlpha && !image.isOpaque, "\(layout)")
                        check(image, layout)
                    }
                }
            }
        }

        @Test(
            "Images with 16 bits per sample have the same alpha", arguments: [Colors.rgb, .blackIsZero, .whiteIsZero])
        func deep(_ colors: Colors) throws {
            var options = ImageDecodingOptions()
            options.preservesBitDepth = true
            for extras in Self.extras {
                let layout = Layout(colors: colors, extras: extras, bits: 16)
                let image = try DecodedImage(data: Self.file(layout), options: options)
                #expect(image.pixels.format == .rgba16)
                check(image, layout)
            }
        }

        @Test("Unspecified alpha gives the same pixels as unassociated alpha", arguments: Colors.allCases)
        func equalsReference(_ colors: Colors) throws {
            let pixels = try ([nil, [0], [2]] as [[Int]?]).map { extras in
                try DecodedImage(data: Self.file(Layout(colors: colors, extras: extras))).pixels.packedBytes()
            }
            #expect(pixels[0] == pixels[2] && pixels[1] == pixels[2])
        }

        @Test("A profile for inks applies to CMYK images with alpha", arguments: [[0], [2], [0, 2], [1]])
        func profile(_ extras: [Int]) throws {
            let profile = try ColorFixture.profile("cmyk")
            let layout = Layout(colors: .cmyk, extras: extras, profile: profile)
            let image = try DecodedImage(data: Self.file(layout))
            let naive = try DecodedImage(data: Self.file(Layout(colors: .cmyk, extras: extras)))
            let pixels = image.pixels.packedBytes()
            #expect(image.metadata.hasAlpha && pixels != naive.pixels.packedBytes())
            for index in 0..<Self.width {
                let alpha = Int(pixels[index * 4 + 3])
                #expect(alpha == Self.alpha[index])
                #expect(pixels[index * 4..<index * 4 + 3].allSatisfy { Int($0) <= alpha })
            }
            // A smaller result is reduced row by row if the limits don't allow the whole image.
            var limits = ImageLimits.desktop
            limits.maxPixels = 4
            var tall = layout
            tall.rowCount = 16
            let small = try ImageCoderRegistry.standard.decode(
                Self.file(tall), options: ImageDecodingOptions(size: .fit(width: 1, height: 4)),
                context: ImageProcessingContext(limits: limits))
            #expect(small.size == PixelSize(width: 1, height: 4) && !small.isOpaque)
        }

        @Test(
            "An undeclared sample whose plane is empty isn't alpha, and the colors remain", arguments: Colors.allCases)
        func emptyPlanes(_ colors: Colors) throws {
            for bits in colors == .palette ? [8] : [8, 16] {
                for extras in [nil, [0], [0, 0]] as [[Int]?] {
                    let layout = Layout(
                        colors: colors, extras: extras, bits: bits, isPlanar: true, hasEmptyExtras: true)
                    let image = try DecodedImage(data: Self.file(layout))
                    #expect(image.isOpaque && !image.metadata.hasAlpha, "\(layout)")
                    let opaque = try DecodedImage(data: Self.file(Layout(colors: colors, extras: [], bits: bits)))
                    let samples = zip(image.pixels.packedBytes(), opaque.pixels.packedBytes())
                    #expect(samples.allSatisfy { abs(Int($0) - Int($1)) <= 1 }, "\(layout)")
                }
            }
        }

        @Test("Images without extra samples are opaque")
        func noExtras() throws {
            for colors in Colors.allCases {
                let file = Self.file(Layout(colors: colors, extras: []))
                let info = try ImageInfo(data: file)
                #expect(!info.hasAlpha)
                #expect(try DecodedImage(data: file).isOpaque)
            }
        }
    }
#endif
