// SPDX-License-Identifier: MIT

import CPixelKernels

extension PixelBuffer {
    /// Returns the pixels in another format, or the same buffer if it already has the format.
    func converted(to format: PixelFormat, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        if format == self.format { return self }
        try context.limits.check(result: size, format: format)
        let canvas = try PixelCanvas(size: size, format: format, cleared: false)
        var checkpoints = CancellationChecker(context)
        for row in 0..<height {
            try checkpoints.count(pixels: width)
            let to = canvas.baseAddress + row * canvas.bytesPerRow
            withRow(row) { from in
                switch format.layout.sampleType {
                case .uint8: wi_narrow(from.samples16, to.samples8, width * 4)
                case .uint16: wi_widen(from.samples8, to.samples16, width * 4)
                }
            }
        }
        canvas.clearPadding()
        return canvas.finish(isOpaque: isOpaque)
    }

    /// A 128-bit digest of the pixels, which identifies the image in cache keys.
    var digest: String {
        var state: (UInt64, UInt64) = (UInt64(width), UInt64(height))
        withUnsafeMutableBytes(of: &state) { words in
            guard let state = words.baseAddress?.assumingMemoryBound(to: UInt64.self) else { return }
            for row in 0..<height {
                withRow(row) { wi_digest($0.samples8, width * format.bytesPerPixel, state) }
            }
        }
        return "\(format)-" + String(state.0, radix: 16) + "-" + String(state.1, radix: 16)
    }
}
