// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A loader that performs the steps of its response on request. Each step advances a clock by one second.
package final class SteppedLoader: ImageLoader {
    package enum Step: Sendable {
        /// The response starts or restarts.
        case head(expected: Int?)
        case body(Data)
        case fail(ImageError)
        /// The load ends with this data.
        case finish(Data)
    }

    /// The time of ``clock``, in seconds.
    package let time = Shared(0.0)
    private let steps = AsyncStream<Step>.makeStream()
    package let deliveredCount = Shared(0)

    package var clock: TimeSource {
        let time = time
        return TimeSource(now: { Date() }, uptime: { time.value })
    }

    package func canLoad(_ url: URL) -> Bool { true }

    /// Performs a step.
    package func go(_ step: Step) { steps.continuation.yield(step) }

    package func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        context.report(.started)
        for await step in steps.stream {
            time.update { $0 += 1 }
            switch step {
            case .head(let expected): context.report(.head(HTTPResponseHead(statusCode: 200), expected: expected))
            case .body(let part): context.report(.body(part))
            case .fail(let error): throw error
            case .finish(let body):
                return LoadResponse(
                    httpResponse: HTTPResponseHead(statusCode: 200), body: body, url: request.url, requestDate: Date(),
                    responseDate: Date())
            }
            deliveredCount.update { $0 += 1 }
        }
        throw .cancelled
    }
}

/// A manager that loads one image in steps.
package struct SteppedImage {
    package let loader = SteppedLoader()
    package let fixture: ManagerFixture
    package let data: Data
    package let url: URL

    package init(_ data: Data, _ configure: (inout ImageManager.Configuration) -> Void = { _ in }) throws {
        self.data = data
        url = URL(filePath: "/picture").webURL
        fixture = try ManagerFixture { [loader] configuration in
            configuration.loaders = [loader]
            configuration.previewClock = loader.clock
            configure(&configuration)
        }
    }

    package var manager: ImageManager { fixture.manager }

    /// Returns the part at `index` of `count` equal parts.
    package func part(_ index: Int, of count: Int = 4) -> Data {
        let size = (data.count + count - 1) / count
        return data.dropFirst(index * size).prefix(size)
    }

    /// Sends the head and the first of four parts, and waits until the loader has reported them.
    package func begin(parts: Int = 2, expected: Int?? = nil) async {
        loader.go(.head(expected: expected ?? data.count))
        for index in 0..<parts { loader.go(.body(part(index))) }
        await untilTrue { [loader] in loader.deliveredCount.value == parts + 1 }
    }

    /// Waits until a decoder holds memory.
    package func waitForDecoder() async {
        let budget = manager.pipeline.fetch.feeds.budget
        await untilTrue { budget.bytesInUse > 0 }
    }

    /// Returns the image that is decoded from the complete file.
    package func whole(_ size: TargetSize? = nil) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(
            data, options: ImageDecodingOptions(size: size), context: ImageProcessingContext())
    }
}

extension URL {
    fileprivate var webURL: URL { URL(string: "https://stepped.test" + path) ?? self }
}
