// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImage

/// The settings of the program `webimage-serve`, which come from a file, from the environment, and from options.
package struct ServiceSettings: Sendable {
    /// The reason why the settings aren't valid.
    package struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
        /// A message that names the setting, the problem, and the remedy.
        package let description: String

        /// Creates an error.
        package init(_ description: String) { self.description = description }
    }

    /// The address to listen on: `HOST:PORT`, `:PORT`, or `unix:PATH`. The default is `:8080`.
    package var address = ":8080"
    /// The settings of the handler, without keys.
    package var handler = ImageServer.Configuration()
    /// The settings of the service.
    package var service = ImageService.Configuration()
    /// The settings of the manager.
    package var manager = ImageManager.Configuration.server
    /// The hexadecimal keys of signatures.
    package var keys: [String] = []
    /// The hexadecimal salts of ``keys``.
    package var salts: [String] = []
    /// The file of the watermark, or an empty string for none.
    package var watermarkPath = ""
    /// The opacity of the watermark. The default is 1.
    package var watermarkOpacity = 1.0
    /// The settings of S3-compatible storage.
    package var s3 = S3Settings()
    /// The memcached servers, as `HOST:PORT`.
    package var memcachedServers: [String] = []
    /// The secret that authenticates values in memcached, or `nil`.
    package var memcachedSecret: String?
    /// The number of seconds for which the machines of a fleet wait for the one that loads an image, or 0 if they don’t
    /// wait. The default is 0.
    package var memcachedLease = 0
    /// The number of milliseconds after which a request also contacts the origin, or `nil` for the default.
    package var memcachedLookupTimeout: Int?
    /// The number of seconds for which memcached keeps an image, or `nil` for the default.
    package var memcachedLifetime: Int?
    /// The quality of formats without a quality of their own, or `nil` for the default.
    var quality: Int?
    var formatQualities: [ImageFormat: Int] = [:]
    /// The kinds of addresses that sources may have in addition to public ones.
    var specialAddresses: ImageDownloader.Configuration.AddressPolicy.SpecialAddresses = []
    /// The directory of the disk cache, an empty string for none, or `nil` for the default directory.
    package var cacheDirectory: String?
    /// The size of the disk cache in bytes, or `nil` for the default.
    package var cacheSize: Int?
    /// The maximum number of connections, or 0 for ``unlimitedConnections``. The default is 4,096.
    package var maxConnections = 4_096
    /// The maximum number of connections of one address, or `nil` for 256 without trusted proxies and no limit with
    /// trusted proxies.
    package var maxConnectionsPerClient: Int?
    /// The time in seconds after which a silent connection is closed. The default is 15.
    package var connectionTimeout = 15
    /// The number of seconds for running requests after SIGTERM. The default is 20.
    package var drainTimeout = 20
    /// Whether requests are logged. The default is `true`.
    package var logsRequests = true

    private init() { manager.downloader.maxStartsPerSecond = nil }

    /// Reads the settings. Options are more important than the environment, which is more important than the file.
    ///
    /// - Parameters:
    ///   - arguments: The options, as `--name=value` or `--name value`.
    ///   - environment: The environment variables.
    ///   - readFile: A closure that returns the text of the file of `--config` or `WEBIMAGE_CONFIG`.
    package init(
        arguments: [String], environment: [String: String], readFile: (String) throws -> String
    ) throws(Invalid) {
        self.init()
        let options = try Self.options(arguments)
        let name = "WEBIMAGE_CONFIG"
        let option = options.last { $0.name == name }
        if let path = option?.value ?? environment[name] {
            let text: String
            do {
                text = try readFile(path)
            } catch {
                throw Invalid("\(option == nil ? name : "--config"): can’t read \(path) (\(error))")
            }
            for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                try apply(line: line.trimmingCharacters(in: .whitespaces), "\(path):\(number + 1)")
            }
        }
        for setting in Self.table {
            if let value = environment[setting.name] { try setting.apply(value, to: &self, setting.name) }
        }
        for option in options {
            guard let setting = Self.table.first(where: { $0.name == option.name }) else { continue }
            try setting.apply(option.value, to: &self, setting.option)
        }
        try finish()
    }

    /// Returns the text of a file with settings. The description of the error is only the reason.
    package static func text(ofFile path: String) throws(Invalid) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Invalid(String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count == 0 { break }
            if count > 0 {
                bytes += buffer[..<count]
            } else if errno != EINTR {
                throw Invalid(String(cString: strerror(errno)))
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Invalid("the file isn’t UTF-8 text") }
        return text
    }

    private mutating func apply(line: String, _ place: String) throws(Invalid) {
        guard !line.isEmpty, !line.hasPrefix("#") else { return }
        guard let equals = line.firstIndex(of: "=") else {
            throw Invalid("\(place): a line must have the form KEY=VALUE")
        }
        let name = line[..<equals].trimmingCharacters(in: .whitespaces)
        var value = line[line.index(after: equals)...].trimmingCharacters(in: .whitespaces)
        if value.count >= 2, let mark = value.first, mark == "\"" || mark == "'", value.last == mark {
            value = String(value.dropFirst().dropLast())
        }
        guard let setting = Self.table.first(where: { $0.name == name }) else {
            throw Invalid("\(place): there’s no setting \(name) (see --help)")
        }
        try setting.apply(value, to: &self, "\(place): \(name)")
    }

    private static func options(_ arguments: [String]) throws(Invalid) -> [(name: String, value: String)] {
        var result: [(name: String, value: String)] = []
        var rest = arguments[...]
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let setting = table.first(where: { $0.option == parts[0] }) else {
                throw Invalid("\(parts[0]): there’s no such option (see --help)")
            }
            if parts.count == 2 {
                result.append((setting.name, parts[1]))
            } else if setting.isFlag {
                result.append((setting.name, "1"))
            } else if let value = rest.popFirst() {
                result.append((setting.name, value))
            } else {
                throw Invalid("\(word): the value is missing (use \(word)=VALUE)")
            }
        }
        return result
    }

    private mutating func finish() throws(Invalid) {
        guard keys.count == salts.count else {
            throw Invalid(
                "IMGPROXY_KEY: there are \(keys.count) keys and \(salts.count) salts (set one salt for each key)")
        }
        for (key, salt) in zip(keys, salts) {
            guard let pair = URLSigningKey(key: key, salt: salt) else {
                throw Invalid(
                    "IMGPROXY_KEY: a key or its salt isn’t hexadecimal (for example, use `openssl rand -hex 32`)")
            }
            handler.signingKeys.append(pair)
        }
        let isRestricted = !keys.isEmpty || handler.allowedSources != nil || handler.isOpenProxy
        guard isRestricted else {
            throw Invalid(
                "every client could load every URL through this server (set IMGPROXY_KEY and IMGPROXY_SALT, or "
                    + "IMGPROXY_ALLOWED_SOURCES, or WEBIMAGE_OPEN_PROXY=1)")
        }
        finishAddresses()
        if maxConnections == 0 { maxConnections = unlimitedConnections }
        // As in imgproxy, WebP, AVIF, and JPEG XL have qualities of their own by default.
        if let quality { for format in [ImageFormat.jpeg, .heif] { handler.defaultQualities[format] = quality } }
        handler.defaultQualities.merge(formatQualities) { $1 }
        handler.s3 = try s3.storage()
        if !watermarkPath.isEmpty {
            do {
                handler.watermark = ServerWatermark(data: try Data(contentsOf: URL(filePath: watermarkPath)))
            } catch {
                throw Invalid("IMGPROXY_WATERMARK_PATH: can’t read \(watermarkPath)")
            }
        }
        handler.watermark?.opacity = watermarkOpacity
        if let path = cacheDirectory {
            manager.diskCache =
                path.isEmpty
                ? nil : DiskCache.Configuration(directory: URL(filePath: path, directoryHint: .isDirectory))
        }
        if let cacheSize { manager.diskCache?.sizeLimit = cacheSize }
        if handler.localDirectory != nil { manager.allowedSchemes?.insert("file") }
        finishDownloads()
    }

    /// A request that waits for another server occupies a worker, and it needs time for its download afterward. So it waits
    /// for up to half of the timeout, and a longer delay is passed on to the client immediately.
    private mutating func finishDownloads() {
        var retry = manager.downloader.retry
        retry.maxRetryAfter = min(retry.maxRetryAfter, service.timeout / 2)
        retry.maxElapsedTime = min(retry.maxElapsedTime, service.timeout)
        manager.downloader.retry = retry
        // The handler must be complete, because its storage is an exception.
        manager.downloader.redirectHandler = handler.redirectHandler
    }

    /// The number of connections that the limit of open files allows, in addition to those of downloads and files.
    private var unlimitedConnections: Int {
        var files = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
        let limit = Int(min(files.rlim_cur, 1_000_000))
        return max(64, limit - manager.downloader.maxConnections - 256)
    }

    /// Applies the settings of imgproxy that allow kinds of addresses, in addition to public addresses.
    private mutating func finishAddresses() {
        guard !specialAddresses.isEmpty, manager.downloader.addressPolicy != .any else { return }
        manager.downloader.addressPolicy = .publicAnd(specialAddresses)
    }
}
