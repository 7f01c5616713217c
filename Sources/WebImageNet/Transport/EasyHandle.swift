// SPDX-License-Identifier: MIT

import CCurl
import Foundation
import WebImageCore

/// A libcurl easy handle. Only the network thread uses it.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private var lines: CurlHeaderList?

    /// The maximum total size of the buffers of all connections, in bytes. Larger buffers save system calls.
    private static let mostBufferBytes = 8 << 20

    /// Creates a handle. Returns `nil` if memory is exhausted.
    init?() {
        guard let pointer = wi_curl_easy_init() else { return nil }
        self.pointer = pointer
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        wi_curl_easy_cleanup(pointer)
        errorText.deallocate()
    }

    var errorDetail: String { String(cString: errorText) }

    func number(_ info: CURLINFO) -> Int {
        var value = 0
        return wi_curl_get_long(pointer, info, &value) == CURLE_OK ? value : 0
    }

    func offset(_ info: CURLINFO) -> Int {
        var value: curl_off_t = 0
        return wi_curl_get_offset(pointer, info, &value) == CURLE_OK ? Int(value) : 0
    }

    var socket: Int32? {
        var value: curl_socket_t = -1
        return wi_curl_get_socket(pointer, &value) == CURLE_OK && value >= 0 ? value : nil
    }

    func set(_ option: CURLoption, _ value: Int) { wi_curl_set_long(pointer, option, value) }
    func set(_ option: CURLoption, _ value: String) { wi_curl_set_string(pointer, option, value) }

    /// The multi handle keeps its connections and DNS cache. Without a reset, libcurl would report information about
    /// the previous transfer until the next one runs.
    func reset() {
        wi_curl_easy_reset(pointer)
        lines = nil
        errorText[0] = 0
    }

    /// Sets the options for a transfer, except for the callbacks, which ``TransferCallbacks`` sets.
    func prepare(
        _ transferRequest: TransferRequestBox, _ lines: CurlHeaderList, _ configuration: ImageDownloader.Configuration,
        proxy: String?
    ) {
        let request = transferRequest.request
        self.lines = lines
        prepareOptions(request, configuration, proxy: proxy)
        set(CURLOPT_URL, request.url)
        wi_curl_set_pointer(pointer, CURLOPT_HTTPHEADER, lines.list)
    }

    private func prepareOptions(
        _ request: TransferRequest, _ configuration: ImageDownloader.Configuration, proxy: String?
    ) {
        wi_curl_set_pointer(pointer, CURLOPT_ERRORBUFFER, errorText)
        // In a process with several threads, libcurl must not change signal handlers. `CurlLibrary` ignores SIGPIPE
        // instead.
        set(CURLOPT_NOSIGNAL, 1)
        // Otherwise, removing a transfer waits for its name resolution, which can block all transfers for seconds.
        set(CURLOPT_QUICK_EXIT, 1)
        let buffers = Self.mostBufferBytes / max(configuration.maxConnections, 1)
        set(CURLOPT_BUFFERSIZE, min(max(buffers, 16 << 10), 128 << 10))
        // libcurl supports other protocols, such as `file` and `ftp`, which no URL may reach.
        wi_curl_allow_http(pointer)
        // Redirects have rules of their own for secrets, caches, and policies, so each one is another transfer.
        set(CURLOPT_FOLLOWLOCATION, 0)
        // libcurl 7.88 accepts truncated compressed data and limits neither the decoded size nor the ratio.
        set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        // The header lines of a proxy would be parsed as those of the server.
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // The network thread measures the other timeouts, because libcurl only limits the average speed over seconds.
        set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(request.timeouts.connect))
        prepareMethod(request)
        prepareConnection(request, configuration)
        if let signature = request.awsSignature {
            set(CURLOPT_AWS_SIGV4, signature.curlValue)
            set(CURLOPT_USERNAME, signature.accessKeyID)
            set(CURLOPT_PASSWORD, signature.secretAccessKey)
        }
        // Set both options, or libcurl reads the environment.
        set(CURLOPT_PROXY, proxy ?? "")
        set(CURLOPT_NOPROXY, "")
    }

    private func prepareMethod(_ request: TransferRequest) {
        if request.method == "HEAD" {
            set(CURLOPT_NOBODY, 1)
        } else if request.method != "GET" || !request.body.isEmpty {
            // Set the size first, because libcurl copies that many bytes when it receives the body.
            set(CURLOPT_POSTFIELDSIZE, request.body.count)
            request.body.withUnsafeBytes { bytes in
                var nothing: UInt8 = 0
                withUnsafeMutablePointer(to: &nothing) { empty in
                    let base = bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) }
                    _ = wi_curl_set_pointer(pointer, CURLOPT_COPYPOSTFIELDS, base ?? UnsafeMutableRawPointer(empty))
                }
            }
            // The option for a body selects POST.
            set(CURLOPT_CUSTOMREQUEST, request.method)
        }
    }

    private func prepareConnection(_ request: TransferRequest, _ configuration: ImageDownloader.Configuration) {
        let isSecure = request.url.hasPrefix("https:")
        if isSecure, configuration.allowsHTTP2 {
            set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
            // Without this option, requests open further connections until the first one has negotiated HTTP/2.
            set(CURLOPT_PIPEWAIT, 1)
        } else {
            set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        }
        guard isSecure else { return }
        prepare(request.tls ?? configuration.tls, host: HostName(ofURL: request.url)?.text ?? "")
    }

    private func milliseconds(_ seconds: Double) -> Int {
        seconds.isFinite ? Int(min(max(seconds * 1000, 1), 1e9)) : 1_000_000_000
    }
}
