// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A loader whose answers come piece by piece, whenever the test says so, while a second passes on a clock.
final class SteppedLoader: ImageLoader {
    enum Step: Sendable {
        /// The answer begins, or begins anew.
        case head(expected: Int?)
        case body(Data)
        case fail(ImageError)
        /// The load ends with these bytes.
        case finish(Data)
    }

    /// Seconds of ``clock``.
    let time = Shared(0.0)
    private let steps = AsyncStream<Step>.makeStream()
    let taken = Shared(0)

    var clock: TimeSource {
        let time = time
        return TimeSource(now: { Date() }, uptime: { time.value })
    }

    func canLoad(_ url: URL) -> Bool { true }

    /// Lets a step happen.
    func go(_ step: Step) { steps.continuation.yield(step) }

    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        context.report(.started)
        for await step in steps.stream {
            time.update { $0 += 1 }
            switch step {
            case .head(let expected): context.report(.head(ResponseHead(status: 200), expected: expected))
            case .body(let part): context.report(.body(part))
            case .fail(let error): throw error
            case .finish(let body):
                return LoadResponse(
                    head: ResponseHead(status: 200), body: body, finalURL: request.url, requestTime: Date(),
                    responseTime: Date())
            }
            taken.update { $0 += 1 }
        }
        throw .request(.cancelled)
    }
}

/// A manager that loads one picture in steps.
struct SteppedPicture {
    let loader = SteppedLoader()
    let fixture: ManagerFixture
    let data: Data
    let url: URL

    init(_ data: Data, _ configure: (inout ImageManagerConfiguration) -> Void = { _ in }) throws {
        self.data = data
        url = URL(filePath: "/picture").webURL
        fixture = try ManagerFixture { [loader] configuration in
            configuration.loaders = [loader]
            configuration.previews.clock = loader.clock
            configure(&configuration)
        }
    }

    var manager: ImageManager { fixture.manager }

    /// The `index`th of `count` equal parts.
    func part(_ index: Int, of count: Int = 4) -> Data {
        let size = (data.count + count - 1) / count
        return data.dropFirst(index * size).prefix(size)
    }

    /// Lets the head and the first parts of four come, and the decoders take them where there are some.
    func begin(parts: Int = 2, expected: Int?? = nil) async {
        loader.go(.head(expected: expected ?? data.count))
        for index in 0..<parts { loader.go(.body(part(index))) }
        await untilTrue { [loader] in loader.taken.value == parts + 1 }
    }

    /// Waits until a decoder holds memory.
    func waitForDecoder() async {
        let budget = manager.pipeline.fetch.feeds.budget
        await untilTrue { budget.bytesInUse > 0 }
    }

    /// The picture as it is decoded from the whole file.
    func whole(_ size: TargetSize? = nil) throws -> Image {
        try CoderRegistry.standard.decode(data, options: DecodeOptions(size: size), context: CodingContext())
    }
}

extension URL {
    fileprivate var webURL: URL { URL(string: "https://stepped.test" + path) ?? self }
}
