// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImage
import WebImageCommand
import WebImageCore
import WebImageIsolation
import WebImageNet
import WebImageStore

/// The parts of the system that loading and decoding depend on.
package struct SystemHealth: Sendable {
    /// The size of the RAM in bytes.
    package var memory = 0
    /// The memory limit of the process in bytes, which is the size of the RAM or that of a control group.
    package var memoryLimit = 0
    /// The maximum number of open files, or `nil` if it’s unlimited.
    package var fileLimit: Int?
    /// The current time.
    package var now = Date()
    /// The modification time of the running program, before which the current time can’t be.
    package var programDate: Date?
    /// Whether the build can draw text, which SVG and PDF images contain.
    package var needsFonts = true
    /// Whether a configuration of fontconfig exists.
    package var hasFontConfiguration = false
    /// The directory in which a font was found and that helper processes can read, or `nil` if there’s none.
    package var fontDirectory: String?
    /// The directory of the user in which a font was found, or `nil` if there’s none. Helper processes can’t read it.
    package var userFontDirectory: String?
    /// The file or directory with certificate authorities, or `nil` if there’s none.
    package var certificates: String?
    /// Whether libcurl supports TLS.
    package var hasTLS = true
    /// Whether the list of public suffixes is available.
    package var hasPublicSuffixes = true

    package init() {}

    /// Queries the system. Blocks.
    package static func current(environment: [String: String]) -> SystemHealth {
        var health = SystemHealth()
        health.memory = SystemMemory.physical()
        health.memoryLimit = SystemMemory.limit()
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < rlim_t(Int.max) {
            health.fileLimit = Int(limit.rlim_cur)
        }
        // Unlike `attributesOfItem(atPath:)`, stat follows the link.
        var program = stat()
        if stat("/proc/self/exe", &program) == 0 {
            health.programDate = Date(timeIntervalSince1970: Double(program.st_mtim.tv_sec))
        }
        health.needsFonts = !Set(Doctor.enabledTraits).isDisjoint(with: ["SVG", "PDF"])
        let fonts = FontFiles(environment: environment)
        health.hasFontConfiguration = fonts.hasConfiguration
        health.fontDirectory = fonts.directoryWithFont()
        health.userFontDirectory = fonts.userDirectoryWithFont()
        health.certificates = certificatePaths(environment).first { FileManager.default.isReadableFile(atPath: $0) }
        health.hasTLS = TransportLibrary.tlsLibrary != nil
        health.hasPublicSuffixes = TransportLibrary.hasPublicSuffixes
        return health
    }

    /// Returns the places of certificate authorities: those of OpenSSL’s variables, and those of distributions.
    private static func certificatePaths(_ environment: [String: String]) -> [String] {
        [environment["SSL_CERT_FILE"], environment["SSL_CERT_DIR"]].compactMap { $0 } + [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
        ]
    }

    // MARK: - Checks

    /// The checks of memory and files.
    package var resourceChecks: [DoctorReport.Check] { [memoryCheck, filesCheck] }

    private var memoryCheck: DoctorReport.Check {
        let group =
            memoryLimit < memory ? ", limited to \(NumberFormatting.bytes(memoryLimit)) by a control group" : ""
        let text = "\(NumberFormatting.bytes(memory)) of RAM\(group)"
        let budget = ImageManager.Configuration().decodingMemoryLimit
        // The memory cache uses up to an eighth, and the program itself needs memory, too.
        guard memoryLimit / 2 < budget else { return .init("memory", .ok, "memory", text) }
        return .init(
            "memory", .note, "memory",
            "\(text), but running decodes use up to \(NumberFormatting.bytes(budget)).",
            remedy: "Lower decodingMemoryLimit, or raise the limit of the control group.")
    }

    private var filesCheck: DoctorReport.Check {
        guard let fileLimit else { return .init("openFiles", .ok, "open files", "unlimited") }
        let text = "up to \(NumberFormatting.grouped(fileLimit))"
        guard fileLimit < 1_024 else { return .init("openFiles", .ok, "open files", text) }
        return .init(
            "openFiles", .note, "open files", "\(text), which can be too few for many connections.",
            remedy: "Raise the limit with ulimit -n or LimitNOFILE= of systemd.")
    }

    /// The checks of the files that TLS, cookies, and vector images need.
    package var fileChecks: [DoctorReport.Check] {
        [certificateCheck, suffixCheck, fontCheck, clockCheck]
    }

    private var certificateCheck: DoctorReport.Check {
        guard hasTLS else {
            return .init(
                "certificates", .unsafe, "certificates", "libcurl was built without TLS.",
                remedy: "Install a libcurl with OpenSSL.")
        }
        guard let certificates else {
            return .init(
                "certificates", .note, "certificates",
                "No certificate authorities were found, so connections with https fail.",
                remedy: "Install the package ca-certificates.")
        }
        return .init("certificates", .ok, "certificates", certificates)
    }

    private var suffixCheck: DoctorReport.Check {
        guard !hasPublicSuffixes else {
            return .init("publicSuffixes", .ok, "public suffixes", "The list of libpsl is available.")
        }
        return .init(
            "publicSuffixes", .note, "public suffixes",
            "libpsl isn’t available, so no domain cookies are accepted for names that resemble a public suffix, such as "
                + "co.uk and bbc.uk.",
            remedy: "Install the package libpsl5.")
    }

    private var fontCheck: DoctorReport.Check {
        guard needsFonts else { return .init("fonts", .ok, "fonts", "This build draws neither SVG nor PDF images.") }
        guard let fontDirectory else {
            if let userFontDirectory {
                return .init(
                    "fonts", .note, "fonts",
                    "Only \(userFontDirectory) has fonts. Helper processes can’t read it, so text in SVG and PDF images is "
                        + "invisible.",
                    remedy: "Install a package with fonts, such as fonts-dejavu-core, or copy the fonts to "
                        + "/usr/local/share/fonts.")
            }
            return .init(
                "fonts", .note, "fonts", "No fonts were found, so text in SVG and PDF images is invisible.",
                remedy: "Install a package with fonts, such as fonts-dejavu-core.")
        }
        guard hasFontConfiguration else {
            return .init(
                "fonts", .note, "fonts", "\(fontDirectory) has fonts, but fontconfig has no configuration.",
                remedy: "Install the package fontconfig-config.")
        }
        return .init("fonts", .ok, "fonts", fontDirectory)
    }

    private var clockCheck: DoctorReport.Check {
        let text = CacheRow.timestamp(now)
        // A program that was written after the current time proves that the clock is slow. An hour is for time zones of
        // file systems without one.
        guard let programDate, now.addingTimeInterval(3_600) < programDate else {
            return .init("clock", .ok, "clock", text)
        }
        return .init(
            "clock", .note, "clock",
            "\(text) is before this program was built. Certificates and cached responses seem not yet valid.",
            remedy: "Set the clock, for example with timedatectl set-ntp true.")
    }
}

/// The fonts of the system, without the library fontconfig.
struct FontFiles {
    private let environment: [String: String]
    /// The number of directory entries after which the search ends.
    private static let searchLimit = 2_000
    private static let extensions: Set<String> = ["ttf", "otf", "ttc", "pfb", "woff", "woff2"]

    init(environment: [String: String]) { self.environment = environment }

    var hasConfiguration: Bool {
        let paths = [environment["FONTCONFIG_FILE"], "/etc/fonts/fonts.conf", "/usr/share/fontconfig/fonts.conf"]
        return paths.compactMap { $0 }.contains { FileManager.default.isReadableFile(atPath: $0) }
    }

    /// Returns the first directory that contains a font, at any depth, and that helper processes can read.
    func directoryWithFont() -> String? {
        let names = ["fonts", "user-fonts", "local-fonts"]
        return HelperMain.readable.first { folder in
            // The configuration of fontconfig contains no fonts.
            !folder.hasPrefix("/etc/") && names.contains { folder.hasSuffix("/" + $0) } && Self.containsFont(folder)
        }
    }

    /// Returns the first directory of the user that contains a font, at any depth.
    func userDirectoryWithFont() -> String? {
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return ["\(home)/.local/share/fonts", "\(home)/.fonts"].first(where: Self.containsFont)
    }

    private static func containsFont(_ folder: String) -> Bool {
        guard let names = FileManager.default.enumerator(atPath: folder) else { return false }
        var count = 0
        while let name = names.nextObject() as? String, count < searchLimit {
            count += 1
            let file = name.hasSuffix(".gz") ? String(name.dropLast(3)) : name
            if let dot = file.lastIndex(of: "."), extensions.contains(file[file.index(after: dot)...].lowercased()) {
                return true
            }
        }
        return false
    }
}
