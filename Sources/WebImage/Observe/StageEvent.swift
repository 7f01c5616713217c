// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageStore

/// The beginning or the end of one piece of work.
public struct StageEvent: Sendable {
    /// What kind of work.
    public enum Stage: String, Sendable, Hashable, CaseIterable, Codable {
        /// A request from the call to its answer.
        case request
        /// Looking for original bytes in the tiers of the cache.
        case disk
        /// Getting bytes from a loader, waiting for its queue included.
        case load
        /// The part of a load after it left the queue.
        case transfer
        /// Decoding, on a worker thread.
        case decode
        /// One transformer, on a worker thread.
        case transform
        /// One look at the bytes of a running download, on a worker thread.
        case preview
        /// Encoding, on a worker thread.
        case encode
        /// Handing original bytes to the tiers of the cache.
        case store
    }

    /// Which end of it.
    public enum Phase: String, Sendable, Hashable, Codable {
        /// It begins.
        case began
        /// It is over; sizes, source and error are known.
        case ended
    }

    /// What kind of work.
    public let stage: Stage
    /// Which end of it.
    public internal(set) var phase: Phase
    /// Number of the request, counted from 1 for each manager. Work that several requests share has the number of the
    /// one that started it.
    public let request: Int
    /// The same for the beginning and the end of one piece of work, and for no other of the manager.
    public let span: Int
    /// When it happened.
    public internal(set) var time: ContinuousClock.Instant
    /// What was asked for. May hold secrets: ``Redaction`` takes them out.
    public let url: URL
    /// Identifies what is worked on; nil where nothing is.
    public let key: CacheKey?
    /// Name of the worker thread; nil for work that is not done on one.
    public let lane: String?
    /// Which transformer, encoding or the like; empty where there is nothing to tell.
    public let detail: String
    /// Seconds since the beginning; nil at the beginning.
    public internal(set) var seconds: Double?
    /// Where the answer came from; nil at the beginning and for failures.
    public internal(set) var origin: ImageResponse.Origin?
    /// Encoded bytes that were read, received, made or stored.
    public internal(set) var bytes: Int?
    /// Pixels of the result.
    public internal(set) var size: PixelSize?
    /// Why there is no result.
    public internal(set) var error: ImageError?
}

/// Hears of everything a manager does. Called outside all locks, on the thread where it happens: a slow observer slows
/// the manager down. The end of a piece of work comes after its beginning; what several requests do, and what goes on
/// after a request was given up, comes in between as it happens.
public protocol ImageEventsObserver: Sendable {
    /// Takes one event.
    func observe(_ event: StageEvent)
}
