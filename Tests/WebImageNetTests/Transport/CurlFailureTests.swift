// SPDX-License-Identifier: MIT

import CCurl
import Glibc
import Testing
import WebImageCore

@testable import WebImageNet

@Suite("Failures of libcurl")
struct CurlFailureTests {
    private func reason(_ code: CURLcode, _ change: (inout CurlFailure) -> Void = { _ in })
        -> ImageError.NetworkFailure.Reason
    {
        var failure = CurlFailure(code: code.rawValue)
        change(&failure)
        return failure.reason
    }

    @Test("Each error code maps to a reason")
    func codes() {
        let table: [(CURLcode, ImageError.NetworkFailure.Reason)] = [
            (CURLE_UNSUPPORTED_PROTOCOL, .badServerResponse), (CURLE_COULDNT_RESOLVE_PROXY, .proxyFailed),
            (CURLE_COULDNT_RESOLVE_HOST, .cannotFindHost), (CURLE_COULDNT_CONNECT, .cannotConnect),
            (CURLE_WEIRD_SERVER_REPLY, .badServerResponse), (CURLE_HTTP2, .connectionLost),
            (CURLE_PARTIAL_FILE, .connectionLost), (CURLE_OUT_OF_MEMORY, .badServerResponse),
            (CURLE_OPERATION_TIMEDOUT, .timedOut), (CURLE_SSL_CONNECT_ERROR, .secureConnectionFailed),
            (CURLE_SSL_CIPHER, .secureConnectionFailed), (CURLE_GOT_NOTHING, .connectionLost),
            (CURLE_SEND_ERROR, .connectionLost), (CURLE_RECV_ERROR, .connectionLost),
            (CURLE_SSL_CERTPROBLEM, .clientCertificateRejected), (CURLE_SSL_CLIENTCERT, .clientCertificateRequired),
            (CURLE_PEER_FAILED_VERIFICATION, .certificateUntrusted),
            (CURLE_SSL_CACERT_BADFILE, .secureConnectionFailed),
            (CURLE_BAD_CONTENT_ENCODING, .contentDecodingFailed), (CURLE_LOGIN_DENIED, .authenticationRequired),
            (CURLE_AUTH_ERROR, .authenticationRequired), (CURLE_SSL_PINNEDPUBKEYNOTMATCH, .certificateUntrusted),
            (CURLE_SSL_INVALIDCERTSTATUS, .certificateUntrusted), (CURLE_HTTP2_STREAM, .connectionLost),
            (CURLE_PROXY, .proxyFailed), (CURLE_FAILED_INIT, .other), (CURLE_NOT_BUILT_IN, .other),
        ]
        for (code, expected) in table { #expect(reason(code) == expected, "\(code.rawValue)") }
    }

    @Test("Additional information from libcurl refines ambiguous error codes")
    func details() {
        #expect(reason(CURLE_COULDNT_CONNECT) { $0.systemError = ENETUNREACH } == .offline)
        #expect(reason(CURLE_COULDNT_CONNECT) { $0.systemError = ENETDOWN } == .offline)
        #expect(reason(CURLE_COULDNT_CONNECT) { $0.systemError = EHOSTUNREACH } == .cannotConnect)
        for code in [CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST] {
            let offline = reason(code) {
                $0.systemError = EHOSTUNREACH
                $0.hasRoute = false
            }
            #expect(offline == .offline)
        }
        #expect(reason(CURLE_COULDNT_CONNECT) { $0.hasRoute = false } == .cannotConnect)
        #expect(reason(CURLE_COULDNT_CONNECT) { $0.systemError = ETIMEDOUT } == .timedOut)
        #expect(reason(CURLE_COULDNT_CONNECT) { $0.usesProxy = true } == .proxyFailed)
        #expect(reason(CURLE_GOT_NOTHING) { $0.proxyResponded = true } == .proxyFailed)
        #expect(reason(CURLE_RECV_ERROR) { $0.detail = "Proxy CONNECT aborted" } == .proxyFailed)
        for code in [CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_SSL_CONNECT_ERROR] {
            #expect(reason(code) { $0.isProxyTLS = true } == .proxyFailed)
        }
        #expect(reason(CURLE_SSL_CONNECT_ERROR) { $0.usesProxy = true } == .secureConnectionFailed)
        for (result, expected) in [
            (9, ImageError.NetworkFailure.Reason.certificateNotYetValid), (10, .certificateExpired),
            (18, .certificateUntrusted),
            (20, .certificateUnknownAuthority), (21, .certificateUnknownAuthority), (1, .certificateUntrusted),
        ] {
            #expect(reason(CURLE_PEER_FAILED_VERIFICATION) { $0.verifyResult = result } == expected)
        }
        #expect(reason(CURLE_RECV_ERROR) { $0.proxyStatus = 407 } == .authenticationRequired)
        #expect(reason(CURLE_RECV_ERROR) { $0.proxyStatus = 401 } == .authenticationRequired)
        #expect(reason(CURLE_RECV_ERROR) { $0.proxyStatus = 502 } == .proxyFailed)
        #expect(
            reason(CURLE_RECV_ERROR) { $0.detail = "Malformed encoding found in chunked-encoding" }
                == .badServerResponse)
        #expect(
            reason(CURLE_RECV_ERROR) { $0.detail = "tlsv13 alert certificate required" } == .clientCertificateRequired)
        #expect(reason(CURLE_RECV_ERROR) { $0.detail = "tlsv1 alert unknown ca" } == .clientCertificateRejected)
        #expect(
            reason(CURLE_SSL_CONNECT_ERROR) { $0.detail = "sslv3 alert handshake failure" } == .secureConnectionFailed)
        #expect(reason(CURLE_HTTP2_STREAM) { $0.detail = "not closed cleanly: PROTOCOL_ERROR" } == .badServerResponse)
    }

    @Test("A server that requests a certificate and closes a new connection causes a certificate error")
    func certificateRequests() {
        let early = [CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_SSL_CONNECT_ERROR]
        for code in early + [CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE] {
            for (hasCertificate, isNew) in [(true, true), (false, true), (true, false), (false, false)] {
                let found = reason(code) {
                    $0.requiresCertificate = true
                    $0.hasClientCertificate = hasCertificate
                    $0.isNewConnection = isNew
                }
                let expected: ImageError.NetworkFailure.Reason =
                    !isNew || (hasCertificate && !early.contains(code))
                    ? (code == CURLE_SSL_CONNECT_ERROR ? .secureConnectionFailed : .connectionLost)
                    : hasCertificate ? .clientCertificateRejected : .clientCertificateRequired
                #expect(found == expected, "\(code.rawValue) \(hasCertificate) \(isNew)")
            }
        }
        for (alert, expected) in [
            (116, ImageError.NetworkFailure.Reason.clientCertificateRequired), (40, .clientCertificateRequired),
            (42, .clientCertificateRejected), (48, .clientCertificateRejected), (80, .secureConnectionFailed),
        ] {
            let found = reason(CURLE_SSL_CONNECT_ERROR) {
                $0.requiresCertificate = true
                $0.alert = Int32(alert)
            }
            #expect(found == expected, "\(alert)")
        }
    }

    @Test("Only a connection that may have been closed suggests a new connection")
    func freshConnection() {
        let lost = [
            CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_PARTIAL_FILE,
        ]
        for code in lost { #expect(CurlFailure(code: code.rawValue).suggestsFreshConnection) }
        for code in [CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT, CURLE_SSL_CONNECT_ERROR] {
            #expect(!CurlFailure(code: code.rawValue).suggestsFreshConnection)
        }
        var refused = CurlFailure(code: CURLE_RECV_ERROR.rawValue)
        refused.proxyStatus = 407
        #expect(!refused.suggestsFreshConnection)
    }
}
