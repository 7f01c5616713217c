// SPDX-License-Identifier: MIT

import CCurl
import Glibc
import WebImageCore

/// The facts about a transfer that failed in libcurl. The ``reason`` property interprets them.
struct CurlFailure: Sendable {
    /// The `CURLcode` value.
    var code: UInt32
    /// The value of `CURLINFO_OS_ERRNO`.
    var systemError: Int32 = 0
    /// The value of `CURLINFO_SSL_VERIFYRESULT`, which is one of OpenSSL's `X509_V_ERR_` codes.
    var verifyResult = 0
    /// The value of `CURLINFO_HTTP_CONNECTCODE`.
    var proxyStatus = 0
    var usesProxy = false
    /// Whether responses come from the proxy, as with plain `http` over an HTTP proxy.
    var proxyResponded = false
    /// Whether the transfer failed before an HTTPS proxy could receive a request.
    var isProxyTLS = false
    /// Whether a client certificate may have been sent.
    var hasClientCertificate = false
    /// Whether this machine has a route to the Internet.
    var hasRoute = true
    /// Whether libcurl closed the HTTP/2 connection while the server still had it open.
    var isEndedHere = false
    /// The last TLS alert of the server other than `close_notify`.
    var alert: Int32?
    var requiresCertificate = false
    /// Whether the server hasn't responded to any request over the connection.
    var isNewConnection = false
    var detail = ""

    /// Whether the connection may have been interrupted.
    var isConnectionLost: Bool {
        switch CURLcode(code) {
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_HTTP2_STREAM,
            CURLE_PARTIAL_FILE:
            true
        default: false
        }
    }

    /// If nothing was received, the reused connection may have been closed.
    var suggestsFreshConnection: Bool {
        isConnectionLost && (reason == .connectionLost || (CURLcode(code) == CURLE_GOT_NOTHING && proxyResponded))
    }

    var reason: ImageError.NetworkFailure.Reason {
        switch CURLcode(code) {
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: .proxyFailed
        case CURLE_COULDNT_RESOLVE_HOST: hasRoute || usesProxy ? .cannotFindHost : .offline
        case CURLE_COULDNT_CONNECT: connectReason
        // The scheme was checked before, so the first code means that the response isn't HTTP. libcurl also reports
        // header lines of more than 100 KB as exhausted memory.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_OUT_OF_MEMORY: .badServerResponse
        case CURLE_HTTP2, CURLE_PARTIAL_FILE: clientCertificateReason ?? .connectionLost
        // If the server violates the HTTP/2 protocol, libcurl closes the connection and reports only that nothing was
        // received.
        case CURLE_GOT_NOTHING: proxyResponded ? .proxyFailed : clientCertificateReason ?? nothingReason
        // Only the text contains the error code of the stream.
        case CURLE_HTTP2_STREAM: detail.contains("PROTOCOL_ERROR") ? .badServerResponse : .connectionLost
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR: connectionLostReason
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER: clientCertificateReason ?? secureReason
        case CURLE_SSL_CACERT_BADFILE: .secureConnectionFailed
        case CURLE_SSL_CERTPROBLEM: .clientCertificateRejected
        case CURLE_SSL_CLIENTCERT: .clientCertificateRequired
        case CURLE_PEER_FAILED_VERIFICATION: certificateReason
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS: .certificateUntrusted
        case CURLE_BAD_CONTENT_ENCODING: .contentDecodingFailed
        case CURLE_LOGIN_DENIED, CURLE_AUTH_ERROR: .authenticationRequired
        default: .other
        }
    }

    private var connectReason: ImageError.NetworkFailure.Reason {
        if usesProxy { return .proxyFailed }
        switch systemError {
        case ENETUNREACH, ENETDOWN: return .offline
        case EHOSTUNREACH: return hasRoute ? .cannotConnect : .offline
        case ETIMEDOUT: return .timedOut
        default: return .cannotConnect
        }
    }

    private var nothingReason: ImageError.NetworkFailure.Reason { isEndedHere ? .badServerResponse : .connectionLost }

    private var connectionLostReason: ImageError.NetworkFailure.Reason {
        // tinyproxy sends 401 for a wrong password and 407 for a missing one.
        if proxyStatus == 407 || proxyStatus == 401 { return .authenticationRequired }
        if proxyStatus >= 300 || detail.contains("Proxy CONNECT aborted") { return .proxyFailed }
        // libcurl reports these violations of HTTP with the code of a lost connection.
        if detail.contains("chunked") || detail.contains("response headers") { return .badServerResponse }
        if let clientCertificateReason { return clientCertificateReason }
        return isProxyTLS ? .proxyFailed : .connectionLost
    }

    private var secureReason: ImageError.NetworkFailure.Reason { isProxyTLS ? .proxyFailed : .secureConnectionFailed }

    /// The error reason if the server's TLS alert concerns the client certificate, or `nil` for other alerts. In TLS
    /// 1.3, the alert arrives after the handshake.
    private var clientCertificateReason: ImageError.NetworkFailure.Reason? {
        if let reason = alert.flatMap(certificateReason) { return reason }
        if detail.contains("alert certificate required") { return .clientCertificateRequired }
        let refusals = [
            "alert unknown ca", "alert bad certificate", "alert certificate unknown", "alert certificate expired",
            "alert certificate revoked", "alert unsupported certificate", "alert access denied",
        ]
        if refusals.contains(where: detail.contains) { return .clientCertificateRejected }
        let isProtocolError = CURLcode(code) == CURLE_GOT_NOTHING && isEndedHere
        if requiresCertificate, isNewConnection, alert == nil, !isProtocolError {
            // Some servers close the connection without an alert if they requested a certificate and received none.
            if !hasClientCertificate { return .clientCertificateRequired }
            // The server sends an alert and closes the connection, and the close may be detected before the alert is read.
            let isEarly = [CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_SSL_CONNECT_ERROR].contains(CURLcode(code))
            if isEarly { return .clientCertificateRejected }
        }
        // Before TLS 1.3, there was no alert for a missing certificate.
        return detail.contains("alert handshake failure") && hasClientCertificate ? .clientCertificateRejected : nil
    }

    /// Returns the error reason if an alert (RFC 8446 6.2) concerns the client certificate, or `nil` for other alerts.
    private func certificateReason(_ alert: Int32) -> ImageError.NetworkFailure.Reason? {
        switch alert {
        case 116: .clientCertificateRequired
        // Before TLS 1.3, there was no alert for a missing certificate.
        case 40 where requiresCertificate:
            hasClientCertificate ? .clientCertificateRejected : .clientCertificateRequired
        case 42...46, 48, 49: .clientCertificateRejected
        default: nil
        }
    }

    /// The error reason for a code of OpenSSL 3: 9 means not yet valid, 10 expired, and 19 to 21 an unknown issuer.
    private var certificateReason: ImageError.NetworkFailure.Reason {
        switch verifyResult {
        case 9: .certificateNotYetValid
        case 10: .certificateExpired
        case 19, 20, 21: .certificateUnknownAuthority
        default: .certificateUntrusted
        }
    }
}

extension CurlFailure {
    init(_ transfer: Transfer, _ handle: EasyHandle, _ code: CURLcode, _ defaultTLS: TLSOptions) {
        self.init(code: code.rawValue)
        systemError = Int32(truncatingIfNeeded: handle.number(CURLINFO_OS_ERRNO))
        verifyResult = handle.number(CURLINFO_SSL_VERIFYRESULT)
        proxyStatus = handle.number(CURLINFO_HTTP_CONNECTCODE)
        if let proxy = transfer.proxy {
            let isPlain = transfer.request.url.hasPrefix("http:")
            usesProxy = true
            proxyResponded = proxy.isHTTP && isPlain
            isProxyTLS =
                proxy.isSecure && proxyStatus == 0 && handle.offset(CURLINFO_PRETRANSFER_TIME_T) == 0
        }
        if isProxyTLS { verifyResult = handle.number(CURLINFO_PROXY_SSL_VERIFYRESULT) }
        if code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT {
            hasRoute = NetworkReachability.exist
        }
        hasClientCertificate = transfer.hasClientCertificate(defaultTLS)
        let tls = transfer.connection?.tls ?? transfer.tls
        alert = tls?.alert
        requiresCertificate = tls?.requiresCertificate ?? false
        if !transfer.hasBytes, let connection = transfer.connection ?? transfer.opened {
            isNewConnection = connection.responses == 0 && connection.lastProcessedStream == nil
        }
        // An orderly close comes from the server, not from libcurl. For protocol errors in HTTP/1, libcurl reports
        // specific errors.
        isEndedHere =
            transfer.opened?.wasEndedHere == true && tls?.hasEnded != true && tls?.isHTTP2 != false
            && transfer.opened?.lastProcessedStream == nil
        let words = handle.errorDetail.isEmpty ? String(cString: wi_curl_message(code)) : handle.errorDetail
        detail = isProxyTLS ? "proxy: \(words)" : words
    }
}
