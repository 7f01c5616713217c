// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageNet

/// What a running request tells. Exactly one `finished` comes, and nothing after it.
public enum ImageEvent: Sendable {
    /// Work began: the picture was not in memory.
    case started
    /// The load waits, and why. Followed by progress or by the end.
    case waiting(WaitReason)
    /// More bytes came in. Who reads slowly gets the last progress only.
    case progress(ImageProgress)
    /// The stored picture, while the server is asked whether it still holds.
    case cached(ImageResponse)
    /// A partial picture of the running download. Who reads slowly gets the last one only.
    case preview(Image)
    /// The end.
    case finished(Result<ImageResponse, ImageError>)
}

/// How far a download is.
public struct ImageProgress: Sendable, Hashable {
    /// Bytes of body so far.
    public var received: Int
    /// Bytes of the whole body; nil when the server does not tell.
    public var expected: Int?

    /// Creates progress in bytes.
    public init(received: Int, expected: Int?) {
        self.received = received
        self.expected = expected
    }

    /// 0 to 1; nil when the size is not known.
    public var fraction: Double? {
        expected.map { $0 > 0 ? min(1, Double(received) / Double($0)) : 1 }
    }
}
