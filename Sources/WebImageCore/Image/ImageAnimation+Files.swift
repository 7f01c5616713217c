// SPDX-License-Identifier: MIT

import Foundation

extension ImageAnimation {
    /// Creates an animation from image files, which are read and decoded on demand. The animation holds no data
    /// between frames.
    ///
    /// - Parameters:
    ///   - files: The files and durations of the frames, at least one.
    ///     ``AnimationTimeline/normalizedDelay(milliseconds:)`` applies to the durations. If a file is animated, its
    ///     first frame is used.
    ///   - loopCount: The number of times to play the animation, where 0 repeats indefinitely. The default is 0.
    ///   - coders: The registry that decodes the frames.
    ///   - options: The decoding options. With them, all frames must have the same size.
    ///   - limits: The limits for each frame. The default is ``ImageLimits/desktop``.
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)``, or an error that describes the problem with
    ///   the first file (1006, 1007, 4xxx, or 6xxx).
    public convenience init(
        files: [(file: URL, milliseconds: Int)], loopCount: Int = 0, coders: ImageCoderRegistry,
        options: ImageDecodingOptions = ImageDecodingOptions(), limits: ImageLimits = .desktop
    ) throws(ImageError) {
        let paths = files.map { $0.file.path(percentEncoded: false) }
        try self.init(
            durations: files.map(\.milliseconds), loopCount: loopCount, cost: 0, coders: coders,
            options: options, limits: limits
        ) { (place) throws(ImageError) in
            try ImageFile.contents(of: paths[place], limit: limits.maxEncodedBytes)
        }
    }

}
