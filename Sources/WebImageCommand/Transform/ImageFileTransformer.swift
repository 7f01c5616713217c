// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// A function that reads and decodes an image file.
package typealias ImageFileReader = @Sendable (_ path: String) throws(ImageError) -> PixelBuffer

/// A transformer that uses an image from a file.
///
/// The file is read when the first image is transformed, because blocking is allowed there but not while the options
/// are parsed. The file is read once, or a few times if several images are transformed concurrently at the beginning.
final class ImageFileTransformer: ImageTransformer {
    /// The identity, which depends on the path instead of the contents, because the file doesn't change while the tool
    /// runs.
    let identifier: String
    private let path: String
    private let read: ImageFileReader
    private let make: @Sendable (PixelBuffer) -> any ImageTransformer
    private let made = Lock<(any ImageTransformer)?>(nil)

    init(
        _ name: String, path: String, options: String, read: @escaping ImageFileReader,
        _ make: @escaping @Sendable (PixelBuffer) -> any ImageTransformer
    ) {
        identifier = "\(name)(\(path.utf8.count):\(path),\(options))"
        self.path = path
        self.read = read
        self.make = make
    }

    func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        if let transformer = made.withLock({ $0 }) {
            return try transformer.transform(pixels, context: context)
        }
        let transformer = make(try read(path))
        made.withLock { $0 = transformer }
        return try transformer.transform(pixels, context: context)
    }
}
