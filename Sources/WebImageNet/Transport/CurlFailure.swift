// SPDX-License-Identifier: MIT

import CCurl
import Glibc
import WebImageCore

/// What is known of a transfer that libcurl gave up. A pure value, judged by ``reason``.
struct CurlFailure: Sendable {
    /// CURLcode.
    var code: UInt32
    /// CURLINFO_OS_ERRNO.
    var systemError: Int32 = 0
    /// CURLINFO_SSL_VERIFYRESULT: OpenSSL's X509_V_ERR_ numbers.
    var verifyResult = 0
    /// CURLINFO_HTTP_CONNECTCODE.
    var proxyStatus = 0
    /// Whether the connection goes to a proxy as far as is known.
    var usesProxy = false
    /// Whether libcurl ended the connection while the server still held it.
    var isEndedHere = false
    /// libcurl's words.
    var detail = ""

    /// Whether one more try on a fresh connection is due where nothing came: the kept connection may have been dead.
    var suggestsFreshConnection: Bool {
        switch CURLcode(code) {
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            reason == .connectionLost
        default: false
        }
    }

    /// libcurl's code as one of ours.
    var reason: NetworkError.Reason {
        switch CURLcode(code) {
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: .proxyFailed
        case CURLE_COULDNT_RESOLVE_HOST: .cannotFindHost
        case CURLE_COULDNT_CONNECT: connectReason
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_OUT_OF_MEMORY: .badServerResponse
        case CURLE_HTTP2, CURLE_PARTIAL_FILE: .connectionLost
        // libcurl ends an HTTP/2 connection whose rules are broken, and says no more than that nothing came.
        case CURLE_GOT_NOTHING: isEndedHere ? .badServerResponse : .connectionLost
        case CURLE_HTTP2_STREAM: detail.contains("PROTOCOL_ERROR") ? .badServerResponse : .connectionLost
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR: lostReason
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER: wantsCertificate ? .clientCertificateRequired : secureReason
        case CURLE_SSL_CACERT_BADFILE: .secureConnectionFailed
        case CURLE_SSL_CERTPROBLEM: .clientCertificateRejected
        case CURLE_SSL_CLIENTCERT: .clientCertificateRequired
        case CURLE_PEER_FAILED_VERIFICATION: certificateReason
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS: .certificateUntrusted
        case CURLE_BAD_CONTENT_ENCODING: .contentCodingFailed
        case CURLE_LOGIN_DENIED, CURLE_AUTH_ERROR: .authenticationRequired
        default: .other
        }
    }

    private var connectReason: NetworkError.Reason {
        if usesProxy { return .proxyFailed }
        switch systemError {
        case ENETUNREACH, ENETDOWN: return .offline
        case ETIMEDOUT: return .timedOut
        default: return .cannotConnect
        }
    }

    private var lostReason: NetworkError.Reason {
        if proxyStatus == 407 { return .authenticationRequired }
        if proxyStatus >= 300 { return .proxyFailed }
        if wantsCertificate { return .clientCertificateRequired }
        if detail.contains("chunked") || detail.contains("response headers") { return .badServerResponse }
        return .connectionLost
    }

    private var secureReason: NetworkError.Reason { usesProxy ? .proxyFailed : .secureConnectionFailed }

    /// TLS 1.3 tells after the handshake, as an alert.
    private var wantsCertificate: Bool { detail.contains("certificate required") }

    /// X509_V_ERR_ numbers of OpenSSL 3: 9 not yet valid, 10 expired, 20 and 21 unknown issuer.
    private var certificateReason: NetworkError.Reason {
        switch verifyResult {
        case 9: .certificateNotYetValid
        case 10: .certificateExpired
        case 19, 20, 21: .certificateUnknownRoot
        default: .certificateUntrusted
        }
    }
}
