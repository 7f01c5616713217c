// SPDX-License-Identifier: MIT

extension Image {
    /// The same picture with some of its frames; what is left of an animation plays as often as before. Blocks where
    /// another frame than the first becomes the poster; call it on a worker thread.
    ///
    /// - Throws: ``RequestError/noSuchFrame(index:count:)``, or what is wrong with the data.
    public func taking(_ frames: ImageEncoding.Frames) throws(ImageError) -> Image {
        switch frames {
        case .all: return self
        case .first: return animation == nil ? self : replacing(pixels: pixels, animation: nil)
        case .range(let range):
            guard range.lowerBound >= 0, range.upperBound <= frameCount, !range.isEmpty else {
                let index = range.lowerBound < 0 ? range.lowerBound : max(range.lowerBound, range.upperBound - 1)
                throw .request(.noSuchFrame(index: index, count: frameCount))
            }
            guard let animation, range.count < frameCount else { return self }
            let poster = try animation.frame(at: range.lowerBound)
            let rest = range.count > 1 ? ImageAnimation(FrameRange(animation, range)) : nil
            return replacing(pixels: poster, animation: rest)
        }
    }
}

/// Some neighbouring frames of an animation.
private struct FrameRange: AnimationDecoder {
    let timeline: AnimationTimeline
    private let whole: ImageAnimation
    private let first: Int

    init(_ whole: ImageAnimation, _ range: Range<Int>) {
        self.whole = whole
        self.first = range.lowerBound
        self.timeline = AnimationTimeline(
            loopCount: whole.timeline.loopCount, durations: Array(whole.timeline.durations[range]))
    }

    var cost: Int { whole.cost }

    func frame(at index: Int) throws(ImageError) -> PixelBuffer {
        guard timeline.durations.indices.contains(index) else {
            throw .request(.noSuchFrame(index: index, count: timeline.frameCount))
        }
        return try whole.frame(at: first + index)
    }
}
