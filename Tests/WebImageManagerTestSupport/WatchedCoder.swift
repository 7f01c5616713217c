// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A JPEG coder whose progressive decoders record their calls and can wait for a gate.
package final class WatchedCoder: ImageCoder {
    package struct Notes: Sendable {
        package var decoders = 0
        package var running = 0
        package var mostRunning = 0
        /// The number of bytes that were passed to all decoders.
        package var appended = 0
        /// The number of preview calls.
        package var inspections = 0
        /// The number of calls on the main thread or in a Swift task.
        package var misplaced = 0
    }

    private let notes = Lock(Notes())
    /// The gate that each preview waits for.
    package let gate: TestGate
    /// The error that is thrown instead of each preview, or `nil`.
    package let failure: ImageError?

    package init(gate: TestGate? = nil, failure: ImageError? = nil) {
        self.failure = failure
        self.gate = gate ?? TestGate()
        if gate == nil { self.gate.open() }
    }

    package var noted: Notes { notes.withLock { $0 } }

    package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .jpeg }

    package func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        try JPEGCoder().decode(data, info: info, options: options, context: context)
    }

    package func makeProgressiveDecoder(info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> (any ProgressiveImageDecoder)?
    {
        notes.withLock { $0.decoders += 1 }
        let decoder = try JPEGCoder().makeProgressiveDecoder(info: info, options: options, context: context)
        return decoder.map { WatchedDecoder($0, self) }
    }

    /// A Boolean value that indicates whether the current thread is neither the main thread nor part of Swift's
    /// cooperative pool.
    private static var isOnOwnThread: Bool { !Thread.isMainThread && withUnsafeCurrentTask { $0 == nil } }

    fileprivate func during<Result>(_ body: () throws(ImageError) -> Result) throws(ImageError) -> Result {
        notes.withLock { notes in
            notes.running += 1
            notes.mostRunning = max(notes.mostRunning, notes.running)
            if !Self.isOnOwnThread { notes.misplaced += 1 }
        }
        defer { notes.withLock { $0.running -= 1 } }
        return try body()
    }

    fileprivate func record(_ change: (inout Notes) -> Void) { notes.withLock { change(&$0) } }
}

private final class WatchedDecoder: ProgressiveImageDecoder {
    private let decoder: any ProgressiveImageDecoder
    private let coder: WatchedCoder

    init(_ decoder: any ProgressiveImageDecoder, _ coder: WatchedCoder) {
        self.decoder = decoder
        self.coder = coder
    }

    func append(_ bytes: Data, isLast: Bool, context: ImageProcessingContext) throws(ImageError) {
        try coder.during { () throws(ImageError) in
            coder.record { $0.appended += bytes.count }
            try decoder.append(bytes, isLast: isLast, context: context)
        }
    }

    func makePreview(context: ImageProcessingContext) throws(ImageError) -> ImagePreview? {
        try coder.during { () throws(ImageError) in
            coder.record { $0.inspections += 1 }
            coder.gate.blockingWait()
            if let failure = coder.failure { throw failure }
            return try decoder.makePreview(context: context)
        }
    }
}
