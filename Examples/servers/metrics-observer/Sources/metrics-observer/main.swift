// SPDX-License-Identifier: MIT
// Measures the work of a manager with swift-metrics.

import Foundation
import Metrics
import WebImageServer

/// An observer that records the duration of each stage, the failures, and the origins of images.
struct MetricsObserver: ImageManagerObserver {
    func observe(_ event: ImageManager.Event) {
        guard let duration = event.duration else { return }
        let stage = ("stage", event.stage.rawValue)
        Timer(label: "webimage_stage_duration", dimensions: [stage])
            .recordNanoseconds(Int64(duration / .nanoseconds(1)))
        if let count = event.byteCount { Recorder(label: "webimage_bytes", dimensions: [stage]).record(count) }
        if let error = event.error {
            Counter(label: "webimage_failures", dimensions: [stage, ("code", "\(error.code)")]).increment()
        }
        if event.stage == .request, let source = event.source {
            Counter(label: "webimage_images", dimensions: [("source", "\(source)")]).increment()
        }
    }
}

// Bootstrap a backend first, such as SwiftPrometheus: MetricsSystem.bootstrap(PrometheusMetricsFactory()).
var configuration = ImageManager.Configuration.server
configuration.observers = [MetricsObserver()]
let manager = ImageManager(configuration: configuration)
for text in CommandLine.arguments.dropFirst() {
    guard let request = ImageRequest(string: text) else { continue }
    _ = try? await manager.image(for: request)
}
// These values are those of the manager, for gauges that a timer updates.
Gauge(label: "webimage_decodes").record(manager.statistics.decodes)
await manager.shutdown()
