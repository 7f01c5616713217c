// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import Synchronization
import WebImage
import WebImageTesting

/// A server with the images of the tests, a directory for caches, and a shared manager without other contents.
final class Origin: Sendable {
    let server: LoopbackServer
    let directory: URL
    /// The stalled responses wait for this gate.
    let gate = TestGate()
    private let changes = Mutex(0)

    static let red = PixelColor(red: 255, green: 0, blue: 0)
    static let blue = PixelColor(red: 0, green: 0, blue: 255)

    /// Starts the server and replaces `ImageManager.shared`.
    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "compatibility-\(UUID().uuidString)")
        let photo = try Origin.photo(width: 40, height: 20)
        let files: [String: Data] = [
            "/photo.png": try photo.encoded(as: .png),
            "/large.jpg": try Origin.noise(width: 600, height: 400).encoded(
                as: .jpeg(quality: 90, isProgressive: true)),
            "/a.png": try Origin.photo(width: 8, height: 8).encoded(as: .png),
            "/b.png": try Origin.photo(width: 10, height: 10).encoded(as: .png),
            "/secret": try photo.encoded(as: .png).base64EncodedData(),
            "/gray.txt": Data("gray 120".utf8),
        ]
        let gate = gate
        let count = Mutex(0)
        let respond: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { request in
            switch request.path {
            case "/slow.png":
                var response = LoopbackServer.Response.ok(files["/photo.png"] ?? Data(), contentType: "image/png")
                response.bodyGate = gate
                return response
            case "/private.png":
                guard request.headers["Authorization"] == "Bearer 42" else { return .status(401) }
                return .ok(files["/photo.png"] ?? Data(), contentType: "image/png")
            case "/changing.png":
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                let file = files[number == 1 ? "/a.png" : "/b.png"] ?? Data()
                return .resource(file, contentType: "image/png", etag: "\"\(min(number, 2))\"", for: request)
            case "/large.jpg":
                var response = LoopbackServer.Response.ok(files["/large.jpg"] ?? Data(), contentType: "image/jpeg")
                response.chunkSize = 8_192
                return response
            case "/halves.jpg":
                let file = files["/large.jpg"] ?? Data()
                var response = LoopbackServer.Response.ok(file, contentType: "image/jpeg")
                response.chunkSize = (file.count + 1) / 2
                let open = TestGate()
                open.open()
                response.chunkGates = [open, gate]
                return response
            default:
                guard let file = files[request.path] else { return .status(404) }
                let type = request.path.hasSuffix(".png") ? "image/png" : "application/octet-stream"
                return .ok(file, contentType: type)
            }
        }
        server = try LoopbackServer(respond: respond)
        let shared = directory.appending(path: "shared")
        ImageManager.shared = ImageManager {
            $0.diskCache = DiskCache.Configuration(directory: shared)
            $0.downloader.retry = .never
        }
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(at: directory)
    }

    /// The URL without a path.
    var baseURL: URL { server.url("/") }

    /// The number of requests for a path.
    func count(_ path: String) -> Int { server.requests.count { $0.path == path } }

    /// An image whose left half is red and whose right half is blue.
    static func photo(width: Int, height: Int) throws -> DecodedImage {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: height))
        let stride = canvas.bytesPerRow
        canvas.withUnsafeMutableBytes { bytes in
            for y in 0..<height {
                for x in 0..<width {
                    let pixel = y * stride + x * 4
                    bytes[pixel] = x < width / 2 ? 255 : 0
                    bytes[pixel + 2] = x < width / 2 ? 0 : 255
                    bytes[pixel + 3] = 255
                }
            }
        }
        return DecodedImage(pixels: canvas.finish(isOpaque: true))
    }

    /// An image with random gray pixels, so that every part of its file is large.
    static func noise(width: Int, height: Int) throws -> DecodedImage {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: height))
        var state: UInt32 = 1
        canvas.withUnsafeMutableBytes { bytes in
            for pixel in stride(from: 0, to: bytes.count - 3, by: 4) {
                state = state &* 1_664_525 &+ 1_013_904_223
                for sample in 0..<3 { bytes[pixel + sample] = UInt8(state >> 24) }
                bytes[pixel + 3] = 255
            }
        }
        return DecodedImage(pixels: canvas.finish(isOpaque: true))
    }

    /// A GIF with three frames of 100 ms, 200 ms, and 300 ms.
    static func animation() throws -> Data {
        let frames = try [red, blue, red].enumerated().map { index, color in
            (
                pixels: try PixelBuffer.filled(with: color, size: PixelSize(width: 6, height: 6)),
                duration: Duration.milliseconds(100 * (index + 1))
            )
        }
        return try DecodedImage(animation: ImageAnimation(frames: frames)).encoded(as: .gif)
    }
}

extension UIImage {
    /// The color of a pixel.
    func pixel(_ x: Int, _ y: Int) -> PixelColor? { decoded.pixels.color(x: x, y: y) }
}
