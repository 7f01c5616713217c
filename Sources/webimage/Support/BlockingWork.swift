// SPDX-License-Identifier: MIT

import Dispatch
import WebImage

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

    /// Runs `body`, which can’t fail, on a thread that may block.
    static func value<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: body()) } }
    }
}
