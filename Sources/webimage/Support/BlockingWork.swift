// SPDX-License-Identifier: MIT

import Dispatch
import WebImage
import WebImageCore

/// A namespace for running file access, decoding, and drawing outside of the cooperative pool.
enum BlockingWork {
    private static let queue = DispatchQueue(label: "webimage.blocking", attributes: .concurrent)

    /// Runs `body` on a thread that may block.
    static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        let result: Result<Value, ImageError> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(ImageError) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    /// Runs `body` on a thread that may block. If the current task is canceled, the context of the work is canceled, too.
    static func run<Value: Sendable>(
        _ limits: ImageLimits, _ body: @escaping @Sendable (ImageProcessingContext) throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        let flag = CancellationFlag()
        let result: Result<Value, ImageError> = await withTaskCancellationHandler {
            do throws(ImageError) {
                return .success(
                    try await run { () throws(ImageError) in
                        try body(ImageProcessingContext(limits: limits) { flag.isCancelled })
                    })
            } catch {
                return .failure(error)
            }
        } onCancel: {
            flag.cancel()
        }
        return try result.get()
    }

    /// Runs `body`, which can’t fail, on a thread that may block.
    static func value<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: body()) } }
    }
}
