// SPDX-License-Identifier: MIT
// Logs the work of a manager with swift-log.

import Foundation
import Logging
import WebImageServer

/// An observer that logs failures, and all work at the level `debug`.
struct LoggingObserver: ImageManagerObserver {
    let logger: Logger

    func observe(_ event: ImageManager.Event) {
        guard let duration = event.duration else { return }
        var metadata: Logger.Metadata = [
            "request": "\(event.requestID)", "stage": "\(event.stage.rawValue)", "url": "\(event.redactedURL)",
            "duration": "\(duration)",
        ]
        if let count = event.byteCount { metadata["bytes"] = "\(count)" }
        if let source = event.source { metadata["source"] = "\(source)" }
        if let error = event.error, error != .cancelled {
            metadata["error"] = "\(error.code)"
            logger.warning("\(error.message)", metadata: metadata)
        } else {
            logger.debug("finished", metadata: metadata)
        }
    }
}

var logger = Logger(label: "images")
logger.logLevel = .debug
var configuration = ImageManager.Configuration.server
configuration.observers = [LoggingObserver(logger: logger)]
let manager = ImageManager(configuration: configuration)
for text in CommandLine.arguments.dropFirst() {
    guard let request = ImageRequest(string: text) else { continue }
    _ = try? await manager.image(for: request)
}
await manager.shutdown()
