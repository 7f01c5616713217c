// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Colors of decoded images")
struct ColorDecodingTests {
    @Test("The manifest lists fixtures with profiles and with code points")
    func manifestIsThere() {
        #expect(ColorFixture.all.count > 40)
    }

    @Test("Decoded images in sRGB match an independent converter", arguments: ColorFixture.all)
    func matchesReference(_ fixture: ColorFixture) throws {
        let image = try fixture.decode()
        let pixels = image.pixels.packedBytes()
        let expected = try fixture.expected()
        if fixture.tolerance == 0 {
            #expect(areEqual(pixels, expected))
        } else {
            #expect(difference(pixels, expected) <= fixture.tolerance)
            let worst = SampleDifferences(pixels, expected)?.largest ?? .max
            // The color engine resamples tables, and the HEVC encoding is only nearly lossless.
            let allowed = fixture.format == .heif ? 16 : fixture.format != .png || fixture.profile == "scanner" ? 8 : 3
            #expect(worst <= allowed)
        }
    }

    @Test("The metadata contains the profile, and code points that describe the pixels", arguments: ColorFixture.all)
    func metadata(_ fixture: ColorFixture) throws {
        let metadata = try fixture.decode().metadata
        if let name = fixture.profile, fixture.format != .jxl {
            let profile = Data(try ColorFixture.profile(name))
            #expect(metadata.iccProfile == profile)
        }
        if let cicp = fixture.cicp {
            let points = ColorCodePoints(primaries: cicp[0], transfer: cicp[1])
            #expect(metadata.fileCodePoints == points)
            for color in ImageColorSpace.allCases {
                let metadata = try fixture.decode(ImageDecodingOptions(color: color)).metadata
                let isOfFile = metadata.color == .source
                let primaries = isOfFile ? points.primaries : metadata.color == .displayP3 ? 12 : 1
                #expect(metadata.colorPrimaries == primaries, "\(color)")
                #expect(metadata.transferCharacteristics == (isOfFile ? points.transfer : 13), "\(color)")
                #expect(metadata.fileCodePoints == points, "\(color)")
            }
        }
    }

    @Test("The probe returns the code points of the header", arguments: ColorFixture.all)
    func probe(_ fixture: ColorFixture) throws {
        guard let cicp = fixture.cicp, fixture.format != .jxl else { return }
        let probe = try ImageInfo(data: fixture.data())
        #expect(probe.codePoints == ColorCodePoints(primaries: cicp[0], transfer: cicp[1]))
    }

    @Test(
        "Public images that exist in two color spaces look the same in both",
        .enabled(if: Conformance.directory != nil, "the conformance files aren't available"))
    func pairs() throws {
        for (file, other) in Self.pairs {
            let folder = "icc-pairs/"
            let options = ImageDecodingOptions(size: .exact(width: 64, height: 64))
            let first = try ImageCoderRegistry.standard.decode(
                Conformance.data(folder + file), options: options, context: ImageProcessingContext())
            let second = try ImageCoderRegistry.standard.decode(
                Conformance.data(folder + other), options: options, context: ImageProcessingContext())
            #expect(similarity(first.pixels, second.pixels) > 34, "\(file)")
        }
    }

    private static let pairs = [
        ("wesaturate/64px/a2d1un_nkitzmiller_2020_g1.png", "wesaturate/64px/a2d1un_nkitzmiller_srgb8.png"),
        ("wesaturate/64px/cvo9xd_keong_macan_2020_g1.png", "wesaturate/64px/cvo9xd_keong_macan_srgb8.png"),
        ("wesaturate/64px/ra0ed45_alfann24_709_g1.png", "wesaturate/64px/ra0ed45_alfann24_srgb8.png"),
        ("wesaturate/64px/u76c0g_bliznaca_709_g1.png", "wesaturate/64px/u76c0g_bliznaca_srgb8.png"),
        ("wesaturate/64px/vgqcws_vin_709_g1.png", "wesaturate/64px/vgqcws_vin_srgb8.png"),
        ("raw.pixls/DJI-FC6310-16bit_709_v4_krita.png", "raw.pixls/DJI-FC6310-16bit_srgb8_v4_krita.png"),
        (
            "raw.pixls/Google-Pixel2XL-16bit_acescg_g1_v4_krita.png",
            "raw.pixls/Google-Pixel2XL-16bit_srgb8_v4_krita.png"
        ),
        ("raw.pixls/Sony-DSC-RX1RM2-14bit_709_v4_krita.png", "raw.pixls/Sony-DSC-RX1RM2-14bit_srgb8_v4_krita.png"),
    ]
}
