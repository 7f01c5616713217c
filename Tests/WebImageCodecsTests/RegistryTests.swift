// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite(
    "Decoding with the standard registry",
    .enabled(if: ImageFormat(sniffing: Data("GIF89a".utf8) + Data(count: 32)) != nil, "no header probe is available"))
struct RegistryTests {
    @Test("The probe, the limits, and the coder agree for every fixture", arguments: Fixture.all)
    func fixtures(_ fixture: Fixture) throws {
        let image = try ImageCoderRegistry.standard.decode(fixture.data(), context: ImageProcessingContext())
        #expect(image.format == fixture.format)
        #expect(image.size == fixture.size)
        #expect(image.frameCount == fixture.frames)
        #expect(image.metadata.orientation == fixture.orientation ?? .up)
        let isClose = difference(image.pixels.packedBytes(), try fixture.expectedFrames()[0]) <= fixture.tolerance
        #expect(isClose)
    }

    @Test("The probe never contradicts the coder for public files", .enabled(if: Conformance.directory != nil))
    func publicFiles() throws {
        for row in try Conformance.rows() where ConformanceTests.known[row.file] == nil {
            do {
                let image = try ImageCoderRegistry.standard.decode(
                    Conformance.data(row.file),
                    context: ImageProcessingContext())
                if let size = row.size { #expect(image.size == size, "\(row.file)") }
            } catch {
                Issue.record("\(row.file): \(error)")
            }
        }
    }
}
