// SPDX-License-Identifier: MIT

// Implements a custom image source in twenty lines: the members of an archive in memory, behind URLs with a custom
// scheme. The example loads an image through a manager at a smaller size. It exits with status 1 if the result is
// unexpected.

import Foundation
import WebImage

struct BundleLoader: ImageLoader {
    let members: [String: Data]

    func canLoad(_ url: URL) -> Bool { url.scheme == "bundle" }

    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        context.reportStart()
        guard let body = members[request.url.path] else { throw .request(.fileNotFound(path: request.url.path)) }
        guard body.count <= request.maxByteCount else {
            throw .limitExceeded(ImageError.LimitFailure(.encodedSize, limit: request.maxByteCount, actual: body.count))
        }
        // If the data arrives in parts, report each part on arrival. Progress events and previews depend on it.
        context.reportResponse(nil, expectedByteCount: body.count)
        context.reportData(body)
        return LoadResponse(body: body, url: request.url)
    }
}

/// Returns a bitmap of 8 × 4 pixels with a single color: a file header, an info header, and rows of blue, green, and
/// red samples.
func bitmap(red: UInt8, green: UInt8, blue: UInt8) -> Data {
    let head: [UInt8] = [
        66, 77, 150, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 8, 0, 0, 0, 4, 0, 0, 0, 1, 0, 24, 0,
    ]
    return Data(head + [UInt8](repeating: 0, count: 24) + Array(repeating: [blue, green, red], count: 32).joined())
}

let manager = ImageManager {
    $0.diskCache = nil
    $0.loaders = [BundleLoader(members: ["/red.bmp": bitmap(red: 200, green: 10, blue: 20)])]
}
guard let red = URL(string: "bundle:///red.bmp"), let missing = URL(string: "bundle:///blue.bmp") else { exit(1) }
let response = try await manager.response(for: ImageRequest(url: red, size: .fit(width: 4)))
var code = 0
do {
    _ = try await manager.image(for: missing)
} catch {
    code = error.code
}
await manager.shutdown()
let pixel = response.image.pixels.color(x: 2, y: 1)
print(
    "\(red), \(response.originalByteCount ?? 0) bytes, decoded to \(response.image.size). Error for a missing file: \(code)"
)
if response.source != .local || response.image.size != PixelSize(width: 4, height: 2) || code != 1006
    || pixel.map({ [$0.red, $0.green, $0.blue] }) != [200, 10, 20]
{
    print("unexpected pixel or origin: \(String(describing: pixel)), \(response.source)")
    exit(1)
}
