// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore

/// The loader of one request for which the app supplies the data as a stream of chunks. Thread-safe if `open` is.
package struct DataStreamLoader: ImageLoader {
    /// A closure that opens the stream. It's called once per load.
    private let open: @Sendable () async throws -> AsyncThrowingStream<Data, any Error>

    /// Creates a loader.
    package init(_ open: @escaping @Sendable () async throws -> AsyncThrowingStream<Data, any Error>) {
        self.open = open
    }

    /// Returns `true` for every URL, because the loader was created for one request.
    package func canLoad(_ url: URL) -> Bool { true }

    /// Reads the stream to its end. The response has no head.
    ///
    /// - Throws: ``ImageError/LimitFailure/Kind/encodedSize`` if the data exceeds ``LoadRequest/maxByteCount``,
    ///   ``ImageError/NetworkFailure/Reason/emptyBody`` if the data is empty,
    ///   ``ImageError/RequestFailure/sourceFailed(reason:)`` for an error of the app's stream, or
    ///   ``ImageError/cancelled`` if the task is canceled.
    package func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        let begun = Date()
        let started = MonotonicTime.now
        context.report(.started)
        context.report(.head(nil, expected: nil))
        let body: Data
        do {
            body = try await read(request, context)
        } catch {
            throw ImageError.RequestFailure.source(error)
        }
        guard !body.isEmpty else {
            throw .network(
                ImageError.NetworkFailure(.emptyBody, url: request.url, phase: .receivingBody))
        }
        var metrics = NetworkMetrics()
        metrics.total = .nanoseconds(MonotonicTime.now - started)
        metrics.receivedByteCount = body.count
        return LoadResponse(
            body: body, url: request.url, requestDate: begun, responseDate: Date(), metrics: metrics)
    }

    private func read(_ request: LoadRequest, _ context: LoadContext) async throws -> Data {
        var whole: Data?
        for try await piece in try await open() where !piece.isEmpty {
            try Task.checkCancellation()
            let count = (whole?.count ?? 0) + piece.count
            guard count <= request.maxByteCount else {
                throw ImageError.limitExceeded(
                    ImageError.LimitFailure(.encodedSize, limit: request.maxByteCount, actual: count))
            }
            // Use a single chunk without copying it.
            if whole == nil { whole = piece } else { whole?.append(piece) }
            context.report(.body(piece))
        }
        try Task.checkCancellation()
        return whole ?? Data()
    }
}
