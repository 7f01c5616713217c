// SPDX-License-Identifier: MIT

import CLimits
import Foundation
import WebImage

/// A suite that decodes all frames of an animation and compares with giflib and Pillow.
enum GIFSuite: Suite {
    static let name = "gif"
    static let summary = "every frame of a GIF, against giflib with compositing and Pillow"

    static func cases(_ settings: Settings) throws -> [Case] {
        let (width, height, frames) = (480, 270, 40)
        var pixels: [UInt8] = []
        for frame in 0..<frames {
            pixels += try Photograph.make(width, height, seed: UInt64(frame / 4 + 1)).pixels.packedBytes()
        }
        var count = 0
        guard let made = wi_limit_make_gif(pixels, Int32(width), Int32(height), Int32(frames), &count) else {
            throw Skipped(reason: "giflib can’t encode the animation")
        }
        let bytes = Data(bytes: made, count: count)
        free(made)
        let output = ScratchMemory(width * height * 4)
        let ours = Contender("WebImage") { _ in
            try timed(frames) {
                let image = try ImageCoderRegistry.standard.decode(
                    bytes, context: ImageProcessingContext(limits: Photograph.roomy))
                guard let animation = image.animation, image.frameCount == frames else {
                    throw Skipped(reason: "the animation has the unexpected number of \(image.frameCount) frames")
                }
                for index in 0..<frames { consume(try animation.frame(at: index)) }
            }
        }
        let theirs = Contender("giflib") { _ in
            try bytes.withUnsafeBytes { raw in
                try timed(frames) {
                    let start = raw.bindMemory(to: UInt8.self).baseAddress
                    guard wi_limit_gif(start, count, output.bytes, output.count) == Int32(frames) else {
                        throw Skipped(reason: "giflib can’t decode the animation")
                    }
                }
            }
        }
        let item = Case(
            name: "\(width)x\(height), \(frames) frames, per frame", contenders: [ours, theirs],
            goals: [.ratio(.cpu, to: "giflib", atMost: 1.05)])
        let peers = PicturePeers([.pillow], .frames, of: name, settings)
        return [item.against(try peers.rivals(bytes, count: 3, operations: frames, atMost: [.pillow: 0.8]))]
    }
}
