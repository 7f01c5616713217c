// SPDX-License-Identifier: MIT

import Foundation
import Glibc

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
            try Self.bytes(of: paths[place], limit: limits.maxEncodedBytes)
        }
    }

    /// Returns the content of a regular file.
    private static func bytes(of path: String, limit: Int) throws(ImageError) -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw .request(errno == ENOENT ? .fileNotFound(path: path) : .fileUnreadable(path: path, errno: errno))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .request(.fileUnreadable(path: path, errno: errno)) }
        // Reject pipes and devices, because they may never end.
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .request(.fileUnreadable(path: path, errno: status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL))
        }
        let size = Int(status.st_size)
        guard size <= limit else {
            throw .limitExceeded(ImageError.LimitFailure(.encodedSize, limit: limit, actual: size, detail: path))
        }
        var data = Data(count: size)
        var done = 0
        while done < size {
            let count = data.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { read(descriptor, $0 + done, size - done) } ?? 0
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .request(.fileUnreadable(path: path, errno: errno)) }
            // The file was shortened in the meantime.
            if count == 0 { return data.prefix(done) }
            done += count
        }
        return data
    }
}
