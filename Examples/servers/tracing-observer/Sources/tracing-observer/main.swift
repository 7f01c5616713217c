// SPDX-License-Identifier: MIT
// Records the work of a manager as spans of swift-distributed-tracing, below the span of the caller.

import Foundation
import Synchronization
import Tracing
import WebImageServer

/// An observer that creates a span for each piece of work. The work runs on other tasks and threads, so its parent comes
/// from the event and not from the task-local value of the tracing library.
final class TracingObserver: ImageManagerObserver {
    private let spans = Mutex<[Int: any Span]>([:])

    func observe(_ event: ImageManager.Event) {
        guard event.duration != nil else {
            let parent = event.parentSpanID.flatMap { id in spans.withLock { $0[id]?.context } }
            let caller = event.parentSpan as? ServiceContext
            let span = startSpan("image.\(event.stage.rawValue)", context: parent ?? caller ?? .topLevel)
            span.attributes["image.url"] = event.redactedURL
            return spans.withLock { $0[event.spanID] = span }
        }
        guard let span = spans.withLock({ $0.removeValue(forKey: event.spanID) }) else { return }
        if let count = event.byteCount { span.attributes["image.bytes"] = count }
        if let error = event.error { span.recordError(error) }
        span.end()
    }
}

// Bootstrap a backend first, such as swift-otel: InstrumentationSystem.bootstrap(tracer).
var configuration = ImageManager.Configuration.server
configuration.observers = [TracingObserver()]
let manager = ImageManager(configuration: configuration)
for text in CommandLine.arguments.dropFirst() {
    guard let request = ImageRequest(string: text) else { continue }
    await withSpan("page") { span in
        _ = await ImageManager.$parentSpan.withValue(span.context) { try? await manager.image(for: request) }
    }
}
await manager.shutdown()
