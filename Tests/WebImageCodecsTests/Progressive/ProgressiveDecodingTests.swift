// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

/// The fixtures that support previews.
private let streamed = (Fixture.all + Fixture.optional).filter { fixture in
    (try? Feeding(fixture.data())) != nil && !fixture.file.contains("arithmetic") && fixture.page ?? 0 == 0
}

@Suite("Progressive decoding")
struct ProgressiveDecodingTests {
    private func whole(_ fixture: Fixture, _ options: ImageDecodingOptions = ImageDecodingOptions()) throws
        -> DecodedImage
    {
        var options = options
        options.frames = .first
        return try ImageCoderRegistry.standard.decode(
            fixture.data(), options: options,
            context: ImageProcessingContext())
    }

    private func expectSame(_ preview: ImagePreview?, _ image: DecodedImage, _ note: String = "") throws {
        let preview = try #require(preview, "\(note)")
        #expect(preview.isComplete && preview.coversImage && preview.fractionCompleted == 1, "\(note)")
        #expect(preview.image.size == image.size)
        #expect(preview.image.pixels.hasSamePixels(as: image.pixels), "\(note)")
        #expect(preview.image.isOpaque == image.isOpaque)
        #expect(preview.image.metadata == image.metadata)
        #expect(preview.image.format == image.format)
    }

    @Test("The formats with support for previews deliver previews")
    func formats() {
        let formats = Set(streamed.map(\.format))
        #expect(formats.isSuperset(of: [.jpeg, .png, .gif, .webp, .bmp, .pbm, .pgm, .ppm, .pam]))
    }

    @Test(
        "Formats without color information remain sRGB if the options request Display P3, also in previews",
        arguments: streamed.filter { [.bmp, .gif, .pam].contains($0.format) })
    func formatsWithoutColors(_ fixture: Fixture) throws {
        var options = ImageDecodingOptions(color: .displayP3)
        options.frames = .first
        let data = try fixture.data()
        let decoder = try #require(try ImageCoderRegistry.standard.makeProgressiveDecoder(for: data, options: options))
        try decoder.append(data, isLast: true, context: ImageProcessingContext())
        let preview = try #require(try decoder.makePreview(context: ImageProcessingContext()))
        let image = try whole(fixture, options)
        #expect(preview.image.pixels.hasSamePixels(as: image.pixels))
        #expect(preview.image.metadata.color == .sRGB && image.metadata.color == .sRGB)
    }

    @Test("The progress doesn't decrease if a scan is repeated with less precision", arguments: ["420", "gray"])
    func repeatedScans(name: String) throws {
        let file = try #require(Fixture.all.first { $0.file.contains("\(name)-progressive.jpg") }).data()
        // A scan ends where the next segment begins.
        var scans: [Range<Int>] = []
        var place = file.startIndex
        while let start = file[place...].firstRange(of: Data([0xFF, 0xDA]))?.lowerBound {
            place = start + 2
            while !(file[place] == 0xFF && file[place + 1] != 0 && !(0xD0...0xD7).contains(file[place + 1])) {
                place += 1
            }
            scans.append(start..<place)
        }
        try #require(scans.count > 3)
        // The tables of the first scan precede it. Each scan defines the tables that it needs, so repeat them too.
        let tables = try #require(file.firstRange(of: Data([0xFF, 0xC4]))?.lowerBound)
        var repeated = file.prefix(place)
        repeated += file[tables..<scans[1].upperBound]
        repeated += file.suffix(from: place)
        var feeding = try #require(try Feeding(repeated))
        var fractions: [Double] = []
        _ = try feeding.finish(chunks: { 16 }, inspect: { fractions.append($0.fractionCompleted) })
        #expect(fractions.count > 3 && fractions == fractions.sorted(), "\(fractions)")
    }

    @Test("Splitting the data anywhere in two doesn't change the image", arguments: streamed)
    func splits(_ fixture: Fixture) throws {
        let data = try fixture.data()
        let image = try whole(fixture)
        for cut in cuts(of: data) {
            var feeding = try #require(try Feeding(data))
            try feeding.append(to: cut)
            try expectSame(try feeding.finish(), image, "truncated at \(cut)")
        }
    }

    @Test("Decoding byte by byte doesn't change the image", arguments: streamed)
    func bytes(_ fixture: Fixture) throws {
        var feeding = try #require(try Feeding(fixture.data()))
        try expectSame(try feeding.finish { 1 }, try whole(fixture))
    }

    @Test("Requesting previews during decoding doesn't change the image", arguments: streamed)
    func looking(_ fixture: Fixture) throws {
        let data = try fixture.data()
        var generator = SeededGenerator(7)
        for round in 0..<6 {
            var fraction = 0.0
            var feeding = try #require(try Feeding(data))
            let pieces = { Int.random(in: 1...max(1, data.count / (2 + round * 4)), using: &generator) }
            let preview = try feeding.finish(chunks: pieces) { preview in
                #expect(preview.image.metadata.isPartial == !preview.isComplete)
                #expect(preview.fractionCompleted >= fraction && preview.completedRows <= fixture.storedSize.height)
                #expect(preview.image.size == fixture.size)
                fraction = preview.fractionCompleted
            }
            try expectSame(preview, try whole(fixture), "round \(round)")
        }
    }

    @Test("Progressive decoding at a smaller size equals decoding the complete file", arguments: streamed)
    func sizes(_ fixture: Fixture) throws {
        let data = try fixture.data()
        let side = Double(max(4, fixture.width / 3))
        for size in [TargetSize.fit(width: side), .fill(width: 5, height: 7), .fit(width: 3)] {
            let options = ImageDecodingOptions(size: size)
            var feeding = try #require(try Feeding(data, options: options))
            let image = try whole(fixture, options)
            let preview = try feeding.finish(chunks: { data.count / 5 + 1 }) {
                #expect($0.image.size == image.size)
            }
            try expectSame(preview, image, "\(size)")
        }
    }

    @Test("A truncated file throws at its end, after its previews", arguments: streamed)
    func truncations(_ fixture: Fixture) throws {
        let data = try fixture.data()
        for part in 3..<8 {
            let cut = data.prefix(data.count * part / 8)
            guard let found = try? Feeding(cut) else { continue }
            var feeding = found
            do throws(ImageError) {
                let preview = try feeding.finish { 100 }
                #expect(preview == nil || preview?.image.size == fixture.size)
            } catch {
                #expect(error.code == 4005 || error.code == 4006, "\(part)/8: \(error)")
            }
        }
    }

    @Test("An incomplete scan doesn't count as complete")
    func fraction() throws {
        let data = try Fixture.named("420-progressive.jpg").data()
        var feeding = try #require(try Feeding(data))
        try feeding.append(to: data.count * 9 / 10)
        let preview = try #require(try feeding.preview())
        #expect(preview.fractionCompleted > 0 && preview.fractionCompleted < 1)
        #expect(try feeding.finish()?.fractionCompleted == 1)
    }

    @Test("A decoder that failed keeps throwing")
    func sticky() throws {
        let data = try Fixture.named("444.jpg").data()
        var feeding = try #require(try Feeding(data.prefix(data.count * 2 / 3)))
        #expect(throws: ImageError.self) { try feeding.finish() }
        #expect(throws: ImageError.self) {
            try feeding.decoder.append(Data([1]), isLast: false, context: ImageProcessingContext())
        }
        #expect(throws: ImageError.self) { try feeding.preview() }
    }

    @Test("Canceled decoding stops")
    func cancellation() throws {
        let flag = CancellationFlag()
        let data = try Fixture.named("444.jpg").data()
        let feeding = try #require(try Feeding(data))
        flag.cancel()
        #expect(throws: ImageError.cancelled) {
            try feeding.decoder.append(
                data, isLast: true, context: ImageProcessingContext(isCancelled: { flag.isCancelled }))
        }
    }
}
