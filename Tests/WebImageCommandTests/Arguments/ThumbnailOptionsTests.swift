// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@testable import WebImageCommand

@Suite("Sizes and output names of thumbnails, as in vipsthumbnail")
struct ThumbnailOptionsTests {
    private func geometry(_ words: String...) throws -> ThumbnailGeometry {
        try ThumbnailGeometry(try Arguments(["a.png"] + words, for: Commands.thumbnail))
    }

    @Test("Short thumbnail sizes are boxes, and --crop requires a box")
    func boxes() throws {
        let natural = PixelSize(width: 400, height: 100)
        for text in ["200", "200>", "200x200", "200x200>"] {
            #expect(try geometry("-s", text).decodedSize(natural: natural) == .fit(width: 200, height: 200), "\(text)")
        }
        #expect(try geometry("-s", "200x100>").decodedSize(natural: natural) == .fit(width: 200, height: 100))
        for text in ["200x", "200x>"] {
            #expect(try geometry("-s", text).decodedSize(natural: natural) == .fit(width: 200), "\(text)")
        }
        #expect(try geometry("-s", "x50>").decodedSize(natural: natural) == .fit(height: 50))
        #expect(try geometry().decodedSize(natural: natural) == .fit(width: 128, height: 128))
        for text in ["50^", "50x50^"] {
            #expect(try geometry("-s", text).decodedSize(natural: natural) == .fill(width: 50, height: 50), "\(text)")
        }
        for text in ["50!", "50x50!"] {
            #expect(try geometry("-s", text).decodedSize(natural: natural) == .exact(width: 50, height: 50), "\(text)")
        }
        #expect(
            try geometry("-s", "50", "--crop", "center").decodedSize(natural: natural) == .fill(width: 50, height: 50))
        let smart = try geometry("-s", "50", "--crop", "smart")
        #expect(smart.decodedSize(natural: natural) == .exact(width: 200, height: 50) && smart.crop != nil)
        #expect(smart.decodedSize(natural: PixelSize(width: 40, height: 40)) == nil)
        #expect(throws: UsageError.self) { try geometry("-s", "50x", "--crop", "smart") }
        #expect(try geometry("-s", "50%>").decodedSize(natural: natural) == .scaled(width: 0.5, height: 0.5))
    }

    @Test("The mark < enlarges smaller images to the box, and keeps the size of others")
    func enlarging() throws {
        let small = PixelSize(width: 40, height: 10)
        for text in ["200<", "200x200<", "200X<"] {
            #expect(try geometry("-s", text).decodedSize(natural: small) == .exact(width: 200, height: 50), "\(text)")
        }
        #expect(try geometry("-s", "200x20<").decodedSize(natural: small) == .exact(width: 80, height: 20))
        #expect(try geometry("-s", "x25<").decodedSize(natural: small) == .exact(width: 100, height: 25))
        for natural in [PixelSize(width: 200, height: 10), PixelSize(width: 400, height: 300)] {
            #expect(try geometry("-s", "200<").decodedSize(natural: natural) == nil)
        }
        #expect(try geometry("-s", "200<").decodedSize(natural: nil) == nil)
    }

    @Test(
        "Invalid sizes are usage errors that contain the text of the user",
        arguments: ["0<", "<", "x<", "50%<", "200x200^<", "200x!", "x200^", "a", "1000001"])
    func invalid(_ text: String) {
        let error = #expect(throws: UsageError.self) { try geometry("-s", text) }
        #expect(error?.message.contains("“\(text)” isn’t a size") == true, "\(error?.message ?? "")")
    }

    @Test("A size that only enlarges can't be combined with a crop")
    func enlargingCrop() {
        #expect(throws: UsageError.self) { try geometry("-s", "200<", "--crop", "smart") }
    }

    private func arguments(_ output: String, _ words: String...) throws -> Arguments {
        try Arguments(["a.png", "-o", output] + words, for: Commands.thumbnail).applyingOutputNameOptions()
    }

    @Test("Options after the extension of the output name are encoding options")
    func outputOptions() throws {
        let result = try arguments("tn_%s.jpg[Q=50, strip,lossless]")
        #expect(result.last("output") == "tn_%s.jpg")
        let encoding = try result.encoding(.jpeg)
        #expect(encoding.quality == 50 && encoding.metadata == .strip && encoding.isLossless)
        #expect(try arguments("{name}.{format}[Q=1]").encoding(nil).quality == 1)
        #expect(try arguments("a.webp[lossless=true]").encoding(nil).isLossless)
        #expect(try !arguments("a.webp[lossless=false]").encoding(nil).isLossless)
        #expect(try arguments("a.jpg[strip=false]").encoding(nil).metadata == .keep)
        #expect(try arguments("a.jpg[]").last("output") == "a.jpg")
        let kept = try arguments("a.jpg[Q=50]", "--metadata", "keep", "--effort", "3").encoding(nil)
        #expect(kept.metadata == .keep && kept.effort == 3 && kept.quality == 50)
    }

    @Test(
        "Other brackets are part of the name", arguments: ["out[1]", "a[1].jpg", "[Q=50]", "dir.d/x[Q=50]", "a.jpg]"])
    func names(_ output: String) throws {
        let result = try arguments(output)
        #expect(result.last("output") == output && !result.has("quality"))
    }

    @Test(
        "Other options name the supported ones",
        arguments: ["Q=0", "Q=101", "Q", "Q=x", "optimize_coding", "strip=maybe", "profile=srgb", "Q=50,,strip", "q=5"])
    func unsupported(_ list: String) {
        let error = #expect(throws: UsageError.self) { try arguments("a.jpg[\(list)]") }
        #expect(
            error?.message.hasSuffix(
                "isn’t supported (use Q=1 to Q=100, strip, and lossless, or options such as --quality)") == true)
    }

    @Test("An option can't be specified twice")
    func contradictions() {
        #expect(throws: UsageError.self) { try arguments("a.jpg[Q=50]", "--quality", "60") }
        #expect(throws: UsageError.self) { try arguments("a.jpg[strip]", "--metadata", "keep") }
    }
}
