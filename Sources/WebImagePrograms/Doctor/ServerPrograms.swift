// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImage
import WebImageCommand
import WebImageServer

/// The checks of the parts that run next to the image server: proxies, memcached, nginx, and systemd.
package enum ServerPrograms {
    // MARK: - Proxies

    /// Returns the checks of the trusted proxies together with the address of the server.
    package static func proxyChecks(address: String, trusted: [AddressRange]) -> [DoctorReport.Check] {
        let trustsAll = ["192.0.2.1", "203.0.113.1", "2001:db8::1"].filter { address in
            trusted.contains { $0.contains(address) }
        }
        if !trustsAll.isEmpty {
            return [
                .init(
                    "trusted-proxies", .unsafe, "trusted proxies",
                    "Every client is trusted, so it can claim any address in X-Forwarded-For.",
                    remedy: "Name only the addresses of your proxies in WEBIMAGE_TRUSTED_PROXIES.")
            ]
        }
        if address.hasPrefix("unix:"), !trusted.contains(where: { $0.contains("unix") }) {
            return [
                .init(
                    "trusted-proxies", .unsafe, "trusted proxies",
                    "All clients of \(address) count as one client, so they share one place in the queue.",
                    remedy: "Set WEBIMAGE_TRUSTED_PROXIES=unix, and let the proxy set X-Forwarded-For.")
            ]
        }
        return [.init("trusted-proxies", .ok, "trusted proxies", trusted.isEmpty ? "none" : "\(trusted.count)")]
    }

    // MARK: - memcached

    /// The commands whose responses ``memcachedCheck(_:answer:)`` reads.
    static let memcachedCommands = "version\r\nstats settings\r\nquit\r\n"

    /// The default of `MemcachedConfiguration.maxValueSize`. The programs don't use the module WebImageMemcached, because
    /// they would be linked to libmemcached, which only the server needs.
    static let memcachedValueSize = 1_000_000

    /// Returns the check of a memcached server. `answer` contains the responses to `version` and `stats settings`, or
    /// is empty.
    package static func memcachedCheck(_ name: String, answer: String) -> DoctorReport.Check {
        let lines = answer.split(whereSeparator: \.isNewline)
        guard let version = lines.first, version.hasPrefix("VERSION ") else {
            return .init(
                "server", .unsafe, name, answer.isEmpty ? "The server doesn’t respond." : "This isn’t memcached.",
                remedy: "Start memcached, or remove the server from all machines at the same time.")
        }
        let item = "STAT item_size_max "
        guard let line = lines.first(where: { $0.hasPrefix(item) }), let limit = Int(line.dropFirst(item.count)) else {
            return .init("server", .ok, name, String(version))
        }
        // A server also counts the key and its own header.
        let wanted = memcachedValueSize + 512
        guard limit >= wanted else {
            return .init(
                "server", .note, name,
                "\(version). It stores values of up to \(limit) bytes, and larger images are loaded again on each machine.",
                remedy: "Start memcached with `-I 1m`, or a larger value.")
        }
        return .init("server", .ok, name, "\(version), values of up to \(limit) bytes")
    }

    // MARK: - nginx

    static func nginxChecks(_ file: String) -> [DoctorReport.Check] {
        let program = "/usr/sbin/nginx"
        guard access(program, X_OK) == 0 else { return [.init("nginx", .note, "nginx", "not installed")] }
        guard let test = run(program, ["-t", "-q", "-c", file]) else {
            return [.init("nginx", .note, "nginx", "\(program) can’t be started.")]
        }
        guard test.status == 0 else {
            let lines = test.error.split(separator: "\n").prefix(3).joined(separator: " ")
            return [
                .init(
                    "nginx", .unsafe, "nginx", "\(file) isn’t valid: \(lines)",
                    remedy: "Correct the file. Run the command as root if nginx can’t read it.")
            ]
        }
        let valid = DoctorReport.Check("nginx", .ok, "nginx", "\(file) is valid")
        guard let dump = run(program, ["-T", "-q", "-c", file]), dump.status == 0 else { return [valid] }
        return [valid] + slashChecks(dump.output)
    }

    /// Returns the check of `merge_slashes` in the output of `nginx -T`, or none if the configuration forwards no
    /// requests.
    package static func slashChecks(_ dump: String) -> [DoctorReport.Check] {
        let words = dump.split(separator: "\n").flatMap { line in
            line.prefix { $0 != "#" }.split { " \t;{}".contains($0) }
        }
        guard words.contains("proxy_pass") else { return [] }
        let isOff = zip(words, words.dropFirst()).contains { $0 == "merge_slashes" && $1 == "off" }
        return [
            isOff
                ? .init("merge-slashes", .ok, "slashes", "merge_slashes off")
                : .init(
                    "merge-slashes", .note, "slashes",
                    "nginx merges slashes, so locations and caches can see other paths than those that are signed.",
                    remedy: "Set `merge_slashes off;` in the server block of the image server.")
        ]
    }

    // MARK: - systemd

    /// Returns the check of a unit of systemd, or none if the unit or systemd-analyze isn’t installed.
    package static func unitChecks(_ unit: String) -> [DoctorReport.Check] {
        guard access(unit, R_OK) == 0, access("/usr/bin/systemd-analyze", X_OK) == 0,
            let result = run("/usr/bin/systemd-analyze", ["verify", "--man=no", unit])
        else { return [] }
        let name = URL(filePath: unit).lastPathComponent
        // The command also reports problems of other units, which this unit needs.
        let problems = result.error.split(separator: "\n").filter { $0.contains(name) }
        guard problems.isEmpty, result.status == 0 else {
            let text = problems.isEmpty ? "systemd-analyze has the status \(result.status)." : problems[0]
            return [
                .init(
                    "unit", .unsafe, "unit", String(text),
                    remedy: "Run `systemd-analyze verify \(unit)`, and correct the unit.")
            ]
        }
        return [.init("unit", .ok, "unit", "\(unit) is valid")]
    }

    // MARK: - Programs

    /// Runs a program without input. Returns `nil` if it can’t be started.
    private static func run(_ program: String, _ words: [String]) -> (status: Int32, output: String, error: String)? {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = words
        let directory = FileManager.default.temporaryDirectory.appending(path: "webimage-doctor-\(UUID().uuidString)")
        let errors = directory.path(percentEncoded: false)
        // A second pipe could fill up while this thread reads the first one.
        let descriptor = open(errors, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        defer {
            close(descriptor)
            unlink(errors)
        }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle(fileDescriptor: descriptor)
        process.standardInput = FileHandle.nullDevice
        do { try process.run() } catch { return nil }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let problems = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
        return (process.terminationStatus, text, problems)
    }
}
