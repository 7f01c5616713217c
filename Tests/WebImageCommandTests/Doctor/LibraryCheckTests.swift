// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@testable import WebImageCommand

@Suite("Vulnerabilities of libraries")
struct LibraryCheckTests {
    private static let debian = "PRETTY_NAME=\"Debian\"\nID=debian\n"

    /// The check of libwebp with the package `libwebp7` of a version, or without a package database for `nil`.
    private func webp(
        _ version: String, package: String?, osRelease: String = debian, maps: String = "", name: String = "libwebp7",
        tableAge: Int = 0
    ) -> DoctorReport.Check {
        let status = package.map { "Package: \(name)\nStatus: install ok installed\nVersion: \($0)\n" } ?? ""
        let check = LibraryCheck(
            packages: PackageDatabase(status: status, osRelease: osRelease), maps: maps, tableAge: tableAge)
        return check.check(LibraryVersion("libwebp", version))
    }

    private func report(_ check: DoctorReport.Check) -> DoctorReport {
        DoctorReport(version: "0", [.init("libraries", "Libraries", [check])])
    }

    @Test("A Debian package without the fix of a known vulnerability is unsafe")
    func vulnerable() {
        let check = webp("1.2.4", package: "1.2.4-0.2")
        #expect(check.status == .unsafe && check.detail.contains("CVE-2023-4863"))
        #expect(check.remedy?.contains("1.3.2") == true)
        #expect(report(check).isUnsafe)
    }

    @Test("A Debian package with the backported fix isn't vulnerable", arguments: ["1.2.4-0.2+deb12u1", "1.2.4-0.3"])
    func backported(_ revision: String) {
        let check = webp("1.2.4", package: revision)
        #expect(check.status == .ok && check.detail.contains("patched for CVE-2023-4863"))
        #expect(!report(check).isUnsafe)
    }

    @Test("A fixed version isn't vulnerable with any package", arguments: ["1.3.2-1", nil])
    func fixed(_ package: String?) {
        #expect(webp("1.3.2", package: package).status == .ok)
    }

    @Test("A version before the introduction of a vulnerability isn't affected")
    func early() {
        #expect(webp("0.4.4", package: "0.4.4-1").status == .ok)
    }

    @Test("Without a package database, an affected version is a note that isn't unsafe")
    func unreadable() {
        let check = webp("1.2.4", package: nil)
        #expect(check.status == .note && check.detail.contains("can’t be read"))
        #expect(!report(check).isUnsafe)
    }

    @Test("The revisions of other distributions aren't compared with those of Debian")
    func derivative() {
        let check = webp("1.2.4", package: "1.2.4-0.3ubuntu1", osRelease: "ID=ubuntu\nID_LIKE=debian\n")
        #expect(check.status == .note && check.detail.contains("distribution"))
    }

    @Test("A library from outside the system directories is unsafe despite a patched package")
    func ownBuild() {
        let maps = "7f00-7f01 r-xp 00000000 08:01 1 /usr/local/lib/libwebp.so.7.1.5\n"
        #expect(webp("1.2.4", package: "1.2.4-0.2+deb12u1", maps: maps).status == .unsafe)
        let system = maps.replacing("/usr/local/lib/", with: "/usr/lib/x86_64-linux-gnu/")
        #expect(webp("1.2.4", package: "1.2.4-0.2+deb12u1", maps: system).status == .ok)
    }

    @Test("A package of another version doesn't patch the library")
    func otherVersion() {
        #expect(webp("1.2.4", package: "1.5.0-0.1").status == .unsafe)
    }

    @Test("A vulnerability without a known Debian revision is a note")
    func unknownRevision() {
        let check = webp("1.2.2", package: "1.2.2-2")
        #expect(check.status == .note && check.detail.contains(KnownVulnerability.tableDate))
    }

    @Test("The name of a package can have the suffix of the 64-bit time transition")
    func transition() {
        #expect(webp("1.2.4", package: "1.2.4-0.2+deb12u1", name: "libwebp7t64").status == .ok)
        // The development package doesn’t contain the library.
        #expect(webp("1.2.4", package: "1.2.4-0.2+deb12u1", name: "libwebp-dev").status == .unsafe)
    }

    @Test("A removed package whose configuration files remain doesn't count as installed")
    func removedPackage() {
        let status = """
            Package: libwebp7
            Status: deinstall ok config-files
            Version: 1.2.4-0.2+deb12u1

            Package: other
            Status: install ok installed
            Version: 1

            """
        let packages = PackageDatabase(status: status, osRelease: Self.debian)
        let check = LibraryCheck(packages: packages, maps: "", tableAge: 0).check(LibraryVersion("libwebp", "1.2.4"))
        #expect(check.status == .unsafe)
        #expect(PackageDatabase(status: "", osRelease: Self.debian) == nil)
    }

    @Test("If a library doesn't report its version, that of its package counts")
    func headerVersion() {
        func check(_ package: String) -> DoctorReport.Check {
            let status = "Package: librsvg2-2\nStatus: install ok installed\nVersion: \(package)\n"
            let check = LibraryCheck(
                packages: PackageDatabase(status: status, osRelease: Self.debian), maps: "", tableAge: 0)
            return check.check(LibraryVersion("librsvg", "2.54.5", isFromHeaders: true))
        }
        #expect(check("2.54.7+dfsg-1~deb12u1").status == .ok)
        #expect(check("2.54.5+dfsg-1").status == .note)
    }

    @Test("A table of more than 90 days finds vulnerabilities, but no longer states that a library has none")
    func oldTable() throws {
        func status(_ package: String, age: Int) -> DoctorReport.Status {
            webp("1.2.4", package: package, tableAge: age).status
        }
        #expect(status("1.2.4-0.2+deb12u1", age: 90) == .ok && status("1.2.4-0.2+deb12u1", age: 91) == .note)
        #expect(status("1.2.4-0.2", age: 91) == .unsafe)
        #expect(webp("1.3.2", package: nil, tableAge: 91).status == .note)
        let recent = LibraryCheck(packages: nil, maps: "", tableAge: 3).tableCheck
        #expect(recent.status == .ok && recent.detail.hasSuffix("3 days ago") && recent.remedy == nil)
        let old = LibraryCheck(packages: nil, maps: "", tableAge: 91).tableCheck
        #expect(old.status == .note && old.remedy?.contains("debsecan") == true)
        let date = try Date(KnownVulnerability.tableDate, strategy: .iso8601.year().month().day())
        #expect(KnownVulnerability.tableAge(on: date.addingTimeInterval(91.5 * 86_400)) == 91)
        #expect(KnownVulnerability.tableAge(on: date.addingTimeInterval(-86_400)) == 0)
    }

    @Test("A version that isn't a number is a note")
    func noNumber() {
        #expect(webp("?", package: "1.2.4-0.2").status == .note)
    }

    @Test("Each entry of the table is complete, and its fixes are newer than its introduction")
    func table() {
        var seen: Set<String> = []
        for entry in KnownVulnerability.table {
            #expect(entry.id.contains(/^CVE-20[0-9]{2}-[0-9]{4,}$/), "\(entry.id)")
            #expect(seen.insert("\(entry.id) \(entry.library)").inserted, "\(entry.id)")
            #expect(entry.source.hasPrefix("https://"), "\(entry.id)")
            let fixed = entry.fixed.compactMap(UpstreamVersion.init)
            #expect(!fixed.isEmpty && fixed.count == entry.fixed.count, "\(entry.id)")
            for version in fixed { #expect(!entry.affects(version), "\(entry.id)") }
            if let introduced = entry.introduced.flatMap(UpstreamVersion.init) {
                #expect(entry.affects(introduced), "\(entry.id)")
            }
            // A package that needs a backport has an affected version of the library.
            for revision in entry.debian.map(DebianVersion.init) {
                #expect(revision.upstreamVersion.map(entry.affects) == true, "\(entry.id) \(revision)")
                #expect(entry.isFixed(in: revision) == true, "\(entry.id) \(revision)")
            }
        }
    }
}

@Suite("Versions of libraries and packages")
struct LibraryVersionOrderTests {
    @Test(
        "Debian versions are ordered as dpkg orders them",
        arguments: [
            ("1.0~rc1", "1.0"), ("1.2.4-0.2", "1.2.4-0.2+deb12u1"), ("2.1.6-1", "1:2.1.5-2"),
            ("3.0.19-1~deb12u2", "3.0.19-1"), ("1.0a", "1.0+"), ("1.9", "1.10"), ("0.7.0-9", "0.7.0-10"),
            ("1.2.13-1", "1.2.13.dfsg-1"), ("2.0-1", "2.0-1a"), ("1.0-1~~a", "1.0-1~"),
            ("1.99999999999999999999", "1.100000000000000000000"),
        ])
    func debian(_ older: String, _ newer: String) {
        #expect(DebianVersion(older) < DebianVersion(newer))
        #expect(!(DebianVersion(newer) < DebianVersion(older)))
        #expect(DebianVersion(older) != DebianVersion(newer))
    }

    @Test("Equal Debian versions can have different spellings of zeros and epochs")
    func equal() {
        #expect(DebianVersion("1.02-1") == DebianVersion("1.2-1"))
        #expect(DebianVersion("0:1.2-1") == DebianVersion("1.2-1"))
    }

    @Test("A fix in an older branch doesn't cover the branches without a release")
    func branches() throws {
        let fixed = ["2.52.10", "2.54.6", "2.56.3"].compactMap(UpstreamVersion.init)
        for (text, isFixed) in [
            ("2.52.9", false), ("2.52.10", true), ("2.54.5", false), ("2.54.7", true), ("2.55.2", false),
            ("2.56.2", false), ("2.56.3", true), ("2.58", true), ("3.0", true),
        ] {
            #expect(try #require(UpstreamVersion(text)).contains(fixIn: fixed) == isFixed, "\(text)")
        }
        #expect(UpstreamVersion("") == nil && UpstreamVersion("v1") == nil)
        #expect(UpstreamVersion("1.2.13.dfsg") == UpstreamVersion("1.2.13"))
        #expect(UpstreamVersion("1.2") == UpstreamVersion("1.2.0"))
    }
}
