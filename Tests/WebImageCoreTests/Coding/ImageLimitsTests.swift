// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite("Image limits")
struct ImageLimitsTests {
    @Test("New limits have the values of the desktop preset")
    func defaults() {
        let limits = ImageLimits()
        #expect(limits == .desktop)
        #expect(limits.maxEncodedBytes == 33_554_432 && limits.maxPixels == 50_000_000)
        #expect(limits.maxDecodingTime == .seconds(10) && limits.rejectsImplausibleFiles)
        #expect(limits.maxSourcePixels == 400_000_000 && limits.maxEncodingTime == .seconds(30))
        #expect(ImageLimits.server.maxDecodingTime == .seconds(5))
        #expect(ImageLimits.server.maxSourcePixels == 100_000_000)
        #expect(ImageLimits.server.maxEncodingTime == .seconds(10))
        #expect(ImageLimits.icon.maxDecodingTime == .seconds(2))
    }

    @Test(
        "Encoding and decoding limits preserves every value",
        arguments: [ImageLimits.desktop, .server, .icon, .unlimited])
    func coding(_ limits: ImageLimits) throws {
        let data = try JSONEncoder().encode(limits)
        #expect(try JSONDecoder().decode(ImageLimits.self, from: data) == limits)
    }

    @Test("A header is compared with the limit for files, and the size that a decoder holds with the other limits")
    func sources() throws {
        func kind(_ size: PixelSize, _ requirements: DecodingRequirements?) -> ImageError.LimitFailure.Kind? {
            do throws(ImageError) {
                let info = ImageInfo(format: .tiff, storedSize: size)
                try ImageLimits.desktop.check(info, encodedBytes: 1 << 20, requirements: requirements)
                return nil
            } catch {
                guard case .limitExceeded(let failure) = error else { return nil }
                return failure.kind
            }
        }
        let small = DecodingRequirements(size: PixelSize(width: 300, height: 300), byteCount: 1)
        #expect(kind(PixelSize(width: 20_000, height: 20_000), small) == nil)
        #expect(kind(PixelSize(width: 20_000, height: 20_001), small) == .sourcePixelCount)
        #expect(kind(PixelSize(width: .max, height: 2), small) == .sourcePixelCount)
        #expect(kind(PixelSize(width: 20_000, height: 20_000), nil) == .dimension)
        #expect(kind(PixelSize(width: 10_000, height: 5_000), nil) == nil)
        #expect(kind(PixelSize(width: 10_000, height: 5_001), nil) == .pixelCount)
        let large = DecodingRequirements(size: PixelSize(width: 10_000, height: 5_001), byteCount: 1)
        #expect(kind(PixelSize(width: 20_000, height: 10_002), large) == .pixelCount)
    }

    @Test("The error of an exceeded timeout contains the timeout in milliseconds")
    func time() throws {
        var limits = ImageLimits()
        limits.maxDecodingTime = .milliseconds(-1_500)
        let context = ImageProcessingContext(limits: limits)
        #expect {
            try context.checkCancellation()
        } throws: { error in
            guard case .limitExceeded(let failure)? = error as? ImageError else { return false }
            return failure.kind == .decodingTime && failure.limit == -1_500 && failure.actual >= 0
        }
    }

    @Test("A header whose image can be decoded at a smaller size is accepted at any size")
    func anySize() throws {
        // 100 megapixels, above the limit.
        func info(_ format: ImageFormat, isProgressive: Bool = false, rowsPerUnit: Int? = nil) -> ImageInfo {
            ImageInfo(
                format: format, storedSize: PixelSize(width: 12_500, height: 8_000), isProgressive: isProgressive,
                rowsPerUnit: rowsPerUnit)
        }
        let limits = ImageLimits.desktop
        for header in [
            info(.jpeg), info(.nef), info(.cr3), info(.jpeg2000), info(.dng, rowsPerUnit: 64),
            info(.tiff, rowsPerUnit: 64),
        ] { try limits.checkAtAnySize(header, encodedBytes: 30 << 20) }
        for header in [
            // The coefficients of 100 megapixels exceed twice the limit for decoded bytes.
            info(.jpeg, isProgressive: true), info(.nef, isProgressive: true), info(.dng, rowsPerUnit: .max),
            info(.tiff), info(.gif),
        ] { #expect(throws: ImageError.self) { try limits.checkAtAnySize(header, encodedBytes: 30 << 20) } }
        var progressive = info(.jpeg, isProgressive: true)
        progressive.smallestFile = 12_500 * 8_000 / 64 * 3 / 2 / 8
        try limits.checkAtAnySize(progressive, encodedBytes: 30 << 20)
        // A reduced image can also be too large.
        var large = info(.jpeg2000)
        large.storedSize = PixelSize(width: .max, height: .max)
        #expect(throws: ImageError.self) { try limits.checkAtAnySize(large, encodedBytes: 1) }
    }
}
