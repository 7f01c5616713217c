// SPDX-License-Identifier: MIT

import Foundation
import WebImage

extension ServiceSettings {
    /// A setting, whose name is the same in the file and in the environment.
    package struct Setting: Sendable {
        /// The name in the file and in the environment.
        package let name: String
        /// The explanation.
        package let help: String
        /// Whether the option needs no value.
        package let isFlag: Bool
        /// Whether the value must remain unknown to other users.
        package let isSecret: Bool
        private let change: @Sendable (inout ServiceSettings, String) throws(Invalid) -> Void

        fileprivate init(
            _ name: String, _ help: String, isFlag: Bool = false, isSecret: Bool = false,
            _ change: @escaping @Sendable (inout ServiceSettings, String) throws(Invalid) -> Void
        ) {
            (self.name, self.help, self.isFlag, self.isSecret, self.change) = (name, help, isFlag, isSecret, change)
        }

        /// The name of the option, such as `--allowed-sources` for `IMGPROXY_ALLOWED_SOURCES`.
        package var option: String {
            let words = name.split(separator: "_").dropFirst()
            return "--" + words.joined(separator: "-").lowercased()
        }

        func apply(_ value: String, to settings: inout ServiceSettings, _ place: String) throws(Invalid) {
            do throws(Invalid) {
                try change(&settings, value)
            } catch {
                throw Invalid("\(place): \(error.description)")
            }
        }
    }

    /// All settings. Settings with the names of imgproxy have the same meaning as in imgproxy. The article “Image Server”
    /// lists the differences.
    package static let table = listening + access + processing + sources + caches + operation

    private static let listening = [
        Setting("WEBIMAGE_CONFIG", "A file with lines of the form KEY=VALUE") { _, _ in },
        Setting("IMGPROXY_BIND", "HOST:PORT, :PORT, or unix:PATH (:8080)") { $0.address = $1 },
        Setting(
            "IMGPROXY_MAX_CLIENTS", "The maximum number of connections, 0 for as many as the open files allow (4096)"
        ) { settings, text throws(Invalid) in
            settings.maxConnections = try number(text, 0...1_000_000)
        },
        Setting(
            "WEBIMAGE_MAX_CONNECTIONS_PER_CLIENT", "The same for one address, 0 for no limit (256, or 0 behind proxies)"
        ) {
            settings, text throws(Invalid) in settings.maxConnectionsPerClient = try number(text, 0...1_000_000)
        },
        Setting("IMGPROXY_KEEP_ALIVE_TIMEOUT", "Seconds until a silent connection is closed (15)") {
            settings, text throws(Invalid) in settings.connectionTimeout = try number(text, 1...3_600)
        },
        Setting("WEBIMAGE_TRUSTED_PROXIES", "Addresses of proxies whose X-Forwarded-For counts, as CIDR or `unix`") {
            settings, text throws(Invalid) in settings.service.trustedProxies = try ranges(text)
        },
    ]

    private static let access = [
        Setting("IMGPROXY_KEY", "Hexadecimal keys of URL signatures", isSecret: true) { $0.keys = list($1) },
        Setting("IMGPROXY_SALT", "Hexadecimal salts of URL signatures", isSecret: true) { $0.salts = list($1) },
        Setting("IMGPROXY_SIGNATURE_SIZE", "Bytes of a signature (32)") { settings, text throws(Invalid) in
            settings.handler.signatureSize = try number(text, 1...32)
        },
        Setting("IMGPROXY_TRUSTED_SIGNATURES", "Words that are accepted instead of signatures", isSecret: true) {
            $0.handler.trustedSignatures = Set(list($1))
        },
        Setting("IMGPROXY_ALLOWED_SOURCES", "Beginnings of source URLs") {
            let sources = list($1)
            $0.handler.allowedSources = sources.isEmpty ? nil : sources
        },
        Setting("WEBIMAGE_OPEN_PROXY", "1 to load every URL for every client", isFlag: true) {
            settings, text throws(Invalid) in settings.handler.isOpenProxy = try flag(text)
        },
        Setting("IMGPROXY_PATH_PREFIX", "The path before all paths") { $0.handler.pathPrefix = $1 },
        Setting("IMGPROXY_BASE_URL", "The text before incomplete source URLs") { $0.handler.baseURL = $1 },
        Setting("WEBIMAGE_METRICS_CLIENTS", "Addresses that may read /metrics (127.0.0.0/8,::1)") {
            settings, text throws(Invalid) in settings.service.metricsClients = try ranges(text)
        },
    ]

    private static let processing = [
        Setting("IMGPROXY_PRESETS", "Presets, as NAME=OPTION/OPTION") { $0.handler.presets = list($1) },
        Setting("IMGPROXY_ONLY_PRESETS", "1 if URLs contain only names of presets", isFlag: true) {
            settings, text throws(Invalid) in
            settings.handler.allowsOnlyPresets = try flag(text)
        },
        Setting("IMGPROXY_ALLOWED_PROCESSING_OPTIONS", "The options that URLs may use") {
            $0.handler.allowedOptions = Set(list($1))
        },
        Setting("IMGPROXY_QUALITY", "The quality of formats without a quality of their own (80)") {
            settings, text throws(Invalid) in settings.quality = try number(text, 1...100)
        },
        Setting("IMGPROXY_FORMAT_QUALITY", "Qualities by format (webp=79,avif=63,jxl=77)") {
            settings, text throws(Invalid) in
            for pair in list(text) {
                let parts = pair.split(separator: "=").map(String.init)
                guard parts.count == 2, let format = ImageFormat(fileExtension: parts[0]) else {
                    throw Invalid("“\(pair)” must have the form FORMAT=QUALITY")
                }
                settings.formatQualities[format] = try number(parts[1], 1...100)
            }
        },
        Setting("IMGPROXY_WATERMARK_PATH", "The file of the watermark") { $0.watermarkPath = $1 },
        Setting("IMGPROXY_WATERMARK_DATA", "The watermark in base64") { settings, text throws(Invalid) in
            guard let data = Data(base64Encoded: text) else { throw Invalid("the text isn’t base64") }
            settings.handler.watermark = ServerWatermark(data: data, opacity: settings.watermarkOpacity)
        },
        Setting("IMGPROXY_WATERMARK_OPACITY", "The opacity of the watermark, from 0 to 1 (1)") {
            settings, text throws(Invalid) in
            guard let opacity = Double(text), (0...1).contains(opacity) else {
                throw Invalid("“\(text)” isn’t a number from 0 to 1")
            }
            settings.watermarkOpacity = opacity
        },
        Setting("IMGPROXY_STRIP_METADATA", "0 to keep metadata (1)") { settings, text throws(Invalid) in
            settings.handler.stripsMetadata = try flag(text)
        },
        Setting("IMGPROXY_KEEP_COPYRIGHT", "0 to remove the author and the copyright (1)") {
            settings, text throws(Invalid) in settings.handler.keepsCopyright = try flag(text)
        },
        Setting("WEBIMAGE_NEGOTIATED_FORMATS", "Formats for clients that accept them (avif,webp)") {
            settings, text throws(Invalid) in
            settings.handler.negotiatedFormats = try list(text).map { name throws(Invalid) in
                guard let format = ImageFormat(fileExtension: name) else {
                    throw Invalid("there’s no format “\(name)”")
                }
                return format
            }
        },
        Setting("IMGPROXY_ENABLE_CLIENT_HINTS", "1 to use client hints", isFlag: true) {
            settings, text throws(Invalid) in
            settings.handler.usesClientHints = try flag(text)
        },
        Setting("IMGPROXY_TTL", "Seconds for which clients store a result (31536000)") {
            settings, text throws(Invalid) in
            settings.handler.maxAge = .seconds(try number(text, 0...3_153_600_000))
        },
        Setting(
            "IMGPROXY_CACHE_CONTROL_PASSTHROUGH", "1 to store results only while their source is fresh", isFlag: true
        ) { settings, text throws(Invalid) in settings.handler.usesSourceLifetime = try flag(text) },
        Setting("IMGPROXY_MAX_RESULT_DIMENSION", "The width and height to which results are reduced, 0 for any (8192)")
        {
            settings, text throws(Invalid) in settings.handler.maxResultDimension = try number(text, 0...1_000_000)
        },
        Setting("WEBIMAGE_SEND_REASONS", "0 to send no reasons of failures (1)") { settings, text throws(Invalid) in
            settings.handler.sendsReasons = try flag(text)
        },
    ]

    private static let sources = [
        Setting("IMGPROXY_LOCAL_FILESYSTEM_ROOT", "The directory of local:/// URLs") {
            $0.handler.localDirectory = URL(filePath: $1, directoryHint: .isDirectory)
        },
        Setting("IMGPROXY_USE_S3", "1 to load s3://BUCKET/KEY", isFlag: true) { settings, text throws(Invalid) in
            settings.s3.isEnabled = try flag(text)
        },
        Setting("IMGPROXY_S3_REGION", "The region of the storage (us-east-1)") { $0.s3.region = $1 },
        Setting("IMGPROXY_S3_ENDPOINT", "The URL of the storage (Amazon S3)") { $0.s3.endpoint = $1 },
        Setting("IMGPROXY_S3_ENDPOINT_USE_PATH_STYLE", "0 if the bucket is part of the host name (1)") {
            settings, text throws(Invalid) in settings.s3.usesPathStyle = try flag(text)
        },
        Setting("IMGPROXY_S3_ALLOWED_BUCKETS", "The buckets that the server reads") {
            $0.s3.allowedBuckets = Set(list($1))
        },
        Setting("IMGPROXY_S3_DENIED_BUCKETS", "Buckets that the server doesn’t read") {
            $0.s3.deniedBuckets = Set(list($1))
        },
        Setting("AWS_ACCESS_KEY_ID", "The access key of the storage") { $0.s3.accessKeyID = $1 },
        Setting("AWS_SECRET_ACCESS_KEY", "The secret key of the storage", isSecret: true) {
            $0.s3.secretAccessKey = $1
        },
        Setting("AWS_SESSION_TOKEN", "The token of temporary credentials", isSecret: true) { $0.s3.sessionToken = $1 },
        Setting("IMGPROXY_MAX_SRC_RESOLUTION", "The maximum megapixels of a source (100)") {
            settings, text throws(Invalid) in
            guard let megapixels = Double(text), (0.001...1_000).contains(megapixels) else {
                throw Invalid("“\(text)” isn’t a number from 0.001 to 1000")
            }
            settings.manager.limits.maxSourcePixels = Int(megapixels * 1_000_000)
            settings.manager.limits.maxPixels = min(settings.manager.limits.maxPixels, Int(megapixels * 1_000_000))
        },
        Setting("IMGPROXY_MAX_ANIMATION_FRAMES", "The maximum number of frames of a result, 1 for still images (1)") {
            settings, text throws(Invalid) in settings.manager.limits.maxFrames = try number(text, 1...10_000)
        },
        Setting("IMGPROXY_MAX_SRC_FILE_SIZE", "The maximum bytes of a source, 0 for the default (16777216)") {
            settings, text throws(Invalid) in
            let size = try number(text, 0...1 << 32)
            settings.manager.limits.maxEncodedBytes = size > 0 ? size : ImageLimits.server.maxEncodedBytes
        },
        Setting("IMGPROXY_DOWNLOAD_TIMEOUT", "Seconds for a download (10)") { settings, text throws(Invalid) in
            settings.manager.downloader.timeout = .seconds(try number(text, 1...3_600))
        },
        Setting("IMGPROXY_MAX_REDIRECTS", "The maximum number of redirects (5)") { settings, text throws(Invalid) in
            settings.manager.downloader.maxRedirects = try number(text, 0...100)
        },
        Setting("IMGPROXY_USER_AGENT", "The User-Agent of downloads") { $0.manager.downloader.userAgent = $1 },
        Setting("WEBIMAGE_ALLOWED_PORTS", "Ports of origins, or `any` (80,443)") { settings, text throws(Invalid) in
            settings.manager.downloader.allowedPorts =
                text == "any"
                ? nil : Set(try list(text).map { port throws(Invalid) in try number(port, 1...65_535) })
        },
        Setting(
            "WEBIMAGE_PRIVATE_ADDRESSES", "1 to load from all addresses that aren’t public, too", isFlag: true
        ) {
            settings, text throws(Invalid) in
            settings.manager.downloader.addressPolicy = try flag(text) ? .any : .publicOnly
        },
        Setting("IMGPROXY_ALLOW_PRIVATE_SOURCE_ADDRESSES", "1 to load from private addresses", isFlag: true) {
            settings, text throws(Invalid) in try settings.allow(.privateNetworks, text)
        },
        Setting("IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES", "1 to load from this machine", isFlag: true) {
            settings, text throws(Invalid) in try settings.allow(.loopback, text)
        },
        Setting("IMGPROXY_ALLOW_LINK_LOCAL_SOURCE_ADDRESSES", "1 to load from link-local addresses", isFlag: true) {
            settings, text throws(Invalid) in try settings.allow(.linkLocal, text)
        },
        Setting("WEBIMAGE_CONNECTIONS_PER_HOST", "The maximum number of connections to one origin (6)") {
            settings, text throws(Invalid) in
            settings.manager.downloader.maxConnectionsPerHost = try number(text, 1...10_000)
        },
    ]

    private static let caches = [
        Setting("WEBIMAGE_CACHE_DIRECTORY", "The directory of the disk cache, or empty for none") {
            $0.cacheDirectory = $1
        },
        Setting("WEBIMAGE_CACHE_SIZE", "The size of the disk cache in MiB (512)") { settings, text throws(Invalid) in
            settings.cacheSize = try number(text, 1...1 << 30) << 20
        },
        Setting("WEBIMAGE_MEMORY_CACHE_SIZE", "The size of the memory cache in MiB") { settings, text throws(Invalid) in
            settings.manager.memoryCache.costLimit = try number(text, 0...1 << 20) << 20
        },
        Setting("WEBIMAGE_MEMCACHED_SERVERS", "memcached servers, as HOST:PORT") { $0.memcachedServers = list($1) },
        Setting("WEBIMAGE_MEMCACHED_SECRET", "A secret that authenticates values in memcached", isSecret: true) {
            $0.memcachedSecret = $1.isEmpty ? nil : $1
        },
        Setting(
            "WEBIMAGE_MEMCACHED_LEASE", "Seconds for which machines wait for one that loads an image, 0 for none (0)"
        ) {
            settings, text throws(Invalid) in settings.memcachedLease = try number(text, 0...3_600)
        },
        Setting("WEBIMAGE_MEMCACHED_LOOKUP_TIMEOUT", "Milliseconds after which the origin is also contacted (50)") {
            settings, text throws(Invalid) in settings.memcachedLookupTimeout = try number(text, 1...60_000)
        },
        Setting("WEBIMAGE_MEMCACHED_TTL", "Seconds for which memcached keeps an image (604800)") {
            settings, text throws(Invalid) in settings.memcachedLifetime = try number(text, 1...2_592_000)
        },
    ]

    private static let operation = [
        Setting("IMGPROXY_WORKERS", "Requests that run at the same time (8 per processor)") {
            settings, text throws(Invalid) in
            settings.service.workers = try number(text, 1...10_000)
        },
        Setting("WEBIMAGE_DECODING_MEMORY", "MiB of images that are processed at the same time (512)") {
            settings, text throws(Invalid) in
            settings.manager.decodingMemoryLimit = try number(text, 1...1 << 20) << 20
        },
        Setting("IMGPROXY_REQUESTS_QUEUE_SIZE", "Requests that wait, 0 for the default (256)") {
            settings, text throws(Invalid) in
            let size = try number(text, 0...1_000_000)
            settings.service.queueSize = size > 0 ? size : ImageService.Configuration().queueSize
        },
        Setting("WEBIMAGE_ISOLATION", "Decoding in a helper process: auto, required, or off (auto)") {
            settings, text throws(Invalid) in
            switch text {
            case "auto": settings.manager.decoding.isolation = .auto
            case "required": settings.manager.decoding.isolation = .required
            case "off": settings.manager.decoding.isolation = .off
            default: throw Invalid("“\(text)” isn’t auto, required, or off")
            }
        },
        Setting("IMGPROXY_TIMEOUT", "Seconds for a request (15)") { settings, text throws(Invalid) in
            settings.service.timeout = .seconds(try number(text, 1...3_600))
        },
        Setting("WEBIMAGE_DRAIN_TIMEOUT", "Seconds for running requests after SIGTERM (20)") {
            settings, text throws(Invalid) in settings.drainTimeout = try number(text, 0...3_600)
        },
        Setting("WEBIMAGE_ACCESS_LOG", "0 to log no requests (1)") { settings, text throws(Invalid) in
            settings.logsRequests = try flag(text)
        },
    ]

    // MARK: - Values

    private mutating func allow(
        _ kind: ImageDownloader.Configuration.AddressPolicy.SpecialAddresses, _ text: String
    ) throws(Invalid) {
        if try Self.flag(text) { specialAddresses.insert(kind) } else { specialAddresses.remove(kind) }
    }

    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private static func number(_ text: String, _ range: ClosedRange<Int>) throws(Invalid) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw Invalid("“\(text)” isn’t a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func flag(_ text: String) throws(Invalid) -> Bool {
        switch text.lowercased() {
        case "1", "true", "yes", "on": return true
        case "0", "false", "no", "off", "": return false
        default: throw Invalid("“\(text)” isn’t 0 or 1")
        }
    }

    private static func ranges(_ text: String) throws(Invalid) -> [AddressRange] {
        try list(text).map { text throws(Invalid) in
            guard let range = AddressRange(text) else { throw Invalid("“\(text)” isn’t an address or a range") }
            return range
        }
    }
}
