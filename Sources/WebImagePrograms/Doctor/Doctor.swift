// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImage
import WebImageCodecs
import WebImageCommand
import WebImageCore
import WebImageNet
import WebImageStore

/// Collects the report of `webimage doctor`.
package struct Doctor: Sendable {
    private let version: String
    private let cacheDirectory: String
    private let environment: [String: String]
    private let server: ServerHealth?

    /// Creates a collector. The path of the cache directory is absolute. `server` has the checks of the image server,
    /// or is `nil` for those of the tool.
    package init(
        version: String, cacheDirectory: String, environment: [String: String], server: ServerHealth? = nil
    ) {
        self.server = server
        self.version = version
        self.cacheDirectory = cacheDirectory
        self.environment = environment
    }

    /// Returns the report. Blocks.
    package func report() -> DoctorReport {
        let health = SystemHealth.current(environment: environment)
        if let server {
            return DoctorReport(
                version: version,
                server.sections() + [
                    .init("libraries", "Libraries", libraryChecks),
                    .init(
                        "isolation", "Isolation",
                        KernelProtection.current().layers.map(\.check) + HelperHealth.current()),
                    .init("system", "System", health.resourceChecks),
                ])
        }
        return DoctorReport(
            version: version,
            [
                .init("libraries", "Libraries", libraryChecks),
                .init("transport", "Transport", [Self.tlsCheck, Self.featureCheck]),
                .init("traits", "Traits", Self.traitChecks),
                .init("limits", "Limits (desktop, server)", Self.limitChecks + Self.downloaderChecks),
                .init(
                    "isolation", "Isolation", KernelProtection.current().layers.map(\.check) + HelperHealth.current()),
                .init(
                    "cache", "Cache directory",
                    CacheHealth.checks(DiskCacheInspection(inspecting: cacheDirectory), user: geteuid())),
                .init("system", "System", health.resourceChecks + health.fileChecks),
            ])
    }

    private var libraryChecks: [DoctorReport.Check] {
        let status = SmallFile.text("/var/lib/dpkg/status") ?? ""
        let packages = PackageDatabase(status: status, osRelease: SmallFile.text("/etc/os-release") ?? "")
        // The lists load their libraries, so read the memory map afterward.
        var libraries = CodecLibraries.list + TransportLibrary.list
        let check = LibraryCheck(
            packages: packages, maps: SmallFile.text("/proc/self/maps") ?? "",
            tableAge: KnownVulnerability.tableAge(on: Date()))
        libraries.append(LibraryVersion("sqlite", DiskCacheInspection.libraryVersion))
        #if GTK
            // The tool doesn’t load GTK, so only the package database knows its version.
            if let gtk = check.packaged("gtk") { libraries.append(gtk) }
        #endif
        return libraries.map(check.check) + [check.tableCheck]
    }

    private static var tlsCheck: DoctorReport.Check {
        if let reason = TransportLibrary.failure {
            return .init(
                "tls", .unsafe, "TLS", "libcurl can't be loaded: \(reason)",
                remedy: "Install the libcurl of the distribution.")
        }
        guard let library = TransportLibrary.tlsLibrary else {
            return .init(
                "tls", .unsafe, "TLS", "libcurl was built without TLS.", remedy: "Install a libcurl with OpenSSL.")
        }
        return .init("tls", .ok, "TLS", library)
    }

    private static var featureCheck: DoctorReport.Check {
        let features = TransportLibrary.features
        let missing = features.filter { !$0.isThere }.map(\.name)
        let present = features.filter(\.isThere).map(\.name).joined(separator: ", ")
        guard !missing.isEmpty else { return .init("features", .ok, "libcurl features", present) }
        return .init(
            "features", .note, "libcurl features", "\(present). Missing: \(missing.joined(separator: ", ")).",
            remedy: "Install the libcurl of the distribution.")
    }

    // MARK: - Traits

    private static var traitChecks: [DoctorReport.Check] {
        let on = enabledTraits
        let all = ["AVIF", "GTK", "HEIF", "JPEG2000", "JXL", "Memcached", "PDF", "SVG", "Server", "TIFF"]
        let off = all.filter { !on.contains($0) }
        return [
            .init("enabled", .ok, "enabled", on.isEmpty ? "none" : on.joined(separator: ", ")),
            .init("disabled", .ok, "disabled", off.isEmpty ? "none" : off.joined(separator: ", ")),
        ]
    }

    /// The names of the traits of this build.
    package static var enabledTraits: [String] {
        var traits: [String] = []
        #if AVIF
            traits.append("AVIF")
        #endif
        #if GTK
            traits.append("GTK")
        #endif
        #if HEIF
            traits.append("HEIF")
        #endif
        #if JPEG2000
            traits.append("JPEG2000")
        #endif
        #if JXL
            traits.append("JXL")
        #endif
        #if Memcached
            traits.append("Memcached")
        #endif
        #if PDF
            traits.append("PDF")
        #endif
        #if SVG
            traits.append("SVG")
        #endif
        #if Server
            traits.append("Server")
        #endif
        #if TIFF
            traits.append("TIFF")
        #endif
        return traits
    }

    // MARK: - Limits

    /// The limits of the presets. The article Safety contains the same table.
    package static var limitChecks: [DoctorReport.Check] {
        [
            pair("maxEncodedBytes", "encoded size") { NumberFormatting.bytes($0.limits.maxEncodedBytes) },
            pair("maxPixels", "decoded pixels") { megapixels($0.limits.maxPixels) },
            pair("maxSourcePixels", "pixels of a file") { megapixels($0.limits.maxSourcePixels) },
            pair("maxDimension", "width and height") { "\($0.limits.maxDimension)" },
            pair("maxFrames", "frames") { "\($0.limits.maxFrames)" },
            pair("maxAnimationPixels", "animation pixels") { megapixels($0.limits.maxAnimationPixels) },
            pair("maxAnimationDecoders", "animation decoders") { "\($0.limits.maxAnimationDecoders)" },
            pair("maxDecodedBytes", "decoded size") { NumberFormatting.bytes($0.limits.maxDecodedBytes) },
            pair("maxDecodingTime", "decoding time") { time($0.limits.maxDecodingTime) },
            pair("maxEncodingTime", "encoding time") { time($0.limits.maxEncodingTime) },
            pair("decodingMemoryLimit", "running decodes") { NumberFormatting.bytes($0.decodingMemoryLimit) },
            pair("progressiveMemoryLimit", "previews") { NumberFormatting.bytes($0.progressiveMemoryLimit) },
            pair("maxInFlightRequests", "running requests") { $0.maxInFlightRequests.map { "\($0)" } ?? "unlimited" },
            pair("addresses", "addresses") { $0.downloader.addressPolicy == .any ? "all" : "public only" },
        ]
    }

    /// The limits of the downloaders of the presets. The article Safety contains the same table.
    package static var downloaderChecks: [DoctorReport.Check] {
        [
            pair("timeout", "time of a download") { time($0.downloader.timeout) },
            pair("connectTimeout", "time to connect") { time($0.downloader.connectTimeout) },
            pair("idleTimeout", "silence") { time($0.downloader.idleTimeout) },
            pair("minimumSpeed", "minimum speed") { manager in
                manager.downloader.minimumSpeed.map { speed in
                    "\(NumberFormatting.bytes(speed.bytesPerSecond))/s over \(time(speed.duration))"
                } ?? "none"
            },
            pair("maxRedirects", "redirects") { "\($0.downloader.maxRedirects)" },
            pair("allowedPorts", "ports") { manager in
                manager.downloader.allowedPorts.map { $0.sorted().map(String.init).joined(separator: " and ") } ?? "all"
            },
            pair("maxBodyBytesInFlight", "bodies in flight") {
                NumberFormatting.bytes($0.downloader.maxBodyBytesInFlight)
            },
            pair("maxDataURLBytes", "data: URLs") { NumberFormatting.bytes($0.maxDataURLBytes) },
        ]
    }

    /// Returns a check with the values of both presets.
    private static func pair(
        _ id: String, _ title: String, _ value: (ImageManager.Configuration) -> String
    ) -> DoctorReport.Check {
        .init(id, .ok, title, "\(value(ImageManager.Configuration())), \(value(.server))")
    }

    private static func time(_ duration: Duration) -> String {
        "\(NumberFormatting.decimal(duration / .seconds(1), digits: 0)) s"
    }

    private static func megapixels(_ pixels: Int) -> String {
        "\(NumberFormatting.decimal(Double(pixels) / 1_000_000, digits: 0)) MP"
    }
}
