// SPDX-License-Identifier: MIT

import Foundation
import Glibc

extension ImageAnimation {
    /// An animation of picture files, each read and decoded when it is asked for. Nothing is held between frames.
    ///
    /// - Parameters:
    ///   - frameFiles: at least one, with milliseconds that follow ``AnimationTimeline/normalizedDelay(milliseconds:)``;
    ///     of an animated picture the first frame counts.
    ///   - loopCount: how often it plays, 0 for ever. Default 0.
    ///   - coders: who decodes.
    ///   - options: how; every frame must come out at the same size.
    ///   - limits: of each frame. Default ``Limits/desktop``.
    /// - Throws: ``RequestError/invalidOption(name:value:)``, and what is wrong with the first file: 1006, 1007,
    ///   families 4xxx and 6xxx.
    public convenience init(
        frameFiles: [(file: URL, milliseconds: Int)], loopCount: Int = 0, coders: CoderRegistry,
        options: DecodeOptions = DecodeOptions(), limits: Limits = .desktop
    ) throws(ImageError) {
        let paths = frameFiles.map { $0.file.path(percentEncoded: false) }
        try self.init(
            durations: frameFiles.map(\.milliseconds), loopCount: loopCount, cost: 0, coders: coders,
            options: options, limits: limits
        ) { (place) throws(ImageError) in
            try Self.bytes(of: paths[place], limit: limits.maxEncodedBytes)
        }
    }

    /// All bytes of a regular file.
    private static func bytes(of path: String, limit: Int) throws(ImageError) -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw .request(errno == ENOENT ? .fileNotFound(path: path) : .fileUnreadable(path: path, errno: errno))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .request(.fileUnreadable(path: path, errno: errno)) }
        // Pipes and devices may never end.
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .request(.fileUnreadable(path: path, errno: status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL))
        }
        let size = Int(status.st_size)
        guard size <= limit else { throw .limit(LimitError(.encodedBytes, limit: limit, actual: size, detail: path)) }
        var data = Data(count: size)
        var done = 0
        while done < size {
            let count = data.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { read(descriptor, $0 + done, size - done) } ?? 0
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .request(.fileUnreadable(path: path, errno: errno)) }
            // It became shorter.
            if count == 0 { return data.prefix(done) }
            done += count
        }
        return data
    }
}
