// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImage
import WebImageTestSupport
import WebImageTesting

/// A transformer that waits at a gate and returns its input. While it waits, the original data is in use.
package final class HoldingTransformer: ImageTransformer {
    package let identifier: String
    private let gate: TestGate
    private let begun = Atomic(false)

    package init(_ gate: TestGate, identifier: String = "holding") {
        self.gate = gate
        self.identifier = identifier
    }

    /// A Boolean value that indicates whether an image has reached the gate.
    package var isHolding: Bool { begun.load(ordering: .acquiring) }

    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        begun.store(true, ordering: .releasing)
        gate.blockingWait()
        return pixels
    }
}

/// A coder that waits at a gate before it decodes.
package final class HoldingCoder: ImageCoder {
    private let gate: TestGate
    private let begun = Atomic(false)

    package init(_ gate: TestGate) { self.gate = gate }

    /// A Boolean value that indicates whether data has reached the gate.
    package var isHolding: Bool { begun.load(ordering: .acquiring) }

    package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .png }

    package func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        begun.store(true, ordering: .releasing)
        gate.blockingWait()
        return try ImageCoderRegistry.standard.decode(data, options: options, context: context)
    }
}

/// A loader that exposes the contexts of its loads and holds each load except the first at a gate.
package final class ContextLoader: ImageLoader {
    private let state = Shared<[(request: LoadRequest, context: LoadContext)]>([])
    private let gate: TestGate
    private let respond: @Sendable (LoadRequest) -> StubLoader.Response

    package init(_ gate: TestGate, respond: @escaping @Sendable (LoadRequest) -> StubLoader.Response) {
        self.gate = gate
        self.respond = respond
    }

    /// The number of loads that have started.
    package var count: Int { state.value.count }

    /// The current priorities of the loads in the order in which they started.
    package var priorities: [RequestPriority] { state.value.map(\.context.priority) }

    package func canLoad(_ url: URL) -> Bool { true }

    package func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        let isFirst = state.update { state in
            state.append((request, context))
            return state.count == 1
        }
        if !isFirst { await gate.wait() }
        let response = respond(request)
        return try await StubLoader { _ in response }.load(request, context: context)
    }
}
