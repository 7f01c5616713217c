// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import Testing
import WebImage
import WebImageConcurrency
import WebImageTestSupport
import WebImageTesting

/// The program `webimage-serve`, run as users run it.
final class ServeProcess: Sendable {
    /// A response as it was received.
    struct Response {
        var status: Int
        var headers: HTTPHeaderFields
        var body: Data
    }

    static var executable: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(
            path: "webimage-serve")
    }

    /// A Boolean value that indicates whether the program contains the server.
    static let isAvailable: Bool = {
        let path = executable.path(percentEncoded: false)
        guard
            let process = try? ChildProcess(
                path, ["--help"], in: FileManager.default.temporaryDirectory, output: "/dev/null")
        else { return false }
        return process.wait() == 0
    }()

    let directory: TemporaryDirectory
    let process: ChildProcess
    let port: UInt16

    /// Starts a server on a free port, and waits until it listens.
    init(_ options: [String], environment: [String: String] = [:]) async throws {
        directory = try TemporaryDirectory()
        var variables = ["PATH": "/usr/bin:/bin", "HOME": directory.path, "WEBIMAGE_CACHE_DIRECTORY": ""]
        for name in ["ASAN_OPTIONS", "TSAN_OPTIONS"] { variables[name] = ProcessInfo.processInfo.environment[name] }
        variables.merge(environment) { $1 }
        process = try ChildProcess(
            Self.executable.path(percentEncoded: false), ["--bind=127.0.0.1:0"] + options,
            in: URL(filePath: directory.path), environment: variables, output: .file("log"), error: .file("errors"))
        let (log, process) = (directory.file("log"), process)
        await untilTrue { Self.address(in: log) != nil || !process.isRunning }
        port = Self.address(in: log)?.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
    }

    deinit { process.stop() }

    private static func address(in log: String) -> String? {
        let lines = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        for line in lines.split(separator: "\n") {
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            guard object?["message"] as? String == "listening" else { continue }
            return (object?["details"] as? [String: String])?["address"]
        }
        return nil
    }

    /// The lines of the log, which must all be JSON objects.
    func log() throws -> [[String: Any]] {
        try String(contentsOfFile: directory.file("log"), encoding: .utf8).split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    /// Sends a request to the program.
    func send(_ target: String, method: String = "GET", headers: [String] = []) async throws -> Response {
        try await Self.send(target, method: method, headers: headers, port: port)
    }

    /// Sends a request on a new connection, on a dedicated thread, and returns the response.
    static func send(
        _ target: String, method: String = "GET", headers: [String] = [], port: UInt16
    ) async throws -> Response {
        let lines = ["\(method) \(target) HTTP/1.1", "Host: localhost", "Connection: close"] + headers
        let bytes: Data = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let text = lines.joined(separator: "\r\n") + "\r\n\r\n"
                continuation.resume(returning: exchange(Data(text.utf8), port))
            }
        }
        return try parsed(bytes)
    }

    private static func exchange(_ request: Data, _ port: UInt16) -> Data {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        name.sin_port = port.bigEndian
        let isConnected = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return Data() }
        _ = request.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        var result = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return result }
            result += buffer.prefix(count)
        }
    }

    private static func parsed(_ bytes: Data) throws -> Response {
        let end = try #require(bytes.range(of: Data("\r\n\r\n".utf8)), "no response")
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) }
        var headers = HTTPHeaderFields()
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers.append(
                name: String(parts[0]), value: parts.last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "")
        }
        return Response(status: try #require(status), headers: headers, body: Data(bytes[end.upperBound...]))
    }
}
