// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageCore

/// The network options of a command, applied to the configuration of a manager.
package struct NetworkSetup: Sendable {
    package let arguments: NetworkArguments
    /// The web URLs on the command line. Credentials, certificates, pins, and `--insecure` apply only to their servers.
    private let urls: [URL]
    private let cookies: CookieJar?

    /// Creates a setup. Throws a ``UsageError`` if the proxy isn't valid, or if an option applies to servers on the
    /// command line but there's none. Blocks.
    package init(_ arguments: NetworkArguments, operands: [String]) throws(UsageError) {
        self.arguments = arguments
        urls = operands.compactMap { operand -> URL? in
            guard let url = try? Inputs.url(operand), let scheme = url.scheme?.lowercased() else { return nil }
            return ["http", "https"].contains(scheme) ? url : nil
        }
        cookies = arguments.cookieJar == nil ? nil : CookieJar()
        if let option = arguments.hostOption, urls.isEmpty {
            throw UsageError("--\(option) can only be used with a URL on the command line")
        }
        if let proxy = arguments.proxy, URLText.url(proxy)?.host() == nil {
            throw UsageError("--proxy: “\(URLCredentials.removed(from: proxy))” isn’t a URL")
        }
    }

    /// Changes the configuration of a manager as the options specify.
    package func apply(to configuration: inout ImageManager.Configuration) {
        apply(to: &configuration.downloader)
        configuration.limits = arguments.limits.imageLimits(configuration.limits)
        if arguments.limits.isolatesAllFormats { configuration.decoding.isolatesAllFormats = true }
        // The tool limits its own concurrency, so it needs no back-pressure.
        configuration.maxInFlightRequests = nil
        if arguments.isPublicOnly {
            // The address policy concerns the network only. The user chose the files.
            configuration.allowedSchemes = ["https", "http", "file", "data"]
            configuration.downloader.allowedSchemes = ["https", "http"]
        }
    }

    private func apply(to downloader: inout ImageDownloader.Configuration) {
        for field in arguments.headers { downloader.headers.append(name: field.name, value: field.value) }
        if let userAgent = arguments.userAgent { downloader.userAgent = userAgent }
        if let proxy = arguments.proxy.flatMap({ URLText.url($0) }) { downloader.proxy = .url(proxy) }
        if arguments.disablesProxy { downloader.proxy = .disabled }
        if let time = arguments.maxTime { downloader.timeout = .seconds(saturating: time) }
        if let time = arguments.connectTimeout { downloader.connectTimeout = .seconds(saturating: time) }
        if let count = arguments.retryCount {
            downloader.retry = count == 0 ? .never : RetryPolicy(maxAttempts: count + 1)
        }
        if let count = arguments.maxRedirects { downloader.maxRedirects = count }
        if arguments.isPublicOnly { downloader.addressPolicy = .publicOnly }
        if let cookies { downloader.cookieJar = cookies }
        if let user = arguments.user {
            let store = CredentialStore()
            for url in urls { store.setCredentials(user: user.name, password: user.password, for: url) }
            downloader.credentials = store
        }
        apply(to: &downloader.tls)
    }

    private func apply(to tls: inout TLSOptions) {
        if let path = arguments.trustRoots { tls.trustRoots = .file(URL(filePath: path).absoluteURL) }
        let hosts = Set(urls.compactMap { HostName(of: $0)?.text })
        if arguments.isInsecure { tls.insecureHosts = hosts }
        tls.insecureHosts.formUnion(arguments.insecureHosts.map(\.text))
        if let path = arguments.certificate {
            let certificate = URL(filePath: path).absoluteURL
            let key = arguments.privateKey.map { URL(filePath: $0).absoluteURL } ?? certificate
            for host in hosts { tls.clientCertificates[host] = .files(certificate: certificate, privateKey: key) }
        }
        if !arguments.pinnedKeys.isEmpty {
            for host in hosts { tls.pinnedPublicKeys[host] = Set(arguments.pinnedKeys) }
        }
    }

    /// Checks the files of certificates and keys, and reads the cookies of `--cookie-jar` if the file exists. Call this
    /// method once, before the first connection. Blocks.
    ///
    /// - Returns: The option whose file can't be used and the reason, or `nil` if all files can be used.
    package func prepare() -> (option: String, error: ImageError)? {
        let steps: [(option: String, step: () throws(ImageError) -> Void)] = [
            ("cacert", { () throws(ImageError) in try check(arguments.trustRoots, contains: .certificate) }),
            ("cert", { () throws(ImageError) in try check(arguments.certificate, contains: .certificate) }),
            ("key", { () throws(ImageError) in try check(arguments.privateKey, contains: .privateKey) }),
            (
                "cert",
                { () throws(ImageError) in
                    if arguments.privateKey == nil { try check(arguments.certificate, contains: .privateKey) }
                }
            ),
            ("cookie-jar", loadCookies),
        ]
        for (option, step) in steps {
            do throws(ImageError) {
                try step()
            } catch {
                return (option, error)
            }
        }
        return nil
    }

    /// Throws an error if a file can't be read or doesn't contain data of a kind.
    private func check(_ path: String?, contains kind: PEMKind) throws(ImageError) {
        guard let path else { return }
        let text = String(decoding: try ImageFile.contents(of: path, limit: 16 << 20), as: UTF8.self)
        guard !kind.isIn(text) else { return }
        let remedy = kind == .privateKey && arguments.privateKey == nil ? " (use --key)" : ""
        throw .request(.rejected(reason: "the file \(path) contains no \(kind.rawValue) in the PEM format\(remedy)"))
    }

    private func loadCookies() throws(ImageError) {
        guard let cookies, let path = arguments.cookieJar, FileManager.default.fileExists(atPath: path) else { return }
        try cookies.load(from: URL(filePath: path).absoluteURL)
    }

    /// Writes the cookies to the file of `--cookie-jar`. Throws an ``ImageError`` if it can't be written. Blocks.
    package func saveCookies() throws(ImageError) {
        guard let cookies, let path = arguments.cookieJar else { return }
        try cookies.save(to: URL(filePath: path).absoluteURL)
    }
}

/// The kinds of data in PEM files (RFC 7468) that the options name.
private enum PEMKind: String {
    case certificate
    case privateKey = "private key"

    func isIn(_ text: String) -> Bool {
        switch self {
        // OpenSSL also accepts older labels, such as “TRUSTED CERTIFICATE” and “EC PRIVATE KEY”.
        case .certificate: text.contains(/-----BEGIN ([A-Z0-9]+ )*CERTIFICATE-----/)
        case .privateKey: text.contains(/-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY-----/)
        }
    }
}
