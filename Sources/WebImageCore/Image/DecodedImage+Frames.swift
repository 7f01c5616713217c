// SPDX-License-Identifier: MIT

extension DecodedImage {
    /// Returns the image with a subset of its frames. A remaining animation keeps its loop count.
    ///
    /// If a frame other than the first becomes the poster frame, this method blocks while it decodes the frame. Call
    /// it on a worker thread.
    ///
    /// - Throws: ``ImageError/RequestFailure/frameNotFound(index:frameCount:)`` for an invalid index,
    ///   ``ImageError/RequestFailure/invalidOption(name:value:)`` for an empty selection, or an error that describes
    ///   the problem with the data.
    public func selecting(_ frames: FrameSelection) throws(ImageError) -> DecodedImage {
        switch frames {
        case .all: return self
        case .first: return animation == nil ? self : replacing(pixels: pixels, animation: nil)
        case .index(let index): return try selecting(indices: [index])
        case .range(let range):
            // Check the bounds before creating an array from the range, because the range can be huge.
            for index in [range.lowerBound, range.upperBound - 1] { try requireFrame(index) }
            return try selecting(indices: Array(range))
        case .indices(let places): return try selecting(indices: places)
        }
    }

    private func selecting(indices: [Int]) throws(ImageError) -> DecodedImage {
        guard let first = indices.first else { throw .request(.invalidOption(name: "frames", value: "none")) }
        for place in indices { try requireFrame(place) }
        guard let animation, indices != Array(0..<frameCount) else { return self }
        let poster = first == 0 ? pixels : try animation.frame(at: first)
        let rest = indices.count > 1 ? ImageAnimation(SelectedFramesDecoder(animation, indices)) : nil
        return replacing(pixels: poster, animation: rest)
    }

    private func requireFrame(_ index: Int) throws(ImageError) {
        guard (0..<frameCount).contains(index) else {
            throw .request(.frameNotFound(index: index, frameCount: frameCount))
        }
    }
}

/// A decoder that provides a subset of the frames of an animation.
private struct SelectedFramesDecoder: AnimationDecoder {
    let timeline: AnimationTimeline
    private let whole: ImageAnimation
    private let indices: [Int]

    init(_ whole: ImageAnimation, _ places: [Int]) {
        self.whole = whole
        self.indices = places
        self.timeline = AnimationTimeline(
            loopCount: whole.timeline.loopCount, durations: places.map { whole.timeline.durations[$0] })
    }

    var cost: Int { whole.cost }

    func frame(at index: Int) throws(ImageError) -> PixelBuffer {
        guard indices.indices.contains(index) else {
            throw .request(.frameNotFound(index: index, frameCount: indices.count))
        }
        return try whole.frame(at: indices[index])
    }
}
