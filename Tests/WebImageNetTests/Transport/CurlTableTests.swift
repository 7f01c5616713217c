// SPDX-License-Identifier: MIT

import CCurl
import Foundation
import Glibc
import Testing
import WebImageCore
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

/// Each error code that libcurl 7.88 can return for a download, with additional facts, the reported reason, and the
/// retry decision.
@Suite("Mapping of libcurl error codes", .timeLimit(.minutes(5)))
struct CurlTableTests {
    struct Row: Sendable, CustomStringConvertible {
        let code: UInt32
        let reason: ImageError.NetworkFailure.Reason
        let chance: RetryAllowance
        let facts: @Sendable (inout CurlFailure) -> Void
        let description: String

        init(
            _ code: CURLcode, _ reason: ImageError.NetworkFailure.Reason, _ chance: RetryAllowance = .never,
            _ name: String = "",
            _ facts: @escaping @Sendable (inout CurlFailure) -> Void = { _ in }
        ) {
            self.code = code.rawValue
            self.reason = reason
            self.chance = chance
            self.facts = facts
            description = "\(code.rawValue) \(name)"
        }
    }

    static let names: [Row] = [
        Row(CURLE_UNSUPPORTED_PROTOCOL, .badServerResponse, .never, "not HTTP"),
        Row(CURLE_COULDNT_RESOLVE_PROXY, .proxyFailed, .always),
        Row(CURLE_COULDNT_RESOLVE_HOST, .cannotFindHost, .once),
        Row(CURLE_COULDNT_RESOLVE_HOST, .offline, .never, "no route") { $0.hasRoute = false },
        Row(CURLE_COULDNT_CONNECT, .cannotConnect, .once, "refused") { $0.systemError = ECONNREFUSED },
        Row(CURLE_COULDNT_CONNECT, .offline, .never, "unreachable") { $0.systemError = ENETUNREACH },
        Row(CURLE_COULDNT_CONNECT, .timedOut, .always, "late") { $0.systemError = ETIMEDOUT },
        Row(CURLE_COULDNT_CONNECT, .proxyFailed, .always, "proxy") { $0.usesProxy = true },
        Row(CURLE_OPERATION_TIMEDOUT, .timedOut, .always),
    ]

    static let responseRows: [Row] = [
        Row(CURLE_WEIRD_SERVER_REPLY, .badServerResponse), Row(CURLE_OUT_OF_MEMORY, .badServerResponse),
        Row(CURLE_HTTP2, .connectionLost, .always, "GOAWAY"), Row(CURLE_PARTIAL_FILE, .connectionLost, .always),
        Row(CURLE_GOT_NOTHING, .connectionLost, .always),
        Row(CURLE_GOT_NOTHING, .badServerResponse, .never, "HTTP/2 nonsense") { $0.isEndedHere = true },
        Row(CURLE_GOT_NOTHING, .proxyFailed, .always, "proxy") { $0.proxyResponded = true },
        Row(CURLE_SEND_ERROR, .connectionLost, .always), Row(CURLE_RECV_ERROR, .connectionLost, .always),
        Row(CURLE_RECV_ERROR, .badServerResponse, .never, "chunks") {
            $0.detail = "Illegal or missing hexadecimal sequence in chunked-encoding"
        },
        Row(CURLE_RECV_ERROR, .badServerResponse, .never, "huge head") {
            $0.detail = "Too large response headers: 307200 > 307200"
        },
        Row(CURLE_RECV_ERROR, .authenticationRequired, .never, "CONNECT 407") { $0.proxyStatus = 407 },
        Row(CURLE_RECV_ERROR, .proxyFailed, .always, "CONNECT 502") { $0.proxyStatus = 502 },
        Row(CURLE_BAD_CONTENT_ENCODING, .contentDecodingFailed),
        Row(CURLE_LOGIN_DENIED, .authenticationRequired), Row(CURLE_AUTH_ERROR, .authenticationRequired),
        Row(CURLE_HTTP2_STREAM, .connectionLost, .always),
        Row(CURLE_HTTP2_STREAM, .badServerResponse, .never, "malformed") {
            $0.detail = "HTTP/2 stream 1 was not closed cleanly: PROTOCOL_ERROR (err 1)"
        },
        Row(CURLE_PROXY, .proxyFailed, .always, "SOCKS"),
    ]

    static let trust: [Row] = [
        Row(CURLE_SSL_CONNECT_ERROR, .secureConnectionFailed), Row(CURLE_SSL_CIPHER, .secureConnectionFailed),
        Row(CURLE_SSL_CACERT_BADFILE, .secureConnectionFailed),
        Row(CURLE_SSL_CERTPROBLEM, .clientCertificateRejected), Row(CURLE_SSL_CLIENTCERT, .clientCertificateRequired),
        Row(CURLE_PEER_FAILED_VERIFICATION, .certificateUntrusted, .never, "host name") { $0.verifyResult = 1 },
        Row(CURLE_PEER_FAILED_VERIFICATION, .certificateNotYetValid) { $0.verifyResult = 9 },
        Row(CURLE_PEER_FAILED_VERIFICATION, .certificateExpired) { $0.verifyResult = 10 },
        Row(CURLE_PEER_FAILED_VERIFICATION, .certificateUntrusted, .never, "self-signed") { $0.verifyResult = 18 },
        // The chain ends in a root certificate that the server sent and that isn't trusted.
        Row(CURLE_PEER_FAILED_VERIFICATION, .certificateUnknownAuthority, .never, "chain") { $0.verifyResult = 19 },
        Row(CURLE_PEER_FAILED_VERIFICATION, .certificateUnknownAuthority) { $0.verifyResult = 20 },
        Row(CURLE_PEER_FAILED_VERIFICATION, .certificateUnknownAuthority) { $0.verifyResult = 21 },
        Row(CURLE_SSL_PINNEDPUBKEYNOTMATCH, .certificateUntrusted),
        Row(CURLE_SSL_INVALIDCERTSTATUS, .certificateUntrusted),
    ]

    /// Error codes that are handled before libcurl returns them, or that can only result from a bug in the library.
    static let others: [Row] = [
        CURLE_FAILED_INIT, CURLE_URL_MALFORMAT, CURLE_NOT_BUILT_IN, CURLE_WRITE_ERROR, CURLE_RANGE_ERROR,
        CURLE_FUNCTION_NOT_FOUND, CURLE_ABORTED_BY_CALLBACK, CURLE_BAD_FUNCTION_ARGUMENT, CURLE_TOO_MANY_REDIRECTS,
        CURLE_UNKNOWN_OPTION, CURLE_FILESIZE_EXCEEDED, CURLE_AGAIN, CURLE_RECURSIVE_API_CALL,
        CURLE_UNRECOVERABLE_POLL,
    ].map { Row($0, .other) }

    @Test(
        "Each row has its reason, its number, and its retry decision", arguments: names + responseRows + trust + others
    )
    func table(_ row: Row) {
        var failure = CurlFailure(code: row.code)
        row.facts(&failure)
        #expect(failure.reason == row.reason)
        #expect((2_001...2_099).contains(failure.reason.rawValue))
        let error = ImageError.NetworkFailure(
            failure.reason, url: URL(filePath: "/a"), phase: .waitingForResponse)
        #expect(RetryAllowance(error) == row.chance)
    }

    @Test("Errors report libcurl's code and message, the URL, the attempt, and the phase")
    func reported() async throws {
        let server = try LoopbackServer(routes: ["/cut": .ok(patternBytes(1_000)).with { $0.truncatesBodyAfter = 10 }])
        // No other test listens on this port, as it could on that of a stopped server.
        let port = try #require(LocalPorts.free(1).first)
        let unused = try #require(URL(string: "http://127.0.0.1:\(port)/a"))
        let retry = RetryPolicy(maxAttempts: 3, baseDelay: .zero)
        let cases: [(URL, Int, ImageError.NetworkFailure.Phase, Int, Int?)] = [
            (server.url("/cut"), 18, .receivingBody, 3, 200), (unused, 7, .connecting, 2, nil),
            (server.url("/none"), 0, .waitingForResponse, 1, 404),
        ]
        for (url, code, phase, attempt, status) in cases {
            let error = try #require(await makeDownloader { $0.retry = retry }.failure(url)?.network)
            #expect(error.curlCode == (code == 0 ? nil : code) && error.phase == phase, "\(error)")
            #expect(
                error.url.absoluteString == url.absoluteString && error.attempt == attempt
                    && error.statusCode == status, "\(error)")
            #expect(code == 0 || !error.details.isEmpty)
        }
    }

    @Test("A URL that libcurl can't use is invalid, and a redirect to it isn't followed")
    func malformed() async throws {
        let server = try LoopbackServer { _ in .redirect(to: "http://127.0.0.1:99999/a") }
        let url = try #require(URL(string: "http://127.0.0.1:99999/a"))
        #expect(await makeDownloader().failure(url)?.code == 1002)
        let error = await makeDownloader().failure(server.url("/a"))?.network
        #expect(error?.reason == .unacceptableStatusCode && error?.statusCode == 302)
    }
}
