// SPDX-License-Identifier: MIT

import WebImageCore

extension ImageTask {
    /// An event of a running request. Each request sends exactly one `finished` event, which is always the last one.
    public enum Event: Sendable {
        /// The request started because the image in memory, if any, couldn't serve it.
        case started
        /// The request waits for the given reason. A progress event or the final event follows.
        case waiting(WaitReason)
        /// The progress of the running download. A slow subscriber receives only the most recent progress event.
        case progress(ImageTask.Progress)
        /// The cached image, which is delivered while the manager revalidates it.
        case cached(ImageResponse)
        /// A preview of the running download. A slow subscriber receives only the most recent preview.
        case preview(DecodedImage)
        /// The final result of the request.
        case finished(Result<ImageResponse, ImageError>)
    }
}

extension ImageTask {
    /// The reason why a load hasn't begun.
    public enum WaitReason: String, CaseIterable, Sendable {
        /// All connections are in use, or the downloader is suspended.
        case connectionLimit
        /// All connections to the host are in use.
        case hostLimit
        /// The number of loads that begin per second is limited.
        case rateLimit
    }
}

extension ImageTask {
    /// The progress of a download.
    public struct Progress: Sendable, Hashable {
        /// The number of bytes of the body that have been received.
        public var receivedByteCount: Int
        /// The size of the whole body, in bytes, or `nil` if the server doesn't report it.
        public var expectedByteCount: Int?

        /// Creates a progress value from sizes in bytes.
        public init(receivedByteCount: Int, expectedByteCount: Int?) {
            self.receivedByteCount = receivedByteCount
            self.expectedByteCount = expectedByteCount
        }

        /// The completed fraction, from 0 to 1, or `nil` if the size of the body is unknown.
        public var fraction: Double? {
            expectedByteCount.map { $0 > 0 ? min(1, Double(receivedByteCount) / Double($0)) : 1 }
        }
    }
}
