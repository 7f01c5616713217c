// SPDX-License-Identifier: MIT

import WebImageCore

/// The checks of the libraries that the process uses.
package struct LibraryCheck: Sendable {
    /// A library that WebImage can use.
    package struct Library: Sendable {
        package let name: String
        /// The beginning of the library’s file name.
        package let file: String
        /// The text before and after the number in the name of the Debian package.
        package let package: (prefix: String, suffix: String)
    }

    /// All libraries that have a Debian package, by name.
    private static let libraries: [String: Library] = {
        let all: [(String, String, String, String)] = [
            ("libjpeg-turbo", "libjpeg.so", "libjpeg", "-turbo"), ("libpng", "libpng16.so", "libpng16-", ""),
            ("libwebp", "libwebp.so", "libwebp", ""), ("lcms2", "liblcms2.so", "liblcms2-", ""),
            ("libavif", "libavif.so", "libavif", ""), ("dav1d", "libdav1d.so", "libdav1d", ""),
            ("aom", "libaom.so", "libaom", ""), ("libheif", "libheif.so", "libheif", ""),
            ("libde265", "libde265.so", "libde265-", ""), ("openjpeg", "libopenjp2.so", "libopenjp2-", ""),
            ("libjxl", "libjxl.so", "libjxl", ""), ("poppler", "libpoppler.so", "libpoppler", ""),
            ("librsvg", "librsvg-2.so", "librsvg2-", ""), ("libtiff", "libtiff.so", "libtiff", ""),
            ("libdeflate", "libdeflate.so", "libdeflate", ""), ("libcurl", "libcurl.so", "libcurl", ""),
            ("openssl", "libssl.so", "libssl", ""), ("nghttp2", "libnghttp2.so", "libnghttp2-", ""),
            ("zlib", "libz.so", "zlib", "g"), ("zstd", "libzstd.so", "libzstd", ""),
            ("brotli", "libbrotlidec.so", "libbrotli", ""), ("sqlite", "libsqlite3.so", "libsqlite3-", ""),
            ("gtk", "libgtk-4.so", "libgtk-4-", ""),
        ]
        return Dictionary(
            all.map { ($0.0, Library(name: $0.0, file: $0.1, package: ($0.2, $0.3))) }, uniquingKeysWith: { $1 })
    }()

    /// The package database, or `nil` if it can’t be read.
    private let packages: PackageDatabase?
    private let loadedPaths: [String]
    private let vulnerabilities: [KnownVulnerability]
    /// The age of the table of vulnerabilities, in days.
    private let tableAge: Int

    /// The age in days from which a table isn't evidence that a library has no vulnerabilities.
    private static let maxTableAge = 90

    /// Creates checks. `packages` is `nil` if the package database can't be read, `maps` is the contents of
    /// `/proc/self/maps` or an empty text, and `tableAge` is the age of the table of vulnerabilities, in days.
    package init(
        packages: PackageDatabase?, maps: String, vulnerabilities: [KnownVulnerability] = KnownVulnerability.table,
        tableAge: Int
    ) {
        self.tableAge = tableAge
        self.packages = packages
        self.vulnerabilities = vulnerabilities
        loadedPaths = Set(
            maps.split(separator: "\n").compactMap { line in
                line.firstIndex(of: "/").map { String(line[$0...]) }
            }
        ).sorted()
    }

    /// Returns the version of a library that isn’t loaded, according to its package, or `nil` if it isn’t installed.
    package func packaged(_ name: String) -> LibraryVersion? {
        guard let library = Self.libraries[name],
            let package = packages?.packages(library.package.prefix, library.package.suffix).last
        else { return nil }
        return LibraryVersion(name, package.version.description, isFromHeaders: true)
    }

    /// The origin of a library.
    private enum Origin {
        /// A package of the distribution.
        case package(PackageDatabase.Package)
        /// A library that doesn’t belong to a package of this version.
        case own
        case unknown
    }

    /// Returns the check of a library.
    package func check(_ library: LibraryVersion) -> DoctorReport.Check {
        let origin = origin(of: library)
        var version = library.version
        if case .package(let package) = origin, library.isFromHeaders {
            version = package.version.description
        }
        var text = version
        if case .package(let package) = origin, text != library.version || !library.isFromHeaders {
            text = "\(library.version) (\(package.name) \(package.version))"
        }
        guard let number = packagedNumber(origin, library) ?? UpstreamVersion(version) else {
            return .init(
                library.name, .note, library.name, "The version “\(version)” isn’t a number.",
                remedy: "Compare the version with the security notices of the distribution.")
        }
        let affecting = vulnerabilities.filter { $0.library == library.name && $0.affects(number) }
        let states = affecting.map { ($0, state(of: $0, origin)) }
        let open = states.filter { $0.1 == .open }.map(\.0)
        let unknown = states.filter { $0.1 == .unknown }.map(\.0)
        if !open.isEmpty { return unsafe(library.name, text, open) }
        if !unknown.isEmpty { return uncertain(library.name, text, unknown, origin) }
        guard tableAge <= Self.maxTableAge else {
            return .init(library.name, .note, library.name, "\(text), not checked")
        }
        let patched = affecting.isEmpty ? "" : ", patched for \(affecting.map(\.id).joined(separator: ", "))"
        return .init(library.name, .ok, library.name, text + patched)
    }

    /// The check of the age of the table.
    package var tableCheck: DoctorReport.Check {
        let isOld = tableAge > Self.maxTableAge
        return .init(
            "vulnerabilities", isOld ? .note : .ok, "vulnerabilities",
            "known on \(KnownVulnerability.tableDate), \(NumberFormatting.count(tableAge, "day")) ago",
            remedy: isOld
                ? "Check the packages with `debsecan`, or compare their versions with the security notices of the distribution."
                : nil)
    }

    private enum FixState { case fixed, open, unknown }

    private func state(of vulnerability: KnownVulnerability, _ origin: Origin) -> FixState {
        switch origin {
        case .own: .open
        case .unknown: .unknown
        case .package(let package):
            if packages?.isDebian == true, let isFixed = vulnerability.isFixed(in: package.version) {
                isFixed ? .fixed : .open
            } else {
                .unknown
            }
        }
    }

    private func unsafe(_ name: String, _ version: String, _ open: [KnownVulnerability]) -> DoctorReport.Check {
        .init(
            name, .unsafe, name, "\(version) has \(Self.text(open)).",
            remedy: "Install the security updates of the distribution, or version \(Self.fixes(open)) or later.")
    }

    private func uncertain(
        _ name: String, _ version: String, _ unknown: [KnownVulnerability], _ origin: Origin
    ) -> DoctorReport.Check {
        let reason =
            switch origin {
            case .package where packages?.isDebian == true:
                "No fixed Debian revision of this version was known on \(KnownVulnerability.tableDate)."
            case .package: "The distribution numbers its revisions itself, so the check can’t recognize its patches."
            case .own, .unknown: "The package database can’t be read, so the check can’t recognize patches."
            }
        return .init(
            name, .note, name, "\(version) is in the range of \(Self.text(unknown)). \(reason)",
            remedy: "Check \(unknown.map(\.source).uniqued().joined(separator: " and ")), or install version "
                + "\(Self.fixes(unknown)) or later.")
    }

    private static func text(_ list: [KnownVulnerability]) -> String {
        list.map { "\($0.id) (\($0.effect))" }.joined(separator: ", ")
    }

    /// Returns the oldest version that fixes all vulnerabilities on the newest branch.
    private static func fixes(_ list: [KnownVulnerability]) -> String {
        let versions = list.flatMap(\.fixed).compactMap { text in UpstreamVersion(text).map { (text, $0) } }
        return versions.max { $0.1 < $1.1 }?.0 ?? "?"
    }

    /// Returns the version of the package if the library itself doesn’t report its version.
    private func packagedNumber(_ origin: Origin, _ library: LibraryVersion) -> UpstreamVersion? {
        guard library.isFromHeaders, case .package(let package) = origin else { return nil }
        return package.version.upstreamVersion
    }

    private func origin(of library: LibraryVersion) -> Origin {
        guard let description = Self.libraries[library.name] else { return .unknown }
        let paths = loadedPaths.filter { path in
            path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]
                .hasPrefix(description.file)
        }
        let system = ["/usr/lib/", "/lib/", "/usr/lib64/", "/lib64/"]
        if paths.contains(where: { path in !system.contains { path.hasPrefix($0) } }) { return .own }
        guard let packages else { return .unknown }
        let installed = packages.packages(description.package.prefix, description.package.suffix)
        guard let number = UpstreamVersion(library.version) else { return .unknown }
        if library.isFromHeaders { return installed.last.map(Origin.package) ?? .own }
        return installed.last { $0.version.upstreamVersion == number }.map(Origin.package) ?? .own
    }
}

extension [String] {
    /// Returns the elements without repetitions, in order.
    fileprivate func uniqued() -> [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
