// SPDX-License-Identifier: MIT

/// The installed packages of the distribution.
package struct PackageDatabase: Sendable {
    private let versions: [Substring: [DebianVersion]]
    /// Whether the distribution is Debian itself, whose revisions the table of known vulnerabilities contains.
    /// Derivatives number their revisions differently.
    package let isDebian: Bool

    /// Reads the contents of `/var/lib/dpkg/status` and `/etc/os-release`, or returns `nil` if the status contains no
    /// installed package.
    package init?(status: String, osRelease: String) {
        var versions: [Substring: [DebianVersion]] = [:]
        var name: Substring?
        var version: Substring?
        var isInstalled = false
        func add() {
            if let name, let version, isInstalled { versions[name, default: []].append(DebianVersion(String(version))) }
            (name, version, isInstalled) = (nil, nil, false)
        }
        for line in status.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty {
                add()
            } else if line.hasPrefix("Package: ") {
                name = line.dropFirst(9)
            } else if line.hasPrefix("Version: ") {
                version = line.dropFirst(9)
            } else if line.hasPrefix("Status: ") {
                isInstalled = line.hasSuffix(" installed")
            }
        }
        add()
        guard !versions.isEmpty else { return nil }
        self.versions = versions
        isDebian = osRelease.split(separator: "\n").contains { $0 == "ID=debian" || $0 == "ID=\"debian\"" }
    }

    /// The name and the version of an installed package.
    package struct Package: Sendable {
        package let name: String
        package let version: DebianVersion
    }

    /// Returns the installed packages whose names consist of a prefix, a number, and a suffix, such as `libavif15`.
    /// Debian 13 adds `t64` to the names of some packages.
    package func packages(_ prefix: String, _ suffix: String) -> [Package] {
        versions.flatMap { name, versions -> [Package] in
            guard name.hasPrefix(prefix) else { return [] }
            let number = name.dropFirst(prefix.count).prefix { ("0"..."9").contains($0) || $0 == "." }
            let rest = name.dropFirst(prefix.count + number.count)
            guard !number.isEmpty, rest == suffix || rest == "t64\(suffix)" else { return [] }
            return versions.map { Package(name: String(name), version: $0) }
        }.sorted { ($0.name, $0.version.description) < ($1.name, $1.version.description) }
    }
}
