// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// Reads and decodes a file.
package typealias PictureReading = @Sendable (_ path: String) throws(ImageError) -> PixelBuffer

/// A transformer with a picture in a file, which is read when the first picture is transformed: where that happens
/// blocking is allowed, which it is not where options are read. The file is read once, or a few times where several
/// pictures come first together.
final class PictureFileTransformer: ImageTransformer {
    /// Of the path, not of the content: the tool ends before the file has another meaning.
    let identity: String
    private let path: String
    private let read: PictureReading
    private let make: @Sendable (PixelBuffer) -> any ImageTransformer
    private let made = Lock<(any ImageTransformer)?>(nil)

    init(
        _ name: String, path: String, options: String, read: @escaping PictureReading,
        _ make: @escaping @Sendable (PixelBuffer) -> any ImageTransformer
    ) {
        identity = "\(name)(\(path.utf8.count):\(path),\(options))"
        self.path = path
        self.read = read
        self.make = make
    }

    func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        if let transformer = made.withLock({ $0 }) {
            return try transformer.transform(pixels, context: context)
        }
        let transformer = make(try read(path))
        made.withLock { $0 = transformer }
        return try transformer.transform(pixels, context: context)
    }
}
