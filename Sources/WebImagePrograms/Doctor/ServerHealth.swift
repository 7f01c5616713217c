// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImage
import WebImageCommand
import WebImageServer
import WebImageStore

/// The checks of the image server and of the servers around it.
package struct ServerHealth: Sendable {
    private let environment: [String: String]
    private let configurationFile: String?
    private let nginxFile: String
    private let unitFile: String

    /// Creates a collector. The environment variables contain settings of the server. Without a configuration file, the
    /// file of `WEBIMAGE_CONFIG` is checked, and without `nginxFile`, the main configuration file of nginx in Debian. Without
    /// `unitFile`, the unit that systemd reads is checked: that of the administrator, or that of the package.
    package init(
        environment: [String: String], configurationFile: String?, nginxFile: String?,
        unitFile: String? = nil
    ) {
        self.environment = environment
        self.configurationFile = configurationFile
        self.nginxFile = nginxFile ?? "/etc/nginx/nginx.conf"
        self.unitFile = unitFile ?? Self.unitFiles.first { access($0, R_OK) == 0 } ?? Self.unitFiles[0]
    }

    private static let unitFiles = ["/etc", "/usr/local/lib", "/usr/lib", "/lib"].map {
        "\($0)/systemd/system/webimage-serve.service"
    }

    /// Returns the sections of the report. Blocks for at most a few seconds.
    package func sections() -> [DoctorReport.Section] {
        let settings: ServiceSettings
        do throws(ServiceSettings.Invalid) {
            settings = try ServiceSettings(
                arguments: configurationFile.map { ["--config=\($0)"] } ?? [], environment: environment,
                readFile: ServiceSettings.text(ofFile:))
        } catch {
            let check = DoctorReport.Check("settings", .unsafe, "settings", "\(error).", remedy: "Correct the setting.")
            return [.init("configuration", "Server configuration", [check])] + programs
        }
        return [
            .init(
                "configuration", "Server configuration",
                Self.configuration(settings)
                    + ((configurationFile ?? environment["WEBIMAGE_CONFIG"]).map(Self.permissions) ?? [])),
            .init("access", "Access", Self.accessChecks(settings)),
            .init(
                "address", "Address",
                [Self.address(settings.address)]
                    + ServerPrograms.proxyChecks(address: settings.address, trusted: settings.service.trustedProxies)),
            .init("sources", "Sources", Self.sources(settings)),
            .init("server-limits", "Server limits", Self.limits(settings)),
            .init("server-cache", "Server cache", Self.cache(settings)),
            .init("memcached", "memcached", Self.memcached(settings)),
        ] + programs
    }

    private var programs: [DoctorReport.Section] {
        let unit = ServerPrograms.unitChecks(unitFile)
        return [.init("nginx", "nginx", ServerPrograms.nginxChecks(nginxFile))]
            + (unit.isEmpty ? [] : [.init("systemd", "systemd", unit)])
    }

    // MARK: - Settings

    private static func configuration(_ settings: ServiceSettings) -> [DoctorReport.Check] {
        let isolation =
            settings.manager.decoding.isolation == .off
            ? [
                DoctorReport.Check(
                    "isolation", .unsafe, "isolation", "The server decodes images of the network in its own process.",
                    remedy: "Remove WEBIMAGE_ISOLATION=off.")
            ] : []
        return isolation + handlerChecks(settings)
    }

    private static func handlerChecks(_ settings: ServiceSettings) -> [DoctorReport.Check] {
        var manager = settings.manager
        manager.diskCache = nil
        do throws(ImageServer.ConfigurationError) {
            let server = try ImageServer(
                manager: ImageManager(configuration: manager), configuration: settings.handler)
            let formats = settings.handler.negotiatedFormats
            let missing = formats.filter { !server.manager.configuration.coders.canEncode($0) }.map(\.rawValue)
            guard missing.isEmpty else {
                return [
                    .init("settings", .ok, "settings", "valid"),
                    .init(
                        "formats", .note, "formats",
                        "This build can’t encode \(missing.joined(separator: ", ")), so clients don’t get them.",
                        remedy: "Build the program with the traits of these formats."),
                ]
            }
            return [.init("settings", .ok, "settings", "valid")]
        } catch {
            return [.init("settings", .unsafe, "settings", error.description, remedy: "Correct the setting.")]
        }
    }

    private static func accessChecks(_ settings: ServiceSettings) -> [DoctorReport.Check] {
        let handler = settings.handler
        var checks: [DoctorReport.Check] = []
        if handler.isOpenProxy {
            checks.append(
                .init(
                    "open-proxy", .unsafe, "open proxy", "Every client can load every URL through the server.",
                    remedy: "Remove WEBIMAGE_OPEN_PROXY, and set IMGPROXY_KEY and IMGPROXY_SALT."))
        }
        let shortest = settings.keys.map { $0.utf8.count / 2 }.min()
        if let shortest {
            checks.append(
                shortest >= 16
                    ? .init("keys", .ok, "keys", "\(settings.keys.count) of at least \(shortest) bytes")
                    : .init(
                        "keys", .unsafe, "keys", "A key has \(shortest) bytes, so it can be guessed.",
                        remedy: "Create keys with `openssl rand -hex 32`."))
        } else {
            checks.append(
                .init(
                    "keys", .note, "keys", "URLs aren’t signed, so clients can request every size.",
                    remedy: "Set IMGPROXY_KEY and IMGPROXY_SALT."))
        }
        if shortest != nil, handler.signatureSize < 8 {
            checks.append(
                .init(
                    "signature", .unsafe, "signature", "Signatures have \(handler.signatureSize) bytes.",
                    remedy: "Set IMGPROXY_SIGNATURE_SIZE to at least 8."))
        }
        let sources = handler.allowedSources
        checks.append(.init("allowed-sources", .ok, "allowed sources", sources?.joined(separator: ", ") ?? "all"))
        for source in sources ?? [] where !source.hasSuffix("/") && !source.dropFirst(8).contains("/") {
            checks.append(
                .init(
                    "source", .unsafe, "allowed source", "\(source) also allows hosts with a longer name.",
                    remedy: "End the pattern with a slash."))
        }
        return checks
    }

    private static func sources(_ settings: ServiceSettings) -> [DoctorReport.Check] {
        var checks: [DoctorReport.Check] = []
        if settings.manager.downloader.addressPolicy == .any {
            checks.append(
                .init(
                    "addresses", settings.handler.allowedSources == nil ? .unsafe : .note, "addresses",
                    "The server loads from private and loopback addresses.",
                    remedy: "Remove WEBIMAGE_PRIVATE_ADDRESSES, or name the hosts in IMGPROXY_ALLOWED_SOURCES."))
        } else if case .publicAnd(let special) = settings.manager.downloader.addressPolicy {
            checks.append(specialAddresses(special, isRestricted: settings.handler.allowedSources != nil))
        } else {
            checks.append(.init("addresses", .ok, "addresses", "public only"))
        }
        if let directory = settings.handler.localDirectory {
            let path = directory.path(percentEncoded: false)
            checks.append(
                access(path, R_OK | X_OK) == 0
                    ? .init("local", .ok, "local directory", path)
                    : .init(
                        "local", .unsafe, "local directory",
                        "\(path) can’t be read: \(String(cString: strerror(errno))).",
                        remedy: "Run the command as the user of the server, or correct the path."))
        }
        if let storage = settings.handler.s3 {
            checks.append(
                storage.credentials == nil
                    ? .init(
                        "s3", .note, "S3 storage", "Requests to \(storage.endpoint) aren’t signed.",
                        remedy: "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY unless all buckets are public.")
                    : .init("s3", .ok, "S3 storage", "\(storage.endpoint)"))
        }
        return checks
    }

    private static func specialAddresses(
        _ special: ImageDownloader.Configuration.AddressPolicy.SpecialAddresses, isRestricted: Bool
    ) -> DoctorReport.Check {
        let names = [
            special.contains(.privateNetworks) ? "private" : nil, special.contains(.loopback) ? "loopback" : nil,
            special.contains(.linkLocal) ? "link-local" : nil,
        ].compactMap { $0 }
        return .init(
            "addresses", isRestricted ? .note : .unsafe, "addresses",
            "The server loads from \(names.joined(separator: ", ")) addresses.",
            remedy: "Remove the settings IMGPROXY_ALLOW_…_SOURCE_ADDRESSES, or name the hosts in "
                + "IMGPROXY_ALLOWED_SOURCES.")
    }

    /// Returns a check of the permissions of the file with the settings, if the file contains secrets.
    private static func permissions(_ path: String) -> [DoctorReport.Check] {
        var facts = stat()
        guard stat(path, &facts) == 0, let text = try? ServiceSettings.text(ofFile: path) else { return [] }
        let names = text.split(separator: "\n").map { line in
            line.prefix { $0 != "=" }.trimmingCharacters(in: .whitespaces)
        }
        let secrets = ServiceSettings.table.filter(\.isSecret).map(\.name)
        guard !Set(names).isDisjoint(with: secrets) else { return [] }
        return [
            facts.st_mode & S_IROTH == 0
                ? .init("file", .ok, "file", "not readable by all users")
                : .init(
                    "file", .unsafe, "file", "All users of the machine can read the keys in \(path).",
                    remedy: "Run `chmod o-rwx \(path)`.")
        ]
    }

    private static func limits(_ settings: ServiceSettings) -> [DoctorReport.Check] {
        let (service, images) = (settings.service, settings.manager.limits)
        var files = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
        // Each client, each download, and each file of the cache needs a descriptor.
        let needed = settings.maxConnections + settings.manager.downloader.maxConnections + 256
        let descriptors = "\(files.rlim_cur) for \(settings.maxConnections) connections"
        return [
            .init(
                "requests", .ok, "requests",
                "\(service.workers) at the same time, \(service.queueSize) waiting, \(service.timeout) each"),
            .init(
                "images", .ok, "images",
                "\(images.maxSourcePixels / 1_000_000) megapixels, \(images.maxEncodedBytes >> 20) MiB, results of "
                    + "\(settings.handler.maxResultDimension) pixels"),
            files.rlim_cur >= UInt(needed)
                ? .init("descriptors", .ok, "descriptors", descriptors)
                : .init(
                    "descriptors", .unsafe, "descriptors", "\(descriptors). The server needs up to \(needed).",
                    remedy: "Set LimitNOFILE in the systemd unit, or run `ulimit -n \(needed)` first."),
        ]
    }

    private static func cache(_ settings: ServiceSettings) -> [DoctorReport.Check] {
        guard let disk = settings.manager.diskCache else { return [.init("directory", .ok, "directory", "none")] }
        return CacheHealth.checks(
            DiskCacheInspection(inspecting: disk.directory.path(percentEncoded: false)), user: geteuid())
    }

    // MARK: - Servers

    private static func address(_ text: String) -> DoctorReport.Check {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst("unix:".count))
            let directory = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
            guard access(directory, W_OK | X_OK) == 0 else {
                return .init(
                    "address", .unsafe, "address", "\(directory) isn’t writable: \(String(cString: strerror(errno))).",
                    remedy: "Create the directory for the user of the server.")
            }
            return .init("address", .ok, "address", text)
        }
        let host = text.lastIndex(of: ":").map { text[..<$0].trimmingCharacters(in: ["[", "]"]) } ?? ""
        guard let port = text.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            return .init(
                "address", .unsafe, "address", "“\(text)” isn’t an address.",
                remedy: "Use HOST:PORT, :PORT, or unix:PATH.")
        }
        switch TCPProbe.listen(host.isEmpty ? nil : host, port) {
        case 0: return .init("address", .ok, "address", "\(text) is free")
        case EADDRINUSE:
            let answer = TCPProbe.exchange(
                host.isEmpty || host == "0.0.0.0" || host == "::" ? "localhost" : host, port,
                "GET /health HTTP/1.0\r\n\r\n")
            return answer.hasPrefix("HTTP/1.") && answer.contains(" 200 ") && answer.hasSuffix("ok\n")
                ? .init("address", .ok, "address", "\(text), where a server is healthy")
                : .init(
                    "address", .unsafe, "address", "Another program uses \(text).", remedy: "Choose another port.")
        case let code:
            return .init(
                "address", .unsafe, "address",
                "The server can’t listen on \(text): \(String(cString: strerror(code))).",
                remedy: "Choose another address, or use socket activation for ports below 1024.")
        }
    }

    private static func memcached(_ settings: ServiceSettings) -> [DoctorReport.Check] {
        guard !settings.memcachedServers.isEmpty else { return [.init("servers", .ok, "servers", "none")] }
        var checks = settings.memcachedServers.map { text -> DoctorReport.Check in
            guard let server = ServerEndpoint(text, defaultPort: 11_211) else {
                return .init(
                    "server", .unsafe, text, "This isn’t the address of a server.", remedy: "Use HOST:PORT.")
            }
            return ServerPrograms.memcachedCheck(
                text, answer: TCPProbe.exchange(server.host, server.port, ServerPrograms.memcachedCommands))
        }
        if settings.memcachedSecret == nil {
            checks.append(
                .init(
                    "secret", .note, "secret", "A server that an attacker controls could plant images.",
                    remedy: "Set WEBIMAGE_MEMCACHED_SECRET on all machines."))
        }
        return checks
    }
}

/// Short TCP exchanges with servers, which block for at most a second each.
private enum TCPProbe {
    private static func addresses(_ host: String?, _ port: UInt16, passive: Bool) -> [(Int32, [UInt8])] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [(Int32, [UInt8])] = []
        var next = list
        while let entry = next {
            let name = UnsafeRawBufferPointer(start: entry.pointee.ai_addr, count: Int(entry.pointee.ai_addrlen))
            found.append((entry.pointee.ai_family, Array(name)))
            next = entry.pointee.ai_next
        }
        return found
    }

    private static func open(_ family: Int32) -> Int32 {
        socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }

    private static func with(_ name: [UInt8], _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        name.withUnsafeBytes { bytes in
            bytes.baseAddress.map { body($0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) } ?? -1
        }
    }

    /// Tries to listen at an address. Returns 0 or the error number.
    static func listen(_ host: String?, _ port: UInt16) -> Int32 {
        guard let (family, name) = addresses(host, port, passive: true).first else { return EADDRNOTAVAIL }
        let descriptor = open(family)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        guard with(name, { bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, 1) == 0 else { return errno }
        return 0
    }

    /// Sends text to a server and returns the response, or an empty string if the server doesn't respond.
    static func exchange(_ host: String, _ port: UInt16, _ text: String) -> String {
        for (family, name) in addresses(host, port, passive: false) {
            let descriptor = open(family)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            var limit = timeval(tv_sec: 1, tv_usec: 0)
            for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
                setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
            }
            guard with(name, { connect(descriptor, $0, $1) }) == 0 else { continue }
            let request = Array(text.utf8)
            guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { continue }
            var answer: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while answer.count < 65_536 {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { break }
                answer += buffer.prefix(count)
            }
            if !answer.isEmpty { return String(decoding: answer, as: UTF8.self) }
        }
        return ""
    }
}
