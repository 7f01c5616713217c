// SPDX-License-Identifier: MIT

import WebImage
import WebImageTestSupport
import WebImageTesting

/// An animated image whose frames contain their index. It counts its decodes and can delay them with a gate.
struct CountedAnimation {
    let image: DecodedImage
    let decoded = Shared<[Int]>([])

    init(frames: Int, milliseconds: Int = 40, loops: Int = 0, gate: TestGate? = nil, corrupt: Set<Int> = []) throws {
        let decoded = decoded
        let animation = try ImageAnimation(
            frameDurations: Array(repeating: Duration.milliseconds(milliseconds), count: frames), loopCount: loops
        ) { (index) throws(ImageError) in
            gate?.blockingWait()
            decoded.update { $0.append(index) }
            if corrupt.contains(index) { throw .decoding(.corrupted(format: .gif, reason: "frame \(index)")) }
            return try Self.pixels(index)
        }
        image = DecodedImage(pixels: try Self.pixels(0), animation: animation)
    }

    static func pixels(_ index: Int) throws(ImageError) -> PixelBuffer {
        let canvas = try PixelCanvas(size: PixelSize(width: 8, height: 4))
        canvas.withUnsafeMutableBytes { $0[0] = UInt8(truncatingIfNeeded: index) }
        return canvas.finish(isOpaque: false)
    }
}
