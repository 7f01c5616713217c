// SPDX-License-Identifier: MIT

import CSandbox
import Foundation
import Glibc
import Testing
import WebImageCommand
import WebImageIsolation
import WebImageStore

@testable import WebImagePrograms

@Suite("The checks of the cache directory and the system")
struct HealthTests {
    private func inspection(_ change: (inout DiskCacheInspection.Directory) -> Void) -> DiskCacheInspection {
        var inspection = DiskCacheInspection(path: "/cache")
        var directory = DiskCacheInspection.Directory()
        directory.owner = 1_000
        change(&directory)
        inspection.directory = directory
        inspection.freeBytes = 500 << 30
        inspection.totalBytes = 1_000 << 30
        return inspection
    }

    private func status(_ inspection: DiskCacheInspection, _ id: String) -> DoctorReport.Status? {
        CacheHealth.checks(inspection, user: 1_000).first { $0.id == id }?.status
    }

    @Test("Each layer of a helper is a check, and a missing layer or helper is a note with its reason")
    func helpers() throws {
        var layers = wi_sandbox_layers()
        layers.landlock = ENOSYS
        let checks = HelperHealth.checks("/usr/libexec/webimage/webimage-decoder", .started(IsolationReport(layers)))
        #expect(
            checks.map(\.id) == [
                "helper", "helperNoNewPrivileges", "helperNetworkNamespace", "helperResourceLimits", "helperLandlock",
                "helperSystemCallFilter",
            ])
        #expect(checks.filter { $0.status != .ok }.map(\.id) == ["helperLandlock"])
        #expect(checks[4].detail.contains(String(cString: strerror(ENOSYS))))
        layers.landlock = 0
        let raster = HelperHealth.checks("/a", .started(IsolationReport(layers)))
        let vector = HelperHealth.checks("/a", .started(IsolationReport(layers)), kind: .vector)
        #expect(vector.map(\.id) == raster.map { $0.id.replacing("helper", with: "vectorHelper") })
        #expect(raster[4].detail != vector[4].detail && vector[4].detail.contains("fonts"))
        let missing = HelperHealth.checks(nil, .unavailable(reason: "no helper is installed"))
        #expect(missing.map(\.status) == [.note] && missing[0].detail.contains("no helper is installed"))
        #expect(missing[0].remedy?.contains("webimage-decoder") == true)
    }

    @Test("A private directory of the user passes all checks")
    func sound() {
        let checks = CacheHealth.checks(inspection { $0.index = .sound(version: 4) }, user: 1_000)
        #expect(checks.allSatisfy { $0.status == .ok })
        #expect(
            checks.map(\.id) == ["directory", "permissions", "links", "index", "fileSystem", "freeSpace"])
    }

    @Test("A directory that other users own, can change, or have filled is unsafe")
    func foreign() {
        #expect(status(inspection { $0.owner = 1_001 }, "permissions") == .unsafe)
        #expect(status(inspection { $0.owner = 0 }, "permissions") == .ok)
        #expect(status(inspection { $0.permissions = 0o770 }, "permissions") == .unsafe)
        #expect(status(inspection { $0.permissions = 0o702 }, "permissions") == .unsafe)
        #expect(status(inspection { $0.permissions = 0o755 }, "permissions") == .note)
        #expect(status(inspection { $0.foreignNames = ["blobs"] }, "links") == .unsafe)
        #expect(status(inspection { $0.isDirectory = false }, "directory") == .unsafe)
        #expect(status(inspection { $0.isLink = true }, "directory") == .unsafe)
    }

    @Test(
        "An index that the cache rebuilds is a note",
        arguments: [
            DiskCacheInspection.Index.otherVersion(1), .damaged("x"), .unchecked("busy"),
        ])
    func index(_ index: DiskCacheInspection.Index) {
        #expect(status(inspection { $0.index = index }, "index") == .note)
    }

    @Test("A network file system and a full file system are notes")
    func fileSystem() {
        var inspection = inspection { _ in }
        inspection.isRemote = true
        inspection.freeBytes = 1 << 30
        #expect(status(inspection, "fileSystem") == .note)
        #expect(status(inspection, "freeSpace") == .note)
    }

    @Test("A missing directory is fine, and a directory that can't be inspected is a note")
    func missing() {
        #expect(status(DiskCacheInspection(path: "/none"), "directory") == .ok)
        var inspection = DiskCacheInspection(path: "/none")
        inspection.failure = "lstat: Permission denied"
        #expect(status(inspection, "directory") == .note)
    }

    @Test("A control group with less memory than the decoders may use is a note")
    func memory() {
        var health = SystemHealth()
        health.memory = 16 << 30
        health.memoryLimit = 16 << 30
        health.fileLimit = 1_024
        #expect(health.resourceChecks.allSatisfy { $0.status == .ok })
        health.memoryLimit = 512 << 20
        health.fileLimit = 256
        #expect(health.resourceChecks.allSatisfy { $0.status == .note })
        #expect(health.resourceChecks[0].detail.contains("512 MiB by a control group"))
    }

    @Test("Missing certificates, suffixes, fonts, and a slow clock are notes, and a library without TLS is unsafe")
    func files() {
        var health = SystemHealth()
        health.certificates = "/etc/ssl/certs/ca-certificates.crt"
        health.hasFontConfiguration = true
        health.fontDirectory = "/usr/share/fonts"
        health.programDate = health.now.addingTimeInterval(-60)
        #expect(health.fileChecks.allSatisfy { $0.status == .ok })
        health.certificates = nil
        health.hasPublicSuffixes = false
        health.fontDirectory = nil
        health.programDate = health.now.addingTimeInterval(86_400)
        #expect(health.fileChecks.map(\.status) == [.note, .note, .note, .note])
        health.userFontDirectory = "/home/a/.local/share/fonts"
        #expect(health.fileChecks[2].status == .note)
        #expect(health.fileChecks[2].detail.contains("Helper processes can’t read it"))
        #expect(health.fileChecks[1].detail.contains("no domain cookies are accepted"))
        health.needsFonts = false
        #expect(health.fileChecks[2].status == .ok)
        health.hasTLS = false
        #expect(health.fileChecks[0].status == .unsafe)
    }

    @Test("Fonts of the user don't count as fonts that helper processes can read")
    func userFonts() throws {
        let home = FileManager.default.temporaryDirectory.appending(path: "webimage-fonts-\(UUID().uuidString)")
        let folder = home.appending(path: ".local/share/fonts/a")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: home) }
        let fonts = FontFiles(environment: ["HOME": home.path])
        #expect(fonts.userDirectoryWithFont() == nil)
        try Data().write(to: folder.appending(path: "a.ttf"))
        #expect(fonts.userDirectoryWithFont() == home.path + "/.local/share/fonts")
        #expect(fonts.directoryWithFont()?.hasPrefix(home.path) != true)
        if let directory = fonts.directoryWithFont() { #expect(HelperMain.readable.contains(directory)) }
    }

    @Test("Each layer that the kernel lacks has a reason")
    func layers() {
        var kernel = KernelProtection()
        #expect(kernel.layers.map(\.id) == ["landlock", "seccomp", "noNewPrivileges", "userNamespaces", "memoryFiles"])
        kernel.landlockVersion = 7
        kernel.seccompFilters = 1
        kernel.noNewPrivileges = 1
        kernel.maxUserNamespaces = "63000"
        kernel.unprivilegedClone = "1"
        #expect(kernel.layers.allSatisfy { $0.check.status == .ok })
        kernel.landlockVersion = -EOPNOTSUPP
        kernel.seccompFilters = -EINVAL
        kernel.noNewPrivileges = -EINVAL
        kernel.memoryFile = -EPERM
        kernel.appArmorRestriction = "1"
        let checks = kernel.layers.map(\.check)
        #expect(checks.allSatisfy { $0.status == .note && $0.detail.hasPrefix("Missing: ") })
        #expect(checks[0].detail.contains("lsm=") && checks[3].detail.contains("AppArmor"))
        kernel.appArmorRestriction = nil
        kernel.maxUserNamespaces = "0"
        #expect(kernel.layers[3].check.detail.contains("max_user_namespaces is 0"))
        kernel.unprivilegedClone = "0"
        #expect(kernel.layers[3].check.detail.contains("unprivileged_userns_clone is 0"))
    }

    @Test("Querying the kernel changes nothing, so two queries agree")
    func query() {
        #expect(KernelProtection.current() == KernelProtection.current())
    }
}
