// SPDX-License-Identifier: MIT

import Foundation

extension ImageAnimation {
    /// Creates an animation from image files, which are read and decoded on demand. The animation holds no data
    /// between frames.
    ///
    /// This initializer reads and decodes the first file immediately, so call it on a worker thread.
    ///
    /// - Parameters:
    ///   - files: The file URLs and durations of the frames, at least one. If a file is animated, its first frame is
    ///     used.
    ///   - loopCount: The number of times to play the animation, where 0 repeats indefinitely. The default is 0.
    ///   - coders: The registry that decodes the frames, within the limits ``ImageLimits/desktop``. All frames must
    ///     have the same size.
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)``, or an error that describes the problem with
    ///   the first file, such as ``ImageError/RequestFailure/fileNotFound(path:)``.
    public convenience init(
        files: some Sequence<(url: URL, duration: Duration)>, loopCount: Int = 0, coders: ImageCoderRegistry
    ) throws(ImageError) {
        let files = Array(files)
        let paths = files.map { $0.url.absoluteURL.path(percentEncoded: false) }
        try self.init(durations: files.map { $0.duration }, loopCount: loopCount, cost: 0, coders: coders) {
            (place) throws(ImageError) in
            try ImageFile.contents(of: paths[place], limit: ImageLimits.desktop.maxEncodedBytes)
        }
    }
}
