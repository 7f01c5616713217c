// SPDX-License-Identifier: MIT

extension ImageManager {
    /// The kind of work.
    public enum Stage: String, Sendable, Hashable, CaseIterable, Codable {
        /// A request, from the call to its result.
        case request
        /// A lookup of original data in the cache tiers.
        case diskLookup
        /// A load by a loader, including the time in its queue.
        case load
        /// The part of a load after it left the queue.
        case transfer
        /// Decoding on a worker thread.
        case decode
        /// One transformer on a worker thread.
        case transform
        /// The processing of received data during a download, on a worker thread.
        case preview
        /// Encoding on a worker thread.
        case encode
        /// The transfer of original data to the cache tiers.
        case store
    }
}
