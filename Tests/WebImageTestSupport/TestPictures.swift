// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// Small pictures made on the spot, each telling its number by its colours.
public enum TestPictures {
    /// A PNG of `width` × `height` pixels; equal numbers give equal bytes.
    public static func png(_ number: Int, width: Int = 64, height: Int = 48) throws -> Data {
        try CoderRegistry.standard.encode(
            Image(pixels: pixels(number, width: width, height: height)), as: .png(), context: CodingContext())
    }

    /// The pixels of ``png(_:width:height:)``: a gradient over a colour that tells the number.
    public static func pixels(_ number: Int, width: Int = 64, height: Int = 48) throws -> PixelBuffer {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: height))
        let stride = canvas.bytesPerRow
        canvas.withUnsafeMutableBytes { bytes in
            for y in 0..<height {
                for x in 0..<width {
                    let at = y * stride + x * 4
                    bytes[at] = UInt8(truncatingIfNeeded: number * 37)
                    bytes[at + 1] = UInt8(truncatingIfNeeded: number >> 3 &* 53)
                    bytes[at + 2] = UInt8(x * 255 / max(1, width - 1))
                    bytes[at + 3] = 255
                }
            }
        }
        return canvas.finish(isOpaque: true)
    }

    /// A folder of its own, removed when the value goes.
    public static func temporaryFolder() throws -> TemporaryFolder { try TemporaryFolder() }
}

/// A folder that lives as long as this object.
public final class TemporaryFolder: Sendable {
    /// Absolute path.
    public let path: String

    /// Makes an empty folder with mode 0700.
    public init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "webimage-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Absolute path of `name` inside.
    public func file(_ name: String) -> String { "\(path)/\(name)" }
}
