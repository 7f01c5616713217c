// SPDX-License-Identifier: MIT

// Calls the image server, without a library for HTTP servers: a request is a value, and so is its response.
// A server passes its requests to the handler in the same way. The example signs the URL of a file, requests it in another
// format, and requests it again with the tag of the response. It exits with status 1 if a response is unexpected.

import Foundation
import WebImage
import WebImageServer

/// Writes a bitmap of 8 × 4 pixels with a single color: a file header, an info header, and rows of blue, green, and red
/// samples.
func writeBitmap(to file: URL) throws {
    let head: [UInt8] = [
        66, 77, 150, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 8, 0, 0, 0, 4, 0, 0, 0, 1, 0, 24, 0,
    ]
    let bytes = head + [UInt8](repeating: 0, count: 24) + Array(repeating: [20, 10, 200], count: 32).joined()
    try Data(bytes).write(to: file)
}

/// Prints a response, and ends the program if it has another status code than expected.
func check(_ response: ServerResponse, _ title: String, statusCode: Int) {
    let type = response.headers["Content-Type"] ?? "no content"
    print("\(title): \(response.statusCode), \(type), \(response.body.count) bytes")
    if response.statusCode != statusCode { exit(1) }
}

let folder = FileManager.default.temporaryDirectory.appending(path: "webimage-example-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
try writeBitmap(to: folder.appending(path: "red.bmp"))

// A program reads the key and the salt from its configuration. They're hexadecimal.
guard let key = URLSigningKey(key: "736563726574", salt: "68656C6C6F") else { exit(1) }
var configuration = ImageServer.Configuration()
configuration.signingKeys = [key]
configuration.localDirectory = folder
var managerConfiguration = ImageManager.Configuration.server
managerConfiguration.allowedSchemes = ["file"]
managerConfiguration.diskCache = nil
let manager = ImageManager(configuration: managerConfiguration)
let server = try ImageServer(manager: manager, configuration: configuration)

let path = "/rs:fit:4:4/plain/local:///red.bmp@png"
guard let signature = key.signature(of: path) else { exit(1) }
let response = await server.response(to: ServerRequest(target: "/\(signature)\(path)"))
check(response, "Signed", statusCode: 200)
let size = try ImageInfo(data: response.body).size
let again = ServerRequest(target: "/\(signature)\(path)", headers: ["If-None-Match": response.headers["ETag"] ?? ""])
check(await server.response(to: again), "With the tag", statusCode: 304)
check(await server.response(to: ServerRequest(target: "/wrong\(path)")), "With a wrong signature", statusCode: 403)
await server.shutdown(deadline: .seconds(5))
await manager.shutdown()
if size != PixelSize(width: 4, height: 2) {
    print("unexpected size: \(size)")
    exit(1)
}
