// SPDX-License-Identifier: MIT

import Foundation

/// The work of another process, for which a thread of this process waits.
package enum RemoteWork: Sendable, Hashable {
    /// Decoding or encoding images of pixels.
    case images
    /// Rendering documents, which are vector images. A small document can take as long as the limits permit.
    case documents
}

/// A coder or an animation whose work another process does.
package protocol RemoteWorker {
    /// The work of the other process, or `nil` if this process does the work.
    var remoteWork: RemoteWork? { get }
}

extension ImageCoderRegistry {
    /// Returns the work of another process that decodes data of a format, or `nil` if this process decodes it or the format
    /// is `nil`.
    package func remoteWork(decoding format: ImageFormat?) -> RemoteWork? {
        guard let format else { return nil }
        return (coders.last { $0.canDecode(format, prefix: Data()) } as? any RemoteWorker)?.remoteWork
    }

    /// Returns the work of another process that encodes an image, or `nil` if this process encodes it.
    package func remoteWork(encoding image: DecodedImage, as encoding: ImageEncoding) -> RemoteWork? {
        let format = chosen(encoding, for: image).formatOrAutomatic
        return (coders.last { $0.canEncode(format) } as? any RemoteWorker)?.remoteWork
    }
}
