// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImage
import WebImageConcurrency
import WebImageTesting

/// A coder that counts the decodes of PNG images and uses the built-in coders.
package final class CountingCoder: ImageCoder {
    private let count = Atomic<Int>(0)

    package init() {}

    package var decodes: Int { count.load(ordering: .relaxed) }

    package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .png }

    package func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        count.add(1, ordering: .relaxed)
        return try ImageCoderRegistry.standard.decode(data, options: options, context: context)
    }
}

/// A transformer that returns its input and counts its runs.
package final class CountingTransformer: ImageTransformer {
    package let identifier: String
    package let gate = Lock<TestGate?>(nil)
    private let count = Atomic<Int>(0)
    package var runs: Int { count.load(ordering: .relaxed) }

    package init(_ identity: String) { self.identifier = identity }

    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        count.add(1, ordering: .relaxed)
        gate.withLock { $0 }?.blockingWait()
        return pixels
    }
}
