// SPDX-License-Identifier: MIT

import CCurl
import Foundation
import WebImageHTTP

/// One libcurl easy handle. Belongs to the network thread.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private var fieldList: UnsafeMutablePointer<curl_slist>?

    /// nil where there is no memory.
    init?() {
        guard let pointer = curl_easy_init() else { return nil }
        self.pointer = pointer
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(pointer)
        curl_slist_free_all(fieldList)
        errorText.deallocate()
    }

    /// libcurl's own words on what went wrong; empty where it had none.
    var errorDetail: String { String(cString: errorText) }

    func number(_ info: CURLINFO) -> Int {
        var value = 0
        return wi_curl_get_long(pointer, info, &value) == CURLE_OK ? value : 0
    }

    func offset(_ info: CURLINFO) -> Int {
        var value: curl_off_t = 0
        return wi_curl_get_offset(pointer, info, &value) == CURLE_OK ? Int(value) : 0
    }

    /// The descriptor of the connection this transfer has or had; nil where there is none.
    var socket: Int32? {
        var value: curl_socket_t = -1
        return wi_curl_get_socket(pointer, &value) == CURLE_OK && value >= 0 ? value : nil
    }

    func set(_ option: CURLoption, _ value: Int) { wi_curl_set_long(pointer, option, value) }
    func set(_ option: CURLoption, _ value: String) { wi_curl_set_string(pointer, option, value) }

    /// Forgets the last transfer's options; connections and names stay known to the multi handle.
    func reset() {
        curl_easy_reset(pointer)
        curl_slist_free_all(fieldList)
        fieldList = nil
        errorText[0] = 0
    }

    /// Sets what a transfer needs. `context` reaches the callbacks, which ``TransferCallbacks`` sets.
    func prepare(_ request: TransferRequest, _ configuration: DownloaderConfiguration, proxy: String?) {
        wi_curl_set_pointer(pointer, CURLOPT_ERRORBUFFER, errorText)
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_BUFFERSIZE, 64 << 10)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_URL, request.url)
        set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(request.timeouts.connect))
        prepareMethod(request)
        prepareConnection(request, configuration)
        // Both, or libcurl asks the environment.
        set(CURLOPT_PROXY, proxy ?? "")
        set(CURLOPT_NOPROXY, "")
        fieldList = Self.list(request.fields)
        if request.method != "GET", request.method != "HEAD", request.fields["Content-Type"] == nil {
            // libcurl would call every body a form.
            fieldList = Self.append("Content-Type:", to: fieldList)
        }
        wi_curl_set_pointer(pointer, CURLOPT_HTTPHEADER, fieldList)
    }

    private func prepareMethod(_ request: TransferRequest) {
        if request.method == "HEAD" {
            set(CURLOPT_NOBODY, 1)
        } else if request.method != "GET" || !request.body.isEmpty {
            set(CURLOPT_POSTFIELDSIZE, request.body.count)
            request.body.withUnsafeBytes { bytes in
                var nothing: UInt8 = 0
                withUnsafeMutablePointer(to: &nothing) { empty in
                    let base = bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) }
                    _ = wi_curl_set_pointer(pointer, CURLOPT_COPYPOSTFIELDS, base ?? UnsafeMutableRawPointer(empty))
                }
            }
            set(CURLOPT_CUSTOMREQUEST, request.method)
        }
    }

    private func prepareConnection(_ request: TransferRequest, _ configuration: DownloaderConfiguration) {
        let isSecure = request.url.hasPrefix("https:")
        if isSecure, configuration.allowsHTTP2 {
            set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
            set(CURLOPT_PIPEWAIT, 1)
        } else {
            set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        }
        guard isSecure else { return }
        let host = URL(string: request.url)?.host()?.lowercased() ?? ""
        prepare(request.tls ?? configuration.tls, host: host)
    }

    private func milliseconds(_ seconds: Double) -> Int {
        seconds.isFinite ? Int(min(max(seconds * 1000, 1), 1e9)) : 1_000_000_000
    }

    /// libcurl's list of field lines. An empty value needs its semicolon; `Expect:` keeps libcurl from waiting for
    /// a 100 before it sends a body.
    private static func list(_ fields: HTTPFields) -> UnsafeMutablePointer<curl_slist>? {
        var list: UnsafeMutablePointer<curl_slist>?
        for field in fields.lines {
            let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
            list = append(line, to: list)
        }
        return fields["Expect"] == nil ? append("Expect:", to: list) : list
    }

    private static func append(
        _ line: String, to list: UnsafeMutablePointer<curl_slist>?
    ) -> UnsafeMutablePointer<curl_slist>? {
        guard line.utf8.contains(where: { $0 >= 128 }) else { return curl_slist_append(list, line) ?? list }
        // Values are Latin-1: each scalar is one byte. What has none was refused before.
        let bytes = line.unicodeScalars.map { CChar(bitPattern: UInt8(truncatingIfNeeded: $0.value)) } + [0]
        return curl_slist_append(list, bytes) ?? list
    }
}
