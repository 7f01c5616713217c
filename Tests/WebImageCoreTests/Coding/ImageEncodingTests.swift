// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@Suite("Encoding options")
struct ImageEncodingTests {
    /// Encodings that differ from the first one in a single property each.
    private var variants: [ImageEncoding] {
        let changes: [(inout ImageEncoding) -> Void] = [
            { _ in }, { $0.format = .png }, { $0.format = nil }, { $0.format = ImageFormat(rawValue: "jpeg:-") },
            { $0.quality = 1 },
            { $0.quality = 11 }, { $0.isLossless = true }, { $0.isProgressive = true }, { $0.effort = 1 },
            { $0.background = PixelColor(red: 1, green: 11, blue: 1) },
            { $0.background = PixelColor(red: 11, green: 1, blue: 1) }, { $0.background = .clear },
            { $0.frames = .first }, { $0.frames = .range(1..<2) }, { $0.frames = .indices([1, 2]) },
            { $0.frames = .indices([12]) }, { $0.loopCount = 1 }, { $0.usesDithering = false },
        ]
        let newer: [(inout ImageEncoding) -> Void] =
            ImageEncoding.ChromaSubsampling.allCases.map { choice in { $0.chromaSubsampling = choice } }
            + ImageEncoding.MetadataPolicy.allCases.filter { $0 != .strip }.map { policy in { $0.metadata = policy } }
            + [
                { $0.optimizesHuffmanTables = false }, { $0.isExact = true }, { $0.thumbnailDimension = 1 },
                { $0.iconDimensions = [1, 11] }, { $0.iconDimensions = [11, 1] }, { $0.maxByteCount = 1 },
                { $0.maxDimension = 1 }, { $0.maxDimension = 11 }, { $0.preservesDynamicRange = false },
                { $0.color = .sRGB }, { $0.color = .displayP3 }, { $0.visualScore = 70 }, { $0.visualScore = 71 },
                { $0.automaticFormats = [.png] }, { $0.automaticFormats = [.png, .gif] },
            ] + ImageEncoding.Preset.allCases.map { preset in { $0.preset = preset } }
        return (changes + newer).map { change in
            var encoding = ImageEncoding(format: .jpeg)
            change(&encoding)
            return encoding
        }
    }

    @Test("Different encodings have different identities")
    func identities() {
        let all = variants
        #expect(Set(all).count == all.count)
        #expect(Set(all.map(\.identity)).count == all.count)
        // At least one variant changes each stored property.
        let base = Mirror(reflecting: all[0]).children.map { "\($0.value)" }
        for (place, property) in Mirror(reflecting: all[0]).children.enumerated() {
            let changes = all.contains { "\(Array(Mirror(reflecting: $0).children)[place].value)" != base[place] }
            #expect(changes, "\(property.label ?? "")")
        }
    }

    @Test("A preset changes the identity only if it's set, and is separate from all other options")
    func presets() {
        let plain = ImageEncoding.webp(quality: 50)
        #expect(plain.preset == nil && plain.identity.hasSuffix(":strip"), "existing cache entries remain valid")
        for policy in ImageEncoding.MetadataPolicy.allCases {
            var all: Set<String> = []
            let presets: [ImageEncoding.Preset?] = [nil] + ImageEncoding.Preset.allCases
            for preset in presets {
                var encoding = plain
                (encoding.metadata, encoding.preset) = (policy, preset)
                all.insert(encoding.identity)
            }
            #expect(all.count == ImageEncoding.Preset.allCases.count + 1)
        }
    }

    @Test("The static members have the format, the quality, and the options in their names")
    func staticMembers() {
        #expect(ImageEncoding.jpeg == .jpeg(quality: 90) && ImageEncoding.jpeg.format == .jpeg)
        #expect(ImageEncoding.jpeg(quality: 50, isProgressive: true).isProgressive)
        #expect(ImageEncoding.png.isLossless && ImageEncoding.png(effort: 3).effort == 3)
        #expect(ImageEncoding.webp.quality == 80 && !ImageEncoding.webp.isLossless)
        #expect(ImageEncoding.webp.lossless.isLossless && ImageEncoding.webp.lossless.format == .webp)
        #expect(ImageEncoding.heic.format == .heif && ImageEncoding.avif(quality: 40).quality == 40)
        #expect(ImageEncoding.ico(dimensions: [16, 32]).iconDimensions == [16, 32])
        #expect(ImageEncoding.automatic.format == nil)
    }

    @Test("Encodings with any combination of several changes have different identities")
    func pairs() {
        var seen: [String: ImageEncoding] = [:]
        for quality in [nil, 1, 11] {
            for effort in [nil, 1, 11] {
                for loops in [nil, 1, 11] {
                    for side in [nil, 1, 11] {
                        let encoding = ImageEncoding(format: .png, quality: quality, effort: effort).with(
                            \.loopCount, loops
                        ).with(\.thumbnailDimension, side).with(\.maxByteCount, side).with(\.maxDimension, quality)
                        #expect(seen.updateValue(encoding, forKey: encoding.identity) == nil)
                    }
                }
            }
        }
    }
}
