// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// A handler that serves processed images at the URLs of imgproxy, independent of an HTTP server.
///
/// The handler is a value: it maps a ``ServerRequest`` to a ``ServerResponse``. An HTTP server calls it for each
/// request and sends the response. The manager loads, processes, and caches the images. Create it with
/// `ImageManager.Configuration.server`, so that clients can't reach your network.
public struct ImageServer: Sendable {
    /// The settings of a handler.
    public struct Configuration: Sendable {
        /// The keys, of which one must have signed each URL. If there are none, signatures aren't checked. The default
        /// is none.
        public var signingKeys: [URLSigningKey] = []
        /// The number of bytes of a signature, from 1 to 32. The default is 32.
        public var signatureSize = 32
        /// Words that are accepted instead of a signature. The default is none.
        public var trustedSignatures: Set<String> = []
        /// The beginnings of the source URLs that the server loads, or `nil` for all. `*` matches any text without `/`,
        /// `?`, `#`, `@`, and `\`. The default is `nil`.
        ///
        /// End a pattern for a host with a slash. Otherwise, it also matches hosts with a longer name. A source URL
        /// must match a pattern as written, and also after its dot segments are removed.
        public var allowedSources: [String]?
        /// The directory of the source URLs with the scheme `local`, or `nil` if the server reads no files. The default
        /// is `nil`.
        ///
        /// Symbolic links never lead out of the directory, and the server reads only regular files. The manager must
        /// allow the scheme `file`.
        public var localDirectory: URL?
        /// The storage of the source URLs with the scheme `s3`, or `nil` if there's none. The default is `nil`.
        public var s3: S3Storage?
        /// A Boolean value that indicates whether the server may start although every client can make it load every
        /// URL. The default is `false`.
        public var isOpenProxy = false
        /// The text before incomplete source URLs, or `nil`. The default is `nil`.
        public var baseURL: String?
        /// The path before all paths of the server, without a slash at the end. The default is empty.
        public var pathPrefix = ""
        /// The presets in the form `NAME=OPTION/OPTION`. The default is none.
        public var presets: [String] = []
        /// The options that URLs may use, or `nil` for all. The default is `nil`.
        public var allowedOptions: Set<String>?
        /// A Boolean value that indicates whether URLs may use presets only. The default is `false`.
        ///
        /// The part of the URL after the signature then contains the names of presets, such as `thumb:blurry`. The option
        /// `pr:thumb:blurry` has the same meaning.
        public var allowsOnlyPresets = false
        /// The formats that clients get if they accept them, in order of preference. Formats that this build can't
        /// encode are skipped. The default is AVIF and WebP.
        public var negotiatedFormats: [ImageFormat] = [.avif, .webp]
        /// The watermark that URLs can request, or `nil` if there's none. The default is `nil`.
        public var watermark: ServerWatermark?
        /// A Boolean value that indicates whether metadata is removed if a URL doesn't determine it. The default is
        /// `true`.
        public var stripsMetadata = true
        /// A Boolean value that indicates whether the author and the copyright in EXIF remain if a URL doesn't determine
        /// it. The default is `true`.
        public var keepsCopyright = true
        /// A Boolean value that indicates whether the client hints `Sec-CH-DPR`, `Sec-CH-Width`, and `Save-Data` change
        /// the result. The default is `false`.
        public var usesClientHints = false
        /// The time for which clients and proxies may store a result. The default is one year, because a changed image
        /// usually has a changed URL.
        public var maxAge = Duration.seconds(31_536_000)
        /// A Boolean value that indicates whether clients and proxies may store a result only as long as the response of
        /// its source is fresh, up to ``maxAge``. The default is `false`.
        ///
        /// A result of a source with `no-store` or `private` in its `Cache-Control` always has the same directive.
        public var usesSourceLifetime = false
        /// The maximum width and height of a result in pixels, or zero for none. Larger results are scaled down. The
        /// default is 8,192.
        ///
        /// The limits of the manager also apply, and a result that exceeds them has the status code 422.
        public var maxResultDimension = 8_192
        /// The qualities by format, from 1 to 100, if the URL names none. The defaults are 80 for JPEG, 79 for WebP, 63
        /// for AVIF, 77 for JPEG XL, and 70 for HEIF.
        public var defaultQualities: [ImageFormat: Int] = ProcessingPlan.defaultQualities
        /// A Boolean value that indicates whether responses contain the reason of a failure. The default is `true`.
        ///
        /// Reasons name options and limits, but not the source URL.
        public var sendsReasons = true

        /// A closure that rejects redirects to URLs that ``allowedSources`` doesn't contain, or `nil` if the server loads
        /// all URLs.
        ///
        /// Set it as the `redirectHandler` of the downloader of the manager after you set all other properties. A handler
        /// with ``allowedSources`` can't be created without it, unless all of them are local. Redirects of the storage in
        /// ``s3`` are always followed.
        public var redirectHandler: (@Sendable (Redirect) -> RedirectDecision)? {
            guard allowedSources != nil else { return nil }
            let sources = ServerSources(self)
            return { redirect in
                sources.allowsRedirect(from: redirect.source, to: redirect.destination)
                    ? .follow : .refuse(reason: "the server doesn't allow the target")
            }
        }

        /// Creates a configuration that needs signing keys, allowed sources, or an explicit permission.
        public init() {}
    }

    /// The reason why a handler can't be created.
    public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
        /// A sentence that describes the error and its remedy.
        public let description: String
    }

    /// The manager that loads the images.
    public let manager: ImageManager
    /// The settings.
    public let configuration: Configuration
    private let parser: OptionParser
    private let signatures: URLSignatures
    private let sources: ServerSources
    private let formats: [ImageFormat]
    private let localLoader: FileLoader?
    private let watermark: DecodedWatermark?
    private let running = RunningResponses()

    /// Creates a handler.
    ///
    /// - Throws: A ``ConfigurationError`` if the server would be an open proxy, if redirects could lead to other sources than
    ///   the allowed ones, or if a preset or the watermark isn't valid.
    public init(manager: ImageManager, configuration: Configuration) throws(ConfigurationError) {
        let isRestricted =
            !configuration.signingKeys.isEmpty || configuration.allowedSources != nil || configuration.isOpenProxy
        guard isRestricted else {
            throw ConfigurationError(
                description:
                    "Every client could load every URL through this server. Set a signing key and a salt, or the "
                    + "allowed sources, or allow an open proxy explicitly.")
        }
        let hasRemoteSources = configuration.allowedSources?.contains { !$0.hasPrefix("local://") } ?? false
        guard !hasRemoteSources || manager.configuration.downloader.redirectHandler != nil else {
            throw ConfigurationError(
                description:
                    "Redirects could lead to other sources than the allowed ones. Set the redirect handler of this "
                    + "configuration in the configuration of the downloader.")
        }
        self.manager = manager
        self.configuration = configuration
        var parser = OptionParser()
        for preset in configuration.presets {
            do throws(ServerFailure) {
                try parser.addPreset(preset)
            } catch {
                throw ConfigurationError(description: "A preset isn’t valid. \(error.reason)")
            }
        }
        parser.allowedOptions = configuration.allowedOptions
        parser.allowsOnlyPresets = configuration.allowsOnlyPresets
        self.parser = parser
        var signatures = URLSignatures()
        signatures.keys = configuration.signingKeys
        signatures.size = configuration.signatureSize
        signatures.trusted = configuration.trustedSignatures
        self.signatures = signatures
        sources = ServerSources(configuration)
        do throws(ImageError) {
            watermark = try configuration.watermark.map { mark throws(ImageError) in
                try DecodedWatermark(mark, manager)
            }
        } catch {
            throw ConfigurationError(description: "The watermark can’t be decoded. \(error.message)")
        }
        localLoader = configuration.localDirectory.map { FileLoader(root: $0) }
        formats = configuration.negotiatedFormats.filter { manager.configuration.coders.canEncode($0) }
    }

    // MARK: - Requests

    /// Returns the response to a request. This method never fails. If the calling task is canceled, for example because
    /// the client disconnected, the processing ends. After ``shutdown(deadline:)``, all responses have the status code
    /// 503.
    public func response(to request: ServerRequest) async -> ServerResponse {
        let isHead = request.method == "HEAD"
        let response = await running.perform { await processed(request, isHead) }
        return response ?? failed(ServerFailure(503, "The server is shutting down."), isHead)
    }

    /// Waits until ``shutdown(deadline:)`` is finished, or until the calling task is canceled, which also shuts the
    /// handler down without waiting for responses.
    ///
    /// Libraries that run the services of a program call this method, such as ServiceLifecycle.
    public func run() async { await running.waitUntilStopped() }

    /// Rejects new requests and waits for the running responses until the deadline. Then, it cancels the remaining ones,
    /// which have the status code 503.
    ///
    /// The manager remains usable. Shut it down afterward if no other code uses it.
    ///
    /// - Parameter deadline: The time to wait for running responses.
    public func shutdown(deadline: Duration) async { await running.stop(deadline: deadline) }

    /// The decision about a request before a worker processes it.
    package enum Preparation: Sendable {
        /// The response, for which no worker is necessary.
        case response(ServerResponse)
        /// The request needs a worker. `host` is the host that it can contact, or `nil` if it contacts none.
        case work(host: String?)
    }

    /// Returns the response to a request if the request isn't valid or its result is stored in memory or on disk,
    /// including responses with the status code 304.
    ///
    /// This method contacts no other server, and it decodes and encodes nothing.
    package func preparation(of request: ServerRequest) async -> Preparation {
        let isHead = request.method == "HEAD"
        guard !running.isStopping, let path = imagePath(of: request) else {
            return .work(host: contactedHost(by: request))
        }
        do throws(ServerFailure) {
            let job = try imageJob(path, request)
            let host = contactedHost(for: job.source)
            guard host != nil, !job.options.isRaw, job.options.skippedFormats.isEmpty else { return .work(host: host) }
            switch await manager.storedEncoding(for: job.plan.request, as: job.plan.encoding) {
            case .found(let image):
                let result = Result(
                    data: image.data, format: image.format, source: image.source, modified: image.source?.lastModified)
                return .response(finished(response(of: result, job, request), isHead))
            case .imageInMemory: return .work(host: nil)
            case .missing: return .work(host: host)
            }
        } catch {
            return .response(failed(error, isHead))
        }
    }

    /// Returns the host that the processing of a request can contact, or `nil` if it contacts none.
    package func contactedHost(by request: ServerRequest) -> String? {
        guard ["GET", "HEAD"].contains(request.method), let path = ownPath(of: request) else { return nil }
        let own = path.hasPrefix("/info/") ? String(path.dropFirst("/info".count)) : path
        do throws(ServerFailure) {
            return contactedHost(for: try job(own, request).source)
        } catch {
            return nil
        }
    }

    private func contactedHost(for source: ServerSource) -> String? {
        source.kind == .local ? nil : source.url.host()?.lowercased()
    }

    /// Returns the path of a request for an image, without the prefix and the query, or `nil` for other requests.
    private func imagePath(of request: ServerRequest) -> String? {
        guard request.method == "GET" || request.method == "HEAD", let path = ownPath(of: request),
            path != "/health", !path.hasPrefix("/info/")
        else { return nil }
        return path
    }

    private func ownPath(of request: ServerRequest) -> String? {
        let path = request.target.prefix { $0 != "?" }
        return path.hasPrefix(configuration.pathPrefix) ? String(path.dropFirst(configuration.pathPrefix.count)) : nil
    }

    /// Returns the time of the last change of a local file, or `nil` for other sources. A recent time is omitted, because the
    /// file can change again in the same second.
    private func modificationDate(of source: ServerSource) async -> Date? {
        guard source.kind == .local, let date = await localLoader?.modificationDate(of: source.url) else { return nil }
        return date.timeIntervalSinceNow < -2 ? date : nil
    }

    private func processed(_ request: ServerRequest, _ isHead: Bool) async -> ServerResponse {
        guard isHead || request.method == "GET" else {
            return finished(
                ServerResponse(statusCode: 405, headers: ["Allow": "GET, HEAD", "Cache-Control": "no-store"]), isHead)
        }
        guard let own = ownPath(of: request) else {
            return failed(.notFound("The path isn’t one of this server."), isHead)
        }
        if own == "/health" {
            return finished(
                ServerResponse(
                    statusCode: 200, headers: ["Content-Type": "text/plain", "Cache-Control": "no-store"],
                    body: Data("ok\n".utf8)), isHead)
        }
        do throws(ServerFailure) {
            if own.hasPrefix("/info/") {
                return finished(try await information(String(own.dropFirst("/info".count)), request), isHead)
            }
            return finished(try await image(own, request), isHead)
        } catch {
            return failed(error, isHead)
        }
    }

    /// Returns the path of a request for logs, without the secrets of its source URL and without trusted signatures.
    func loggedPath(of request: ServerRequest) -> String {
        let path = request.target.prefix { $0 != "?" }
        guard path.hasPrefix(configuration.pathPrefix) else { return String(path) }
        let isInformation = path.dropFirst(configuration.pathPrefix.count).hasPrefix("/info/")
        let prefix = configuration.pathPrefix + (isInformation ? "/info" : "")
        return prefix
            + ServerURL.redacted(
                path: String(path.dropFirst(prefix.count)), secrets: configuration.trustedSignatures,
                allowsOnlyPresets: configuration.allowsOnlyPresets)
    }

    private func job(
        _ path: String, _ request: ServerRequest
    ) throws(ServerFailure) -> (source: ServerSource, options: ProcessingOptions) {
        let url = try ServerURL(path: path, allowsOnlyPresets: configuration.allowsOnlyPresets)
        // Check the signature first, so that a request without a valid one causes no further work and receives no
        // reason that concerns the options.
        try signatures.check(url.signature, of: url.signedPath)
        var defaults = ProcessingOptions()
        defaults.keepsCopyright = configuration.keepsCopyright
        defaults.stripsMetadata = configuration.stripsMetadata
        defaults.maxResultDimension = max(0, configuration.maxResultDimension)
        if configuration.usesClientHints { defaults.apply(ClientHints(request.headers)) }
        let options = try parser.options(of: url, defaults: defaults)
        if let expires = options.expires, Date().timeIntervalSince1970 >= Double(expires) {
            throw .notFound("The URL has expired.")
        }
        guard options.watermark == nil || watermark != nil else {
            throw .notFound("The option “watermark” needs a watermark in the configuration of the server.")
        }
        return (try sources.source(of: url.source), options)
    }

    /// The processing of a request for an image.
    private struct ImageJob {
        var source: ServerSource
        var options: ProcessingOptions
        var plan: ProcessingPlan
    }

    private func imageJob(_ path: String, _ request: ServerRequest) throws(ServerFailure) -> ImageJob {
        let (source, options) = try job(path, request)
        let negotiated =
            options.format == nil ? AcceptHeader(request.headers["Accept"]).format(preferred: formats) : nil
        if let format = options.format, !options.isRaw, !manager.configuration.coders.canEncode(format) {
            throw .notFound("This build can’t encode \(format.rawValue).")
        }
        var plan = ProcessingPlan(
            source: source.url, options: options, format: options.format ?? negotiated,
            qualities: configuration.defaultQualities, watermark: watermark,
            keepsAnimations: manager.configuration.limits.maxFrames > 1)
        prepare(&plan.request, source, request)
        return ImageJob(source: source, options: options, plan: plan)
    }

    private func image(_ path: String, _ request: ServerRequest) async throws(ServerFailure) -> ServerResponse {
        let job = try imageJob(path, request)
        // A version that is written after this date has another date, so the date never belongs to older data.
        let modified = await modificationDate(of: job.source)
        do throws(ImageError) {
            var result = try await self.result(of: job.plan, job.options)
            result.modified = result.source?.lastModified ?? modified
            return response(of: result, job, request)
        } catch {
            throw ServerFailure(error)
        }
    }

    private func response(of result: Result, _ job: ImageJob, _ request: ServerRequest) -> ServerResponse {
        let options = job.options
        var headers = header(of: options, result, job.source.url)
        // Caches of proxies must compare these header fields, because the result depends on them (RFC 9110 12.5.5).
        let vary = (options.format == nil ? ["Accept"] : []) + (configuration.usesClientHints ? ClientHints.names : [])
        if !vary.isEmpty { headers.append(name: "Vary", value: vary.joined(separator: ", ")) }
        if configuration.usesClientHints { headers.append(name: "Accept-CH", value: "Sec-CH-DPR, Sec-CH-Width") }
        return ConditionalResponse(data: result.data, headers: headers).response(to: request)
    }

    private func prepare(_ load: inout ImageRequest, _ source: ServerSource, _ request: ServerRequest) {
        load.addTrace(of: request)
        switch source.kind {
        case .web: break
        case .local: load.loader = localLoader
        case .s3: load.network.awsSignature = configuration.s3?.credentials
        }
    }

    /// The data of a response before conditions and ranges apply.
    private struct Result {
        var data: Data
        var format: ImageFormat?
        var source: EncodedImage.SourceResponse?
        /// The time of the last change of the source, or `nil` if it's unknown.
        var modified: Date?
    }

    private func result(
        of plan: ProcessingPlan, _ options: ProcessingOptions
    ) async throws(ImageError) -> Result {
        if options.isRaw || !options.skippedFormats.isEmpty {
            let original = try await manager.originalImage(for: plan.request)
            let format = ImageFormat(sniffing: original.data)
            // A requested conversion is more important than a skipped format.
            let isSkipped = format.map { options.skippedFormats.contains($0) } ?? false
            if options.isRaw || isSkipped && (options.format == nil || options.format == format) {
                return Result(data: original.data, format: format, source: original.source)
            }
        }
        let image = try await encodedImage(of: plan)
        return Result(data: image.data, format: image.format, source: image.source)
    }

    /// Returns the result, or that of the first frame if an animation has too many frames.
    private func encodedImage(of plan: ProcessingPlan) async throws(ImageError) -> EncodedImage {
        do throws(ImageError) {
            return try await manager.encodedImage(for: plan.request, as: plan.encoding)
        } catch {
            guard case .limitExceeded(let failure) = error, plan.request.frames == .all,
                [.frameCount, .animationPixelCount].contains(failure.kind)
            else { throw error }
            var request = plan.request
            request.frames = .first
            return try await manager.encodedImage(for: request, as: plan.encoding)
        }
    }

    private func header(of options: ProcessingOptions, _ result: Result, _ source: URL) -> HTTPHeaderFields {
        let format = result.format
        var headers = HTTPHeaderFields()
        headers.append(name: "Content-Type", value: format?.mimeType ?? "application/octet-stream")
        var longest = configuration.maxAge
        if let expires = options.expires {
            longest = min(longest, .seconds(Double(expires) - Date().timeIntervalSince1970))
        }
        let lifetime = ResultLifetime(result.source, longest: longest, usesSource: configuration.usesSourceLifetime)
        headers.append(name: "Cache-Control", value: lifetime.cacheControl)
        if let date = result.modified {
            headers.append(name: "Last-Modified", value: HTTPDate.format(date))
        }
        headers.append(name: "X-Content-Type-Options", value: "nosniff")
        if format == .svg {
            // A browser that opens the file must neither run its scripts nor load anything.
            headers.append(
                name: "Content-Security-Policy",
                value: "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox")
        }
        let disposition = options.isAttachment ? "attachment" : "inline"
        let name = ContentDisposition.filename(options.filename, source, format)
        headers.append(name: "Content-Disposition", value: "\(disposition); \(name)")
        return headers
    }

    // MARK: - Information

    private struct Information: Encodable {
        var format: String
        var mimeType: String?
        var width: Int
        var height: Int
        var size: Int
        var frames: Int
        /// The orientation of EXIF, from 1 to 8.
        var orientation: Int
    }

    private func information(_ path: String, _ request: ServerRequest) async throws(ServerFailure) -> ServerResponse {
        let (source, _) = try job(path, request)
        let data: Data
        let info: ImageInfo
        do throws(ImageError) {
            var load = ImageRequest(url: source.url)
            prepare(&load, source, request)
            data = try await manager.data(for: load)
            info = try ImageInfo(data: data)
        } catch {
            throw ServerFailure(error)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let facts = Information(
            format: info.format.rawValue, mimeType: info.format.mimeType, width: info.size.width,
            height: info.size.height, size: data.count, frames: info.frameCount,
            orientation: info.orientation.rawValue)
        guard let body = try? encoder.encode(facts) else { throw ServerFailure(500, "The result can’t be encoded.") }
        let headers: HTTPHeaderFields = [
            "Content-Type": "application/json", "Cache-Control": "public, max-age=60",
            "X-Content-Type-Options": "nosniff",
        ]
        return ConditionalResponse(data: body, headers: headers).response(to: request)
    }

    // MARK: - Results

    private func failed(_ failure: ServerFailure, _ isHead: Bool) -> ServerResponse {
        var headers: HTTPHeaderFields = [
            "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        ]
        if failure.statusCode == 503 {
            // A fraction of a second counts as a second, because the field contains an integer.
            let seconds = min(max(((failure.retryAfter ?? .zero) / .seconds(1)).rounded(.up), 1), 1e9)
            headers.append(name: "Retry-After", value: "\(Int(seconds))")
        }
        let text = configuration.sendsReasons ? failure.reason : "Status \(failure.statusCode)"
        return finished(
            ServerResponse(statusCode: failure.statusCode, headers: headers, body: Data((text + "\n").utf8)), isHead)
    }

    private func finished(_ response: ServerResponse, _ isHead: Bool) -> ServerResponse {
        var response = response
        // A 304 response has no content, and its length would be the one of the result.
        if response.statusCode != 304 {
            response.headers.append(name: "Content-Length", value: "\(response.body.count)")
        }
        if isHead { response.body = Data() }
        return response
    }
}
