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
    /// Whether it is the proxy that answers: plain http by an HTTP proxy.
    var proxyAnswers = false
    /// Whether it happened before a proxy that is spoken to by TLS could be asked for anything.
    var isProxyTLS = false
    /// Whether a certificate of ours may have been shown.
    var hasClientCertificate = false
    /// Whether this machine has a way to anywhere.
    var hasRoute = true
    /// Whether libcurl ended the HTTP/2 connection while the server still held it.
    var isEndedHere = false
    /// The last TLS alert of the server but close_notify.
    var alert: Int32?
    /// A Boolean value that indicates whether the server requested a certificate.
    var wantsCertificate = false
    /// A Boolean value that indicates whether nothing came over a connection that was opened for this transfer.
    var isNewConnection = false
    /// libcurl's words.
    var detail = ""

    /// A Boolean value that indicates whether the connection may have been lost.
    var isLost: Bool {
        switch CURLcode(code) {
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_HTTP2_STREAM,
            CURLE_PARTIAL_FILE:
            true
        default: false
        }
    }

    /// Whether one more try on a fresh connection is due where nothing came: the kept connection may have been dead.
    var suggestsFreshConnection: Bool {
        isLost && (reason == .connectionLost || (CURLcode(code) == CURLE_GOT_NOTHING && proxyAnswers))
    }

    /// libcurl's code as one of ours.
    var reason: NetworkError.Reason {
        switch CURLcode(code) {
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: .proxyFailed
        case CURLE_COULDNT_RESOLVE_HOST: hasRoute || usesProxy ? .cannotFindHost : .offline
        case CURLE_COULDNT_CONNECT: connectReason
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_OUT_OF_MEMORY: .badServerResponse
        case CURLE_HTTP2, CURLE_PARTIAL_FILE: clientCertificateReason ?? .connectionLost
        // libcurl ends an HTTP/2 connection whose rules are broken, and says no more than that nothing came.
        case CURLE_GOT_NOTHING: proxyAnswers ? .proxyFailed : clientCertificateReason ?? nothingReason
        case CURLE_HTTP2_STREAM: detail.contains("PROTOCOL_ERROR") ? .badServerResponse : .connectionLost
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR: lostReason
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER: clientCertificateReason ?? secureReason
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
        case EHOSTUNREACH: return hasRoute ? .cannotConnect : .offline
        case ETIMEDOUT: return .timedOut
        default: return .cannotConnect
        }
    }

    private var nothingReason: NetworkError.Reason { isEndedHere ? .badServerResponse : .connectionLost }

    private var lostReason: NetworkError.Reason {
        // tinyproxy calls a wrong password 401, a missing one 407.
        if proxyStatus == 407 || proxyStatus == 401 { return .authenticationRequired }
        if proxyStatus >= 300 || detail.contains("Proxy CONNECT aborted") { return .proxyFailed }
        if let clientCertificateReason { return clientCertificateReason }
        if isProxyTLS { return .proxyFailed }
        if detail.contains("chunked") || detail.contains("response headers") { return .badServerResponse }
        return .connectionLost
    }

    private var secureReason: NetworkError.Reason { isProxyTLS ? .proxyFailed : .secureConnectionFailed }

    /// What an alert of the server says of our certificate; TLS 1.3 sends it after the handshake. nil where the
    /// alert is about something else.
    private var clientCertificateReason: NetworkError.Reason? {
        if let reason = alert.flatMap(certificateReason) { return reason }
        if detail.contains("alert certificate required") { return .clientCertificateRequired }
        let refusals = [
            "alert unknown ca", "alert bad certificate", "alert certificate unknown", "alert certificate expired",
            "alert certificate revoked", "alert unsupported certificate", "alert access denied",
        ]
        if refusals.contains(where: detail.contains) { return .clientCertificateRejected }
        // The server says why it refuses and hangs up, which can reach this machine before the reason was read.
        let isEarly = [CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_SSL_CONNECT_ERROR].contains(CURLcode(code))
        if wantsCertificate, isNewConnection, isEarly, alert == nil {
            return hasClientCertificate ? .clientCertificateRejected : .clientCertificateRequired
        }
        // Before TLS 1.3 servers have no word for a certificate that is missing.
        return detail.contains("alert handshake failure") && hasClientCertificate ? .clientCertificateRejected : nil
    }

    /// What an alert (RFC 8446 6.2) says of our certificate; `nil` if it's about something else.
    private func certificateReason(_ alert: Int32) -> NetworkError.Reason? {
        switch alert {
        case 116: .clientCertificateRequired
        // Before TLS 1.3 servers have no word for a certificate that is missing.
        case 40 where wantsCertificate: hasClientCertificate ? .clientCertificateRejected : .clientCertificateRequired
        case 42...46, 48, 49: .clientCertificateRejected
        default: nil
        }
    }

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
