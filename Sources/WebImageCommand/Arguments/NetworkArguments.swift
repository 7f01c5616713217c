// SPDX-License-Identifier: MIT

import WebImageCore

extension OptionSpec {
    /// The network options, for commands that accept URLs. Names and letters are those of curl.
    package static let network = [
        OptionSpec(
            "header", letter: "H", value: "NAME:VALUE",
            help: "Send this header field, such as \"Accept: image/webp\". The option can be repeated."),
        OptionSpec("user-agent", letter: "A", value: "NAME", help: "Value of the User-Agent header field."),
        OptionSpec(
            "user", letter: "u", value: "USER[:PASSWORD]",
            help: "Credentials for the servers of the URLs on the command line (Basic or Digest)."),
        OptionSpec(
            "proxy", letter: "x", value: "URL",
            help: "Proxy: http://, https://, or socks5h://. By default, environment variables select the proxy."),
        OptionSpec("noproxy", help: "Don’t use a proxy, not even that of the environment."),
        OptionSpec(
            "max-time", letter: "m", value: "SECONDS", aliases: ["timeout"],
            help: "Timeout for each load, including redirects (60 by default). --timeout is the same."),
        OptionSpec(
            "connect-timeout", value: "SECONDS", help: "Timeout for establishing a connection (10 by default)."),
        OptionSpec("retry", value: "N", help: "Number of retries after transient failures (2 by default, 0 for none)."),
        OptionSpec("max-redirs", value: "N", help: "Maximum number of redirects, 0 to 20 (20 by default)."),
        OptionSpec("cacert", value: "FILE", help: "Trust only the certificate authorities in this PEM file."),
        OptionSpec(
            "cert", letter: "E", value: "FILE",
            help: "Client certificate (PEM) for the servers of the URLs on the command line."),
        OptionSpec("key", value: "FILE", help: "Private key of the client certificate (PEM), if it’s a separate file."),
        OptionSpec(
            "pinnedpubkey", value: "HASH",
            help: "Accept only this public key (sha256//BASE64) from the servers of the URLs on the command line. The "
                + "option can be repeated."),
        OptionSpec(
            "insecure", letter: "k",
            help: "Don’t check the certificates of the servers of the URLs on the command line."),
        OptionSpec(
            "insecure-host", value: "HOST",
            help: "Don’t check the certificate of this server. The option can be repeated."),
        OptionSpec(
            "cookie-jar", letter: "c", value: "FILE",
            help: "Read cookies from this file, and write them to it at the end."),
        OptionSpec("public-only", help: "Connect only to public IP addresses, and use no proxy."),
    ]
    /// The options of every command that reads images from URLs.
    package static let loading = network + limits
}

/// The values of the network options.
package struct NetworkArguments: Sendable {
    /// A user name and a password.
    package struct User: Sendable, Hashable {
        package let name: String
        package let password: String
    }

    /// The header fields, in order.
    package private(set) var headers: [(name: String, value: String)] = []
    package let userAgent: String?
    package let user: User?
    /// The URL of the proxy, with a scheme.
    package let proxy: String?
    package let disablesProxy: Bool
    /// The timeouts in seconds.
    package let maxTime: Double?
    package let connectTimeout: Double?
    /// The number of retries after the first attempt.
    package let retryCount: Int?
    package let maxRedirects: Int?
    /// The paths of PEM files.
    package let trustRoots: String?
    package let certificate: String?
    package let privateKey: String?
    package let pinnedKeys: [String]
    package let isInsecure: Bool
    /// The hosts whose certificates aren't checked.
    package private(set) var insecureHosts: Set<HostName> = []
    /// The path of the cookie file.
    package let cookieJar: String?
    package let isPublicOnly: Bool
    /// The limits for images.
    package let limits: LimitArguments

    package init(_ arguments: Arguments) throws(UsageError) {
        userAgent = arguments.last("user-agent")
        user = arguments.last("user").map { text in
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return User(name: parts[0], password: parts.count > 1 ? parts[1] : "")
        }
        proxy = arguments.last("proxy").map { $0.contains("://") ? $0 : "http://\($0)" }
        disablesProxy = arguments.has("noproxy")
        maxTime = try arguments.seconds("max-time", defaultUnit: "s")
        connectTimeout = try arguments.seconds("connect-timeout", defaultUnit: "s")
        retryCount = try arguments.integer("retry", in: 0...100)
        maxRedirects = try arguments.integer("max-redirs", in: 0...20)
        trustRoots = arguments.last("cacert")
        certificate = arguments.last("cert")
        privateKey = arguments.last("key")
        pinnedKeys = arguments.values["pinnedpubkey"] ?? []
        isInsecure = arguments.has("insecure")
        cookieJar = arguments.last("cookie-jar")
        isPublicOnly = arguments.has("public-only")
        limits = try LimitArguments(arguments)
        for text in arguments.values["header"] ?? [] { headers.append(try Self.header(text)) }
        for text in arguments.values["insecure-host"] ?? [] { insecureHosts.insert(try Self.host(text)) }
        try checkCombinations()
    }

    private func checkCombinations() throws(UsageError) {
        if proxy != nil, disablesProxy { throw UsageError("--proxy and --noproxy can’t be combined") }
        if proxy != nil, isPublicOnly { throw UsageError("--proxy and --public-only can’t be combined") }
        if privateKey != nil, certificate == nil { throw UsageError("--key can only be used with --cert") }
        if maxTime == 0 { throw UsageError("--max-time: the value must be greater than 0") }
        if connectTimeout == 0 { throw UsageError("--connect-timeout: the value must be greater than 0") }
    }

    /// The first specified option that applies only to servers on the command line, or `nil` if there's none.
    package var hostOption: String? {
        if user != nil { return "user" }
        if certificate != nil { return "cert" }
        if !pinnedKeys.isEmpty { return "pinnedpubkey" }
        return isInsecure ? "insecure" : nil
    }

    /// Parses a host name or an IP address. A URL and a port aren't accepted, because an exception for a host that no
    /// connection has would have no effect.
    private static func host(_ text: String) throws(UsageError) -> HostName {
        guard let host = HostName(text) else {
            throw UsageError(
                "--insecure-host: “\(text)” isn’t valid (specify a host name or an IP address without a scheme and a port)"
            )
        }
        return host
    }

    /// Parses a header field such as `Accept: image/webp`.
    private static func header(_ text: String) throws(UsageError) -> (name: String, value: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let isToken = parts[0].utf8.allSatisfy { byte in
            (0x21...0x7E).contains(byte) && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
        }
        let isText = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F || $0 == "\t" }
        guard parts.count == 2, !parts[0].isEmpty, isToken, isText else {
            throw UsageError("--header: “\(text)” isn’t valid (use the form NAME: VALUE)")
        }
        let value = parts[1].drop { $0 == " " || $0 == "\t" }
        return (String(parts[0]), String(value))
    }
}
