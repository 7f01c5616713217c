// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A JPEG coder whose progressive decoders record their calls and can wait for a gate.
final class WatchedCoder: ImageCoder {
    struct Notes: Sendable {
        var decoders = 0
        var running = 0
        var mostRunning = 0
        /// The number of bytes that were passed to all decoders.
        var appended = 0
        /// The number of preview calls.
        var looks = 0
        /// The number of calls on the main thread or in a Swift task.
        var misplaced = 0
    }

    private let notes = Lock(Notes())
    /// The gate that each preview waits for.
    let gate: Gate
    /// The error that is thrown instead of each preview, or `nil`.
    let failure: ImageError?

    init(gate: Gate? = nil, failure: ImageError? = nil) {
        self.failure = failure
        self.gate = gate ?? Gate()
        if gate == nil { self.gate.open() }
    }

    var noted: Notes { notes.withLock { $0 } }

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .jpeg }

    func decode(_ data: Data, probe: ImageProbe?, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> Image
    {
        try JPEGCoder().decode(data, probe: probe, options: options, context: context)
    }

    func progressiveDecoder(probe: ImageProbe, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> (any ProgressiveDecoder)?
    {
        notes.withLock { $0.decoders += 1 }
        let decoder = try JPEGCoder().progressiveDecoder(probe: probe, options: options, context: context)
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

    fileprivate func note(_ change: (inout Notes) -> Void) { notes.withLock { change(&$0) } }
}

private final class WatchedDecoder: ProgressiveDecoder {
    private let decoder: any ProgressiveDecoder
    private let coder: WatchedCoder

    init(_ decoder: any ProgressiveDecoder, _ coder: WatchedCoder) {
        self.decoder = decoder
        self.coder = coder
    }

    func append(_ bytes: Data, isLast: Bool, context: CodingContext) throws(ImageError) {
        try coder.during { () throws(ImageError) in
            coder.note { $0.appended += bytes.count }
            try decoder.append(bytes, isLast: isLast, context: context)
        }
    }

    func preview(context: CodingContext) throws(ImageError) -> Preview? {
        try coder.during { () throws(ImageError) in
            coder.note { $0.looks += 1 }
            coder.gate.blockingWait()
            if let failure = coder.failure { throw failure }
            return try decoder.preview(context: context)
        }
    }
}
