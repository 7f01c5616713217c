// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite struct ProbeTests {
    @Test("Probing a complete file returns all values of its header", arguments: Sample.all)
    func wholeFile(_ sample: Sample) throws {
        #expect(try ImageInfo(data: sample.data) == sample.probe)
        #expect(ImageInfo.probe(sample.data, isComplete: false) == .found(sample.probe) || sample.endsOpen)
        #expect(ImageFormat(sniffing: sample.data) == sample.probe.format)
    }

    @Test(
        "Every prefix requests more data until the header is complete, and the result matches the complete file",
        arguments: Sample.all)
    func everyPrefix(_ sample: Sample) {
        var found: ImageInfo?
        var promised = 0
        for count in 0..<sample.data.count {
            switch ImageInfo.probe(sample.data.prefix(count), isComplete: false) {
            case .needsMore(let byteCount):
                #expect(byteCount > count)
                #expect(byteCount <= sample.data.count || sample.endsOpen)
                #expect(byteCount >= promised, "the requested size decreased at \(count)")
                #expect(found == nil)
                promised = byteCount
            case .found(let probe):
                #expect(count >= promised, "the result preceded the requested data")
                #expect(probe.storedSize == sample.probe.storedSize && probe.bitDepth == sample.probe.bitDepth)
                #expect(probe.frameCount <= sample.probe.frameCount || !probe.frameCountIsExact)
                found = probe
            case .failed(let error):
                Issue.record("\(error) at \(count)")
            }
        }
    }

    @Test("A truncated file throws instead of requesting more data if the file is complete", arguments: Sample.all)
    func everyTruncation(_ sample: Sample) {
        for count in 0..<sample.data.count {
            if case .needsMore = ImageInfo.probe(sample.data.prefix(count), isComplete: true) {
                Issue.record("the probe requests more data at \(count)")
            }
        }
    }

    @Test("The truncation error contains the received and the expected number of bytes")
    func truncation() {
        #expect(throws: ImageError.decoding(.truncated(format: .png, receivedBytes: 30, expectedBytes: 33))) {
            try ImageInfo(data: Sample.png(3, 2).data.prefix(30))
        }
        #expect(throws: ImageError.decoding(.noData)) { try ImageInfo(data: Data()) }
        #expect(throws: ImageError.decoding(.unknownFormat)) { try ImageInfo(data: Data([0x00, 0x89])) }
        #expect(throws: ImageError.decoding(.notAnImage(.html))) { try ImageInfo(data: Data("<html>".utf8)) }
    }

    @Test("An AVIF sequence of one frame is a still image")
    func singleFrame() throws {
        var data = try #require(Sample.all.first { $0.name == "AVIF sequence" }).data
        let sizes = try #require(data.firstRange(of: Data("stsz".utf8)))
        // The number of samples follows the version, the flags, and the common size.
        data[sizes.upperBound + 11] = 1
        let info = try ImageInfo(data: data)
        #expect(info.frameCount == 1 && info.loopCount == 1)
    }

    @Test("A slice of data is read from its start index")
    func slices() throws {
        let sample = Sample.png(3, 2)
        let slice = (Data(repeating: 7, count: 11) + sample.data).dropFirst(11)
        #expect(try ImageInfo(data: slice).storedSize == PixelSize(width: 3, height: 2))
    }
}

extension Sample {
    /// A Boolean value that indicates whether the file doesn't contain its length, so that a prefix may request more
    /// data.
    var endsOpen: Bool { probe.format == .pdf }
}
