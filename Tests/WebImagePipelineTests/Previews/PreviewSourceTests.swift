// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageNet
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Preview feeds", .timeLimit(.minutes(5)))
struct PreviewSourceTests {
    /// A feed without a download. Tests report the updates of a loader.
    private struct Feed {
        let fixture: ManagerFixture
        let coder: WatchedCoder
        let feed: PreviewSource
        let images = Shared<[DecodedImage]>([])

        init(gate: TestGate? = nil, failure: ImageError? = nil) throws {
            let coder = WatchedCoder(gate: gate, failure: failure)
            self.coder = coder
            fixture = try ManagerFixture { $0.coders.register(coder) }
            feed = PreviewSource(fixture.manager.pipeline.fetch.feeds.previews)
        }

        @discardableResult
        func listen(_ policy: PreviewPolicy = .progressive(interval: .zero)) throws -> Int {
            var request = ImageRequest(url: try #require(URL(string: "https://example.org/a")))
            request.previews = policy
            let plan = RequestPlan(request, fixture.manager.pipeline.defaults)
            return feed.add(
                PreviewListener(plan, isHeard: { true }, deliver: { image in images.update { $0.append(image) } }))
        }

        var last: [UInt8]? { images.value.last?.pixels.packedBytes() }
        var count: Int { images.value.count }
        /// A Boolean value that indicates whether no decoder is running or holds memory.
        var isIdle: Bool {
            coder.noted.running == 0 && fixture.manager.pipeline.fetch.feeds.budget.bytesInUse == 0
        }
    }

    private func half(of data: Data) throws -> [UInt8]? {
        let start = try ImageCoderRegistry.standard.progressiveStart(data, context: ImageProcessingContext())
        guard case .decoder(let decoder, _) = start else { return nil }
        try decoder.append(data.prefix(data.count / 2), isLast: false, context: ImageProcessingContext())
        return try decoder.makePreview(context: ImageProcessingContext())?.image.pixels.packedBytes()
    }

    private func parts(_ data: Data, _ count: Int) -> [Data] {
        let size = (data.count + count - 1) / count
        return stride(from: 0, to: data.count, by: size).map { data.dropFirst($0).prefix(size) }
    }

    @Test(
        "S-18, S-19: Previews are decoded one at a time on a worker thread from all received data, without repeated bytes"
    )
    func oneAtATime() async throws {
        let gate = TestGate()
        let feed = try Feed(gate: gate)
        try feed.listen()
        let data = try TestImages.jpeg(progressive: false)
        let session = feed.feed.begin(SharedPriority(.normal))
        feed.feed.receive(.head(nil, expected: data.count), session)
        let parts = parts(data, 20)
        for part in parts.prefix(3) { feed.feed.receive(.body(part), session) }
        await untilTrue { feed.coder.noted.inspections == 1 }
        for part in parts[3..<10] { feed.feed.receive(.body(part), session) }
        gate.open()
        let received = parts.prefix(10).reduce(0) { $0 + $1.count }
        await untilTrue { feed.coder.noted.appended == received && feed.coder.noted.running == 0 }
        let notes = feed.coder.noted
        #expect(notes.mostRunning == 1 && notes.decoders == 1)
        // The decoder runs for the first parts and for the parts received meanwhile, but not for every part.
        #expect(notes.inspections <= 4)
        #expect(notes.misplaced == 0)
        let expected = try half(of: data)
        await untilTrue { feed.last == expected }
        feed.feed.end(session)
        await untilTrue { feed.isIdle }
    }

    @Test("F-07: After the end of the load, no previews are delivered, even if a decoder is still running")
    func afterTheEnd() async throws {
        let gate = TestGate()
        let feed = try Feed(gate: gate)
        try feed.listen()
        let data = try TestImages.jpeg(progressive: false)
        let session = feed.feed.begin(SharedPriority(.normal))
        feed.feed.receive(.head(nil, expected: data.count), session)
        feed.feed.receive(.body(data.prefix(data.count / 2)), session)
        await untilTrue { feed.coder.noted.inspections == 1 }
        feed.feed.end(session)
        feed.feed.receive(.body(data.dropFirst(data.count / 2)), session)
        gate.open()
        await untilTrue { feed.isIdle }
        #expect(feed.count == 0 && feed.coder.noted.inspections == 1)
    }

    @Test("If the body restarts, the previews restart from its beginning")
    func anew() async throws {
        let feed = try Feed()
        try feed.listen()
        let session = feed.feed.begin(SharedPriority(.normal))
        for progressive in [false, true] {
            let data = try TestImages.jpeg(progressive: progressive)
            feed.feed.receive(.head(nil, expected: data.count), session)
            feed.feed.receive(.body(data.prefix(data.count / 2)), session)
            let expected = try half(of: data)
            await untilTrue { feed.last == expected }
        }
        #expect(feed.coder.noted.decoders == 2 && feed.count == 2)
        feed.feed.end(session)
    }

    @Test("Updates of an earlier load aren't mixed with the current load")
    func sessions() async throws {
        let feed = try Feed()
        try feed.listen()
        let data = try TestImages.jpeg(progressive: false)
        let earlier = feed.feed.begin(SharedPriority(.normal))
        let present = feed.feed.begin(SharedPriority(.normal))
        feed.feed.receive(.head(nil, expected: data.count), present)
        feed.feed.receive(.body(Data(repeating: 7, count: 100)), earlier)
        feed.feed.end(earlier)
        feed.feed.receive(.body(data.prefix(data.count / 2)), present)
        let expected = try half(of: data)
        await untilTrue { feed.last == expected }
        feed.feed.end(present)
        await untilTrue { feed.isIdle }
        // The data of the earlier load would have started another body with another decoder.
        #expect(feed.coder.noted.decoders == 1 && feed.last == expected)
    }

    @Test("If the length is unknown, a late listener receives no previews of a body whose beginning was released")
    func unknownLength() async throws {
        let feed = try Feed()
        let data = try TestImages.jpeg(progressive: false)
        let session = feed.feed.begin(SharedPriority(.normal))
        feed.feed.receive(.head(nil, expected: nil), session)
        feed.feed.receive(.body(data.prefix(data.count / 2)), session)
        try feed.listen()
        feed.feed.receive(.body(data.dropFirst(data.count / 2)), session)
        feed.feed.end(session)
        await untilTrue { feed.isIdle }
        #expect(feed.coder.noted.decoders == 0 && feed.count == 0)
    }

    @Test("A decoder that fails isn't used again")
    func failing() async throws {
        let feed = try Feed(failure: .decoding(.corrupted(format: .jpeg, reason: "test")))
        try feed.listen()
        let data = try TestImages.jpeg(progressive: false)
        let session = feed.feed.begin(SharedPriority(.normal))
        feed.feed.receive(.head(nil, expected: data.count), session)
        feed.feed.receive(.body(data.prefix(data.count / 2)), session)
        await untilTrue { feed.coder.noted.inspections == 1 && feed.isIdle }
        feed.feed.receive(.body(data.dropFirst(data.count / 2).prefix(100)), session)
        await untilTrue { feed.isIdle }
        #expect(feed.coder.noted.inspections == 1 && feed.count == 0)
        feed.feed.end(session)
    }

    @Test("Without listeners, the decoder is released")
    func leaving() async throws {
        let feed = try Feed()
        let id = try feed.listen()
        let data = try TestImages.jpeg(progressive: false)
        let session = feed.feed.begin(SharedPriority(.normal))
        feed.feed.receive(.head(nil, expected: data.count), session)
        feed.feed.receive(.body(data.prefix(data.count / 2)), session)
        await untilTrue { feed.count == 1 }
        feed.feed.remove(id)
        await untilTrue { feed.isIdle }
        feed.feed.receive(.body(data.dropFirst(data.count / 2)), session)
        #expect(feed.coder.noted.inspections == 1)
        feed.feed.end(session)
    }

    @Test("The memory that AVIF and HEIF decoders retain includes the file and the planes")
    func retainedBytes() {
        let size = PixelSize(width: 100, height: 50)
        func bytes(_ format: ImageFormat, depth: Int = 8, size: PixelSize = size, file: Int = 1_000) -> Int {
            PreviewGenerator.retainedBytes(
                ImageInfo(format: format, storedSize: size, bitDepth: depth), fileBytes: file)
        }
        #expect(bytes(.heif) == 1_000 && bytes(.jpeg) == 0)
        #expect(bytes(.avif) == 1_000 + 5_000 * 4 && bytes(.avif, depth: 10) == 1_000 + 5_000 * 8)
        #expect(bytes(.avif, size: PixelSize(width: .max, height: .max)) == .max && bytes(.avif, file: .max) == .max)
    }
}
