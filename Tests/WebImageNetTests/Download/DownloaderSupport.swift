// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

/// Returns pseudorandom bytes that are the same in every run.
func patternBytes(_ count: Int, seed: UInt64 = 1) -> Data {
    var state = seed
    var data = Data(count: count)
    data.withUnsafeMutableBytes { (bytes: UnsafeMutableRawBufferPointer) in
        // Without optimization, this loop takes a fraction of the time of a loop over a range or a closure.
        var index = 0
        while index < count {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes.storeBytes(of: UInt8(truncatingIfNeeded: state >> 56), toByteOffset: index, as: UInt8.self)
            index += 1
        }
    }
    return data
}

/// Returns a downloader that ignores the proxies of the environment, tries each request once, and has no start rate
/// limit. Loads don't share transfers.
func makeDownloader(_ change: (inout ImageDownloader.Configuration) -> Void = { _ in }) -> ImageDownloader {
    var configuration = ImageDownloader.Configuration()
    configuration.proxy = .disabled
    configuration.retry = .never
    configuration.maxStartsPerSecond = nil
    configuration.sharesTransfers = false
    change(&configuration)
    return ImageDownloader(configuration: configuration)
}

/// Records the reports of a load.
final class ReportLog: Sendable {
    private struct State {
        var waits: [WaitReason] = []
        var started = 0
        var status: Int?
        var expected: Int?
        var body = Data()
        var parts = 0
    }

    private let state = Lock(State())
    private let waitGate = TestGate()
    private let headGate = TestGate()
    private let bodyGate = TestGate()

    var waits: [WaitReason] { state.withLock { $0.waits } }
    var started: Int { state.withLock { $0.started } }
    var status: Int? { state.withLock { $0.status } }
    var expected: Int? { state.withLock { $0.expected } }
    var body: Data { state.withLock { $0.body } }
    var parts: Int { state.withLock { $0.parts } }

    func context(_ priority: RequestPriority = .normal) -> LoadContext {
        LoadContext(priority: priority) { [self] in receive($0) }
    }

    /// Records a report. A second response head resets the body.
    func receive(_ report: LoadContext.Report) {
        switch report {
        case .waiting(let reason):
            state.withLock { $0.waits.append(reason) }
            waitGate.open()
        case .started: state.withLock { $0.started += 1 }
        case .head(let head, let expected):
            state.withLock {
                $0.status = head?.statusCode
                $0.expected = expected
                $0.body = Data()
            }
            headGate.open()
        case .body(let part):
            state.withLock {
                $0.body.append(part)
                $0.parts += 1
            }
            bodyGate.open()
        }
    }

    func waitForWait() async { await waitGate.wait() }
    func waitForHead() async { await headGate.wait() }
    func waitForBody() async { await bodyGate.wait() }
}

extension LoadContext {
    /// A Boolean value that indicates whether work follows the priority. A transfer follows it after it was queued. Only
    /// then, a change reaches the queue before the setter returns.
    var isFollowed: Bool { livePriority.observerCount > 0 }
}

extension ImageDownloader {
    func load(_ url: URL, _ change: (inout LoadRequest) -> Void = { _ in }) async throws(ImageError) -> LoadResponse {
        var request = LoadRequest(url: url)
        change(&request)
        return try await load(request, context: LoadContext())
    }

    /// Returns the error of a load that must fail, or `nil` if the load succeeds.
    func failure(_ url: URL, _ change: (inout LoadRequest) -> Void = { _ in }) async -> ImageError? {
        do throws(ImageError) {
            _ = try await load(url, change)
            return nil
        } catch {
            return error
        }
    }
}

extension ImageError {
    var network: ImageError.NetworkFailure? {
        if case .network(let error) = self { return error }
        return nil
    }
}

/// Returns a downloader that trusts the certificate of a server.
func makeDownloader(
    for server: HTTP2Server, http2: Bool = true, _ change: (inout ImageDownloader.Configuration) -> Void = { _ in }
) -> ImageDownloader {
    makeDownloader {
        $0.tls = .authorities(server.authority)
        $0.allowsHTTP2 = http2
        change(&$0)
    }
}

/// Returns an HTTP/1.1 response with a body.
func http1Response(_ body: Data) -> Data {
    Data("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
}
