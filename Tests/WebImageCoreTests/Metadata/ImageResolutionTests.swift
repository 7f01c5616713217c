// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite("Resolutions and chroma subsampling of files")
struct ImageResolutionTests {
    /// Returns both resolutions in pixels per inch, rounded to thousandths.
    private func resolution(_ file: ByteBuilder) -> [Double]? {
        ImageFileDetails(data: file.data).resolution.map { resolution in
            [resolution.horizontal, resolution.vertical].map { ($0 * 1_000).rounded() / 1_000 }
        }
    }

    private func jfif(_ unit: Int, _ horizontal: Int, _ vertical: Int) -> ByteBuilder {
        ByteBuilder().segment(
            0xE0,
            ByteBuilder().text("JFIF\0").raw(1, 2).big(unit, 1).big(horizontal, 2).big(vertical, 2).zeros(2))
    }

    /// Returns EXIF data with fractions as numerators and denominators. A missing value has no tag.
    private func exif(
        _ horizontal: (Int, Int)?, _ vertical: (Int, Int)?, unit: Int?, isBig: Bool = true
    ) -> ByteBuilder {
        func number(_ value: Int, _ count: Int) -> ByteBuilder {
            isBig ? ByteBuilder().big(value, count) : ByteBuilder().little(value, count)
        }
        let fractions = [(0x011A, horizontal), (0x011B, vertical)].compactMap { tag, value in value.map { (tag, $0) } }
        let count = fractions.count + (unit == nil ? 0 : 1)
        var file = ByteBuilder().text(isBig ? "MM" : "II").joined(number(42, 2)).joined(number(8, 4))
            .joined(number(count, 2))
        for (index, (tag, _)) in fractions.enumerated() {
            file = file.joined(number(tag, 2)).joined(number(5, 2)).joined(number(1, 4))
                .joined(number(14 + count * 12 + index * 8, 4))
        }
        if let unit {
            file = file.joined(number(0x0128, 2)).joined(number(3, 2)).joined(number(1, 4)).joined(number(unit, 2))
                .zeros(2)
        }
        file = file.zeros(4)
        for (_, value) in fractions { file = file.joined(number(value.0, 4)).joined(number(value.1, 4)) }
        return file
    }

    private func photo(_ exif: ByteBuilder, before: ByteBuilder = ByteBuilder()) -> ByteBuilder {
        Sample.jpeg(8, 8, before: before.segment(0xE1, ByteBuilder().text("Exif\0\0").joined(exif)))
    }

    @Test("JPEG files have the resolution of JFIF in inches or centimeters")
    func jfifUnits() {
        #expect(resolution(Sample.jpeg(8, 8, before: jfif(1, 300, 150))) == [300, 150])
        #expect(resolution(Sample.jpeg(8, 8, before: jfif(2, 100, 28))) == [254, 71.12])
        for segment in [
            jfif(0, 1, 1), jfif(3, 72, 72), jfif(1, 0, 72), ByteBuilder().segment(0xE0, ByteBuilder().text("JFIF\0")),
        ] {
            #expect(resolution(Sample.jpeg(8, 8, before: segment)) == nil)
        }
    }

    @Test("JPEG files have the chroma subsampling of YCbCr and YCCK, and CMYK and RGB have none")
    func chroma() {
        func chroma(_ factors: [Int], transform: Int?) -> String? {
            let adobe = transform.map { value in
                ByteBuilder().segment(0xEE, ByteBuilder().text("Adobe").zeros(6).big(value, 1))
            }
            let file = Sample.jpeg(8, 8, factors: factors, before: adobe ?? ByteBuilder())
            return ImageFileDetails(data: file.data).chromaSubsampling?.description
        }
        #expect(chroma([0x22, 0x11, 0x11], transform: nil) == "4:2:0")
        #expect(chroma([0x42, 0x11, 0x11], transform: 1) == "4:1:0")
        #expect(chroma([0x31, 0x11, 0x11], transform: 1) == "3 × 1")
        #expect(chroma([0x21, 0x11, 0x11], transform: 0) == nil)
        #expect(chroma([0x22, 0x11, 0x11, 0x22], transform: 2) == "4:2:0")
        #expect(chroma([0x22, 0x11, 0x11, 0x22], transform: 0) == nil)
        for invalid in [
            [0x22, 0x11, 0x21], [0x32, 0x21, 0x21], [0x22, 0, 0], [0, 0x11, 0x11], [0x11], [0x22, 0x11],
        ] {
            #expect(chroma(invalid, transform: nil) == nil)
        }
    }

    @Test("EXIF data has the resolution if JFIF has none")
    func exifUnits() {
        let inches = exif((240, 1), (4_801, 40), unit: 2)
        #expect(resolution(photo(inches)) == [240, 120.025])
        #expect(resolution(photo(inches, before: jfif(0, 1, 1))) == [240, 120.025])
        #expect(resolution(photo(inches, before: jfif(1, 96, 96))) == [96, 96])
        #expect(resolution(photo(exif((100, 1), (100, 1), unit: 3, isBig: false))) == [254, 254])
        #expect(resolution(photo(exif((72, 1), nil, unit: nil))) == [72, 72])
        #expect(resolution(photo(exif(nil, (72, 1), unit: 2))) == [72, 72])
        for invalid in [
            exif((72, 1), (72, 1), unit: 1), exif((72, 0), nil, unit: 2), exif((0, 1), nil, unit: 2),
            exif(nil, nil, unit: 2),
        ] {
            #expect(resolution(photo(invalid)) == nil)
        }
        let extended = Sample.canvas(0x08, 33, 44).riff("EXIF", inches)
        #expect(resolution(Sample.webp(extended)) == [240, 120.025])
    }

    @Test("PNG files have the resolution of pHYs, or of EXIF data")
    func png() {
        func physical(_ horizontal: Int, _ vertical: Int, _ unit: Int) -> ByteBuilder {
            ByteBuilder().chunk("pHYs", ByteBuilder().big(horizontal, 4).big(vertical, 4).big(unit, 1))
        }
        #expect(resolution(Sample.png(3, 2, before: physical(11_811, 5_906, 1))) == [299.999, 150.012])
        #expect(resolution(Sample.png(3, 2, before: physical(2, 1, 0))) == nil)
        #expect(resolution(Sample.png(3, 2, before: physical(0, 1, 1))) == nil)
        #expect(resolution(Sample.png(3, 2, after: physical(2_835, 2_835, 1))) == nil)
        let both = physical(2, 1, 0).chunk("eXIf", exif((90, 1), (90, 1), unit: 2))
        #expect(resolution(Sample.png(3, 2, before: both)) == [90, 90])
    }

    @Test("TIFF files have the resolution of their tags")
    func tiff() {
        #expect(resolution(exif((150, 1), (1_500, 10), unit: 2)) == [150, 150])
        #expect(resolution(exif((150, 1), (150, 1), unit: 1, isBig: false)) == nil)
    }

    @Test("Bitmaps have the resolution of their header, except for those of OS/2 1")
    func bmp() {
        func header(_ horizontal: Int, _ vertical: Int) -> ByteBuilder {
            ByteBuilder().little(40, 4).little(7, 4).little(3, 4).little(1, 2).little(24, 2).little(0, 4).little(0, 4)
                .little(horizontal, 4).little(vertical, 4).zeros(8)
        }
        #expect(resolution(Sample.bitmap(header(2_835, 11_811))) == [72.009, 299.999])
        #expect(resolution(Sample.bitmap(header(0, 0))) == nil)
        #expect(resolution(Sample.bitmap(header(-2_835, 2_835))) == nil)
        let old = ByteBuilder().little(12, 4).little(5, 2).little(6, 2).little(1, 2).little(24, 2)
        #expect(resolution(Sample.bitmap(old)) == nil)
    }

    @Test("Truncated and corrupt files have no invalid details", arguments: Sample.all)
    func corrupt(_ sample: Sample) {
        var generator = SeededGenerator(seed: UInt64(sample.data.count))
        for round in 0..<100 {
            var data = sample.data.prefix(sample.data.count * (round % 20 + 1) / 20)
            for _ in 0..<(round / 20) where !data.isEmpty {
                data[Int.random(in: 0..<data.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            let details = ImageFileDetails(data: Data(data))
            #expect((1...100).contains(details.estimatedQuality ?? 1))
            #expect(details.resolution.map { $0.horizontal > 0 && $0.vertical > 0 } ?? true)
        }
    }
}
