// SPDX-License-Identifier: MIT

extension Image {
    /// Returns the image with a subset of its frames. A remaining animation keeps its loop count.
    ///
    /// If a frame other than the first becomes the poster frame, this method blocks while it decodes the frame. Call
    /// it on a worker thread.
    ///
    /// - Throws: ``RequestError/noSuchFrame(index:count:)`` for an invalid index,
    ///   ``RequestError/invalidOption(name:value:)`` for an empty selection, or an error that describes the problem
    ///   with the data.
    public func taking(_ frames: ImageEncoding.Frames) throws(ImageError) -> Image {
        switch frames {
        case .all: return self
        case .first: return animation == nil ? self : replacing(pixels: pixels, animation: nil)
        case .range(let range):
            // Check the bounds before creating an array from the range, because the range can be huge.
            for index in [range.lowerBound, range.upperBound - 1] { try requireFrame(index) }
            return try taking(places: Array(range))
        case .list(let places): return try taking(places: places)
        }
    }

    private func taking(places: [Int]) throws(ImageError) -> Image {
        guard let first = places.first else { throw .request(.invalidOption(name: "frames", value: "none")) }
        for place in places { try requireFrame(place) }
        guard let animation, places != Array(0..<frameCount) else { return self }
        let poster = first == 0 ? pixels : try animation.frame(at: first)
        let rest = places.count > 1 ? ImageAnimation(ChosenFrames(animation, places)) : nil
        return replacing(pixels: poster, animation: rest)
    }

    private func requireFrame(_ index: Int) throws(ImageError) {
        guard (0..<frameCount).contains(index) else {
            throw .request(.noSuchFrame(index: index, count: frameCount))
        }
    }
}

/// A decoder that provides a subset of the frames of an animation.
private struct ChosenFrames: AnimationDecoder {
    let timeline: AnimationTimeline
    private let whole: ImageAnimation
    private let places: [Int]

    init(_ whole: ImageAnimation, _ places: [Int]) {
        self.whole = whole
        self.places = places
        self.timeline = AnimationTimeline(
            loopCount: whole.timeline.loopCount, durations: places.map { whole.timeline.durations[$0] })
    }

    var cost: Int { whole.cost }

    func frame(at index: Int) throws(ImageError) -> PixelBuffer {
        guard places.indices.contains(index) else {
            throw .request(.noSuchFrame(index: index, count: places.count))
        }
        return try whole.frame(at: places[index])
    }
}
