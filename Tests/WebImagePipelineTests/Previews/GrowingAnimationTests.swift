// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageUI

/// An animation of four frames, whose data is sent up to a number of complete frames.
private struct AnimatedFile {
    let data: Data
    let format: ImageFormat
    let whole: DecodedImage
    /// The number of bytes after which each number of frames is complete.
    let ends: [Int]

    static let frameCount = 4

    init(_ format: ImageFormat) throws {
        var random = SeededGenerator(seed: 11)
        let pictures = try (0..<Self.frameCount).map { _ in
            let canvas = try PixelCanvas(size: PixelSize(width: 40, height: 30))
            canvas.withUnsafeMutableBytes { bytes in
                for place in 0..<30 * canvas.bytesPerRow { bytes[place] = UInt8(truncatingIfNeeded: random.next()) }
                for row in 0..<30 {
                    for column in 0..<40 { bytes[row * canvas.bytesPerRow + column * 4 + 3] = 255 }
                }
            }
            return canvas.finish(isOpaque: true)
        }
        let image = try DecodedImage(
            animation: ImageAnimation(frames: pictures.map { (pixels: $0, duration: Duration.milliseconds(40)) }))
        self.format = format
        data = try ImageCoderRegistry.standard.encode(
            image, as: ImageEncoding(format: format), context: ImageProcessingContext())
        whole = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
        ends = try Self.ends(of: data)
    }

    /// Appends the data byte by byte and returns the offsets at which the number of frames changes.
    private static func ends(of data: Data) throws -> [Int] {
        let context = ImageProcessingContext()
        guard
            case .decoder(let decoder, _) = try ImageCoderRegistry.standard.progressiveStart(
                data, growsAnimations: true, context: context)
        else { return [] }
        var ends: [Int] = []
        for (offset, byte) in data.enumerated() {
            try decoder.append(Data([byte]), isLast: false, context: context)
            guard let preview = try decoder.makePreview(context: context) else { continue }
            let count = preview.completedRows == 30 ? preview.image.frameCount : 0
            while ends.count < count { ends.append(offset + 1) }
        }
        return ends
    }

    /// Returns the data that completes the frames from `first` up to `last`.
    func part(after first: Int, through last: Int) -> Data {
        data[(first == 0 ? 0 : ends[first - 1])..<ends[last - 1]]
    }

    func frame(_ index: Int) throws -> [UInt8]? { try whole.animation?.frame(at: index).packedBytes() }
}

@Suite("Animations of running downloads", .timeLimit(.minutes(5)))
struct GrowingAnimationRequestTests {
    static let formats: [ImageFormat] = [.gif, .apng, .webp]

    private static func request(_ url: URL) -> ImageRequest {
        var request = ImageRequest(url: url)
        request.previews = .progressive
        return request
    }

    /// Sends the data up to the frame `last` and waits for its preview.
    private func send(
        _ file: AnimatedFile, _ image: SteppedImage, after first: Int, through last: Int, _ log: EventLog
    ) async -> DecodedImage? {
        image.loader.go(.body(file.part(after: first, through: last)))
        await untilTrue {
            log.previews.last?.frameCount == last && (last > 1 || log.previews.last?.isAnimated == false)
        }
        return log.previews.last
    }

    @Test("Previews have the complete frames, and the final image has all of them", arguments: formats)
    func grows(_ format: ImageFormat) async throws {
        let file = try AnimatedFile(format)
        try #require(file.ends.count == AnimatedFile.frameCount)
        let image = try SteppedImage(file.data)
        let task = image.manager.load(Self.request(image.url))
        let log = EventLog(task)
        image.loader.go(.head(expected: file.data.count))
        for count in 1...3 {
            let preview = try #require(await send(file, image, after: count - 1, through: count, log))
            #expect(preview.metadata.isPartial && preview.format == format)
            #expect(preview.pixels.packedBytes() == file.whole.pixels.packedBytes())
            #expect(preview.animation?.isComplete != true && preview.isAnimated == (count > 1))
            if let animation = preview.animation {
                #expect(animation.frameDurations == Array(repeating: .milliseconds(40), count: count))
                #expect(try animation.frame(at: count - 1).packedBytes() == file.frame(count - 1))
            }
        }
        #expect(image.manager.pipeline.fetch.feeds.budget.bytesInUse > 0)
        image.loader.go(.finish(file.data))
        let final = try await task.image
        #expect(final.frameCount == 4 && final.animation?.isComplete == true && !final.metadata.isPartial)
        #expect(try final.animation?.frame(at: 3).packedBytes() == file.frame(3))
        let feeds = image.manager.pipeline.fetch.feeds
        await untilTrue { image.manager.runningJobs == 0 && feeds.count == 0 && feeds.budget.bytesInUse == 0 }
    }

    @Test("After a failure, the received frames stay available, and nothing is stored", arguments: formats)
    func fails(_ format: ImageFormat) async throws {
        let file = try AnimatedFile(format)
        let image = try SteppedImage(file.data)
        let task = image.manager.load(Self.request(image.url))
        let log = EventLog(task)
        image.loader.go(.head(expected: file.data.count))
        let preview = try #require(await send(file, image, after: 0, through: 3, log))
        image.loader.go(.fail(.network(ImageError.NetworkFailure(.connectionLost, url: image.url))))
        await #expect(throws: ImageError.self) { try await task.image }
        #expect(try preview.animation?.frame(at: 2).packedBytes() == file.frame(2))
        #expect(preview.animation?.isComplete == false)
        #expect(image.manager.cachedImage(for: Self.request(image.url)) == nil)
        let feeds = image.manager.pipeline.fetch.feeds
        await untilTrue { feeds.count == 0 && feeds.budget.bytesInUse == 0 }
    }

    @Test("Requests that join a download share its animation, and a transformer applies to its frames")
    func shares() async throws {
        let file = try AnimatedFile(.gif)
        let image = try SteppedImage(file.data)
        var small = Self.request(image.url)
        small.transformers = [.resize(width: 10)]
        var still = Self.request(image.url)
        still.decoding.frames = .first
        let tasks = [Self.request(image.url), Self.request(image.url), small, still].map(image.manager.load)
        let logs = tasks.map(EventLog.init)
        await untilTrue { image.manager.pipeline.fetch.sharedCount == 3 }
        image.loader.go(.head(expected: file.data.count))
        image.loader.go(.body(file.part(after: 0, through: 2)))
        for log in logs.prefix(3) { await untilTrue { log.previews.last?.frameCount == 2 } }
        #expect(logs[0].previews.last === logs[1].previews.last)
        let transformed = try #require(logs[2].previews.last?.animation)
        #expect(!transformed.isComplete)
        #expect(try transformed.frame(at: 1).width == 10)
        await untilTrue { logs[3].previews.last != nil }
        #expect(logs[3].previews.allSatisfy { !$0.isAnimated })
        image.loader.go(.finish(file.data))
        for task in tasks { _ = try await task.image }
    }

    @Test("If the budget doesn't suffice for the animation, the previews show its first frame")
    func budget() async throws {
        let file = try AnimatedFile(.gif)
        let image = try SteppedImage(file.data) { $0.progressiveMemoryLimit = 40 * 30 * 4 * 2 }
        let task = image.manager.load(Self.request(image.url))
        let log = EventLog(task)
        image.loader.go(.head(expected: file.data.count))
        image.loader.go(.body(file.part(after: 0, through: 3)))
        await untilTrue { !log.previews.isEmpty }
        #expect(log.previews.allSatisfy { !$0.isAnimated && $0.size == file.whole.size })
        image.loader.go(.finish(file.data))
        #expect(try await task.image.frameCount == 4)
    }

    @Test(
        "S-20: A player waits for frames without ticks, and the final image continues at the same frame",
        arguments: formats)
    @MainActor
    func plays(_ format: ImageFormat) async throws {
        let file = try AnimatedFile(format)
        let image = try SteppedImage(file.data)
        let task = image.manager.load(Self.request(image.url))
        let log = EventLog(task)
        image.loader.go(.head(expected: file.data.count))
        let first = try #require(await send(file, image, after: 0, through: 2, log))
        let player = try #require(AnimationPlayer(first, manager: image.manager))
        var loops = 0
        player.onLoop = { loops = $0 }
        player.play()
        _ = player.tick(at: .zero)
        await show(1, player, at: 40)
        // The second frame ends at 80 ms, but the third one isn't available.
        #expect(player.tick(at: .milliseconds(500)).nextTick == nil && player.frameIndex == 1)
        var calls = 0
        player.onNeedsTick = { calls += 1 }
        #expect(player.update(try #require(await send(file, image, after: 2, through: 3, log))))
        #expect(calls > 0)
        await show(2, player, at: 600)
        let shown = player.pixels
        image.loader.go(.finish(file.data))
        let final = try await task.image
        #expect(player.update(final))
        #expect(player.frameIndex == 2 && player.pixels === shown && player.state == .playing)
        await show(3, player, at: 640)
        #expect(player.pixels.packedBytes() == (try file.frame(3)))
        #expect(loops == 0)
        await show(0, player, at: 680)
        #expect(loops == 1)
    }

    /// Ticks at `milliseconds` until the frame `index` is shown.
    @MainActor
    private func show(_ index: Int, _ player: AnimationPlayer, at milliseconds: Int) async {
        await untilTrue {
            _ = player.tick(at: .milliseconds(milliseconds))
            return player.frameIndex == index
        }
    }
}
