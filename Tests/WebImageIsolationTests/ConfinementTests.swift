// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageCodecs
import WebImageCore

@testable import WebImageIsolation

@Suite("Confinement of helpers", .serialized, .enabled(if: Helpers.areBuilt, "webimage-decoder isn't built"))
struct ConfinementTests {
    private func outcome(
        _ attack: String, _ pool: HelperPool, limits: ImageLimits = .desktop, isVector: Bool = false
    ) -> String {
        do {
            let image = try Helpers.attacker(pool, isVector: isVector).decode(
                Data(attack.utf8), context: ImageProcessingContext(limits: limits))
            return "\(image.size)"
        } catch {
            guard case .decoding(let failure) = error, case .corrupted(let reason) = failure.reason else {
                return "error \(error.code)"
            }
            return reason
        }
    }

    @Test("Every layer is active, or is missing with a reason", arguments: HelperKind.allCases)
    func layers(kind: HelperKind) throws {
        let report = try #require(Helpers.pool.report(kind).report)
        #expect(report.noNewPrivileges == .active && report.resourceLimits == .active)
        for (name, state) in report.layers {
            if case .missing(let reason) = state { #expect(!reason.isEmpty, "\(name)") }
        }
    }

    @Test(
        "A decoder that an attacker controls reaches nothing outside its process",
        arguments: [
            "read", "readfont", "list", "write", "writefont", "self", "socket", "unix", "fork", "kill", "limits",
            "executable", "memory", "ptrace", "exec",
        ])
    func refuses(attack: String) throws {
        let pool = try Helpers.probePool(named: "confined")
        let report = try #require(pool.report(.raster).report)
        guard report.landlock == .active, report.systemCallFilter == .active else { return }
        let outcome = outcome(attack, pool)
        // System calls that no decoder makes end the process.
        let expected = ["ptrace", "exec"].contains(attack) ? "error 4011" : "refused"
        #expect(outcome == expected, "\(attack)")
        #expect(self.outcome("pixel", pool) == "1x1")
        // A helper for vector images can only read fonts in addition.
        let vector = self.outcome(attack, pool, isVector: true)
        let canRead = attack == "readfont" && FileManager.default.isReadableFile(atPath: "/etc/fonts/fonts.conf")
        #expect(canRead ? vector.hasPrefix("succeeded") : [expected, "error 4011"].contains(vector), "\(attack)")
    }

    @Test("A helper inherits no descriptors and no environment, and can't gain privileges")
    func inherits() throws {
        let pool = try Helpers.probePool(named: "confined")
        // The standard streams, the socket, and the two parts of shared memory.
        #expect(outcome("inherited", pool) == "6 descriptors, 0 variables")
        let id = try #require(pool.processes.first)
        let status = try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
        #expect(status.contains("NoNewPrivs:\t1"))
    }

    @Test("A helper for all raster formats also serves the common formats, and replaces a helper for these")
    func kinds() throws {
        let pool = Helpers.makePool(try #require(Helpers.decoder), maxHelpers: 1)
        _ = try #require(pool.report(.core).report)
        let core = try #require(pool.processes.first)
        _ = try #require(pool.report(.raster).report)
        let raster = try #require(pool.processes.first)
        #expect(raster != core && pool.processes.count == 1)
        _ = try #require(pool.report(.core).report)
        #expect(pool.processes == [raster])
    }

    @Test("Helpers for the common formats load none of the libraries that other formats need")
    func libraries() throws {
        for (kind, expectsLibraries) in [(HelperKind.core, false), (.raster, true)] {
            let pool = Helpers.makePool(try #require(Helpers.decoder), maxHelpers: 1)
            _ = try #require(pool.report(kind).report)
            let id = try #require(pool.processes.first)
            // Foundation reads only the beginning of such a file into a string.
            let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(id)/maps"))
            let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
            for name in ["libpoppler", "librsvg"] { #expect(!maps.contains(name), "\(kind) \(name)") }
            #if AVIF
                #expect(maps.contains("libavif") == expectsLibraries, "\(kind)")
            #endif
        }
    }

    @Test("A crash fails one request, and the same data isn't retried")
    func crash() throws {
        let pool = try Helpers.probePool(named: "confined")
        #expect(outcome("crash", pool) == "error 4011")
        #expect(outcome("pixel", pool) == "1x1")
        let before = pool.processes
        let error = #expect(throws: ImageError.self) { try Helpers.attacker(pool).decode(Data("crash".utf8)) }
        #expect(error?.message.contains("before") == true)
        #expect(pool.processes == before)
    }

    @Test("A helper that always ends fails the request after three attempts")
    func exits() throws {
        let pool = try Helpers.probePool(named: "confined")
        #expect(outcome("exit", pool) == "error 4011")
        #expect(outcome("pixel", pool) == "1x1")
    }

    @Test("A decoder that never ends is killed at the limit of the processor time")
    func deadline() throws {
        let pool = try Helpers.probePool(named: "confined")
        var limits = ImageLimits.desktop
        limits.maxDecodingTime = .milliseconds(100)
        #expect(outcome("spin", pool, limits: limits) == "error 6007")
        #expect(outcome("pixel", pool) == "1x1")
    }

    @Test("A decoder that waits without using the processor is killed, and its error doesn't state a processor time")
    func waiting() throws {
        // The limit of the time ends the wait, and not the patience with a helper that waits for a processor.
        var patience = HelperPatience()
        patience.idle = .seconds(3_600)
        let pool = try Helpers.probePool(named: "confined", patience: patience)
        var limits = ImageLimits.desktop
        limits.maxDecodingTime = .milliseconds(20)
        func error(_ attack: String) throws -> ImageError? {
            #expect(throws: ImageError.self) {
                try Helpers.attacker(pool).decode(
                    Data(attack.utf8), context: ImageProcessingContext(limits: limits))
            }
        }
        let waiting = try #require(try error("sleep"))
        #expect(
            waiting.code == 6007 && waiting.message.contains("doesn’t respond") && !waiting.message.contains("used"))
        let computing = try #require(try error("spin"))
        #expect(computing.code == 6007 && computing.message.contains("used"))
    }

    @Test("A canceled request ends immediately, whether its decoder checks for cancellation or not")
    func cancellation() throws {
        let pool = try Helpers.probePool(named: "confined")
        for attack in ["work", "spin", "sleep"] {
            let flag = CancellationFlag()
            let checks = Counter()
            let context = ImageProcessingContext(isCancelled: {
                // Cancel after the request was sent.
                if checks.next() == 6 { flag.cancel() }
                return flag.isCancelled
            })
            let error = #expect(throws: ImageError.self) {
                try Helpers.attacker(pool).decode(Data(attack.utf8), context: context)
            }
            #expect(error == .cancelled, "\(attack)")
        }
        #expect(outcome("pixel", pool) == "1x1")
    }

    @Test("A helper that another process kills at any moment costs no request")
    func killed() throws {
        let pool = Helpers.makePool(try #require(Helpers.decoder))
        let data = try ImageCoderRegistry.standard.encode(Images.noise(300, 200), as: .png)
        let expected = try ImageCoderRegistry.standard.decode(data).pixels.packedBytes()
        for round in 0..<20 {
            for id in pool.processes where round % 2 == 0 { kill(id, SIGKILL) }
            #expect(try Helpers.coders(pool).decode(data).pixels.packedBytes() == expected)
        }
    }

    @Test("Helpers are replaced after a number of uses, and leave neither descriptors nor zombies")
    func leaks() throws {
        /// The number of parts of shared memory that this process has open.
        func descriptors() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { name in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
                return target?.contains("memfd:webimage") == true
            }.count
        }
        let before = try descriptors()
        let data = try ImageCoderRegistry.standard.encode(Images.noise(8, 8), as: .png)
        var ids: Set<pid_t> = []
        func use() throws {
            let pool = Helpers.makePool(try #require(Helpers.decoder), maxHelpers: 1, recycleAfter: 3)
            for _ in 0..<10 {
                _ = try Helpers.coders(pool).decode(data)
                ids.formUnion(pool.processes)
            }
        }
        try use()
        #expect(ids.count >= 2)
        // The keeper collects the last processes.
        for id in ids {
            let stat = "/proc/\(id)/stat"
            let deadline = ContinuousClock.now + .seconds(20)
            while FileManager.default.fileExists(atPath: stat), ContinuousClock.now < deadline { sched_yield() }
            #expect(!FileManager.default.fileExists(atPath: stat))
        }
        // Other suites may start and end helpers at the same time, but each of them has two parts of memory.
        #expect(try descriptors() <= before + 2 * 2)
    }

    @Test("A helper with little memory reports that an image needs too much, and remains usable")
    func memory() throws {
        let pool = Helpers.makePool(try #require(Helpers.decoder), maxHelpers: 1, memoryLimit: 600 << 20)
        var limits = ImageLimits.unlimited
        limits.maxDecodingTime = .seconds(20)
        guard ImageCoderRegistry.standard.canDecode(.svg) else { return }
        let svg = Data("<svg xmlns='http://www.w3.org/2000/svg' width='16000' height='12000'/>".utf8)
        let error = #expect(throws: ImageError.self) {
            try Helpers.coders(pool).decode(svg, context: ImageProcessingContext(limits: limits))
        }
        #expect([4010, 4011].contains(error?.code))
        let png = try ImageCoderRegistry.standard.encode(Images.noise(8, 8), as: .png)
        #expect(try Helpers.coders(pool).decode(png).size == PixelSize(width: 8, height: 8))
    }

    @Test("The limits of a request bound the address space of its helper")
    func addressSpace() throws {
        let pool = try Helpers.probePool(named: "confined")
        var large = ImageLimits.desktop
        large.maxDecodedBytes = 1 << 30
        #expect(outcome("gigabytes", pool) == "refused")
        #expect(outcome("gigabytes", pool, limits: large) == "succeeded with 0")
        // The helper is the same, and the limit is lower again.
        #expect(outcome("gigabytes", pool) == "refused")
        #expect(outcome("pixel", pool) == "1x1")
    }

    @Test("The declared size of an image bounds the address space of its helper")
    func declaredSize() throws {
        let pool = try Helpers.probePool(named: "confined")
        #expect(self.outcome("allocate 400", pool) == "succeeded with 0")
        // The name of the attack follows an image of 8 × 8 pixels.
        let png = try ImageCoderRegistry.standard.encode(Images.noise(8, 8), as: .png)
        func outcome(after image: Data, _ attack: String) -> String? {
            do {
                _ = try Helpers.attacker(pool).decode(image + Data("\n\(attack)".utf8))
            } catch {
                guard case .decoding(let failure) = error, case .corrupted(let reason) = failure.reason else {
                    return "error \(error.code)"
                }
                return reason
            }
            return nil
        }
        #expect(outcome(after: png, "allocate 400") == "refused")
        #expect(outcome(after: png, "allocate 4") == "succeeded with 0")
        let canvas = try PixelCanvas(size: PixelSize(width: 3_000, height: 3_000))
        let large = try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: canvas.finish(isOpaque: true)), as: .png)
        #expect(outcome(after: large, "allocate 150") == "succeeded with 0")
    }

    @Test("A helper that decoded a large image is replaced after a pause, and one that decoded a small image isn't")
    func largeImage() throws {
        for (side, isKept) in [(3_000, false), (30, true)] {
            let pool = Helpers.makePool(try #require(Helpers.decoder), maxHelpers: 1)
            let canvas = try PixelCanvas(size: PixelSize(width: side, height: side))
            let png = try ImageCoderRegistry.standard.encode(
                DecodedImage(pixels: canvas.finish(isOpaque: false)), as: .png)
            #expect(try Helpers.coders(pool).decode(png).size == PixelSize(width: side, height: side))
            let id = try #require(pool.processes.first)
            #expect(pool.awaitTrim(upTo: .seconds(60)))
            #expect(pool.processes == (isKept ? [id] : []))
        }
    }

    @Test("Helpers without work end after the idle time")
    func idle() throws {
        let pool = Helpers.makePool(try #require(Helpers.decoder), maxHelpers: 1, idleTime: .seconds(1))
        let png = try ImageCoderRegistry.standard.encode(Images.noise(8, 8), as: .png)
        #expect(try Helpers.coders(pool).decode(png).size == PixelSize(width: 8, height: 8))
        #expect(pool.awaitTrim(upTo: .seconds(60)))
        #expect(pool.processes.isEmpty)
        // The next image starts another one.
        #expect(try Helpers.coders(pool).decode(png).size == PixelSize(width: 8, height: 8))
    }

    /// A system call that fails while a helper starts, and the layer that needs it.
    struct MissingLayer: Sendable, CustomTestStringConvertible {
        let call: String
        let error: String
        let code: Int32
        let layer: String

        var testDescription: String { "\(layer): \(call) fails with \(error)" }
    }

    @Test(
        "A helper that can't have one layer reports the reason, has all others, and decodes",
        .enabled(if: Self.strace != nil, "strace is missing"),
        arguments: [
            MissingLayer(call: "unshare", error: "EPERM", code: EPERM, layer: "network namespace"),
            MissingLayer(call: "landlock_create_ruleset", error: "ENOSYS", code: ENOSYS, layer: "Landlock"),
            MissingLayer(call: "seccomp", error: "EINVAL", code: EINVAL, layer: "system call filter"),
            MissingLayer(call: "prctl", error: "EINVAL", code: EINVAL, layer: "no new privileges"),
            MissingLayer(call: "prlimit64", error: "EPERM", code: EPERM, layer: "resource limits"),
        ])
    func degrades(_ missing: MissingLayer) throws {
        let tracing = try Tracing("-e trace=\(missing.call) -e inject=\(missing.call):error=\(missing.error)")
        defer { tracing.remove() }
        let usual = try #require(Helpers.pool.report(.raster).report)
        let png = try ImageCoderRegistry.standard.encode(Images.noise(30, 20), as: .png)
        for kind in HelperKind.allCases {
            let pool = Helpers.makePool(tracing.script, maxHelpers: 1)
            let result = pool.report(kind)
            let report = try #require(result.report, "\(kind): \(result.reason ?? "")")
            for (layer, other) in zip(report.layers, usual.layers) {
                if layer.name == missing.layer {
                    #expect(layer.state == .missing(reason: String(cString: strerror(missing.code))), "\(kind)")
                } else if missing.call != "prctl" || geteuid() == 0 {
                    // Without privileges, Landlock and the filter require that no new ones can be gained.
                    #expect(layer.state == other.state, "\(kind) \(layer.name)")
                }
            }
            #expect(try Helpers.coders(pool).decode(png).size == PixelSize(width: 30, height: 20), "\(kind)")
        }
    }

    @Test(
        "Without a filter of system calls, a helper that needs no threads can't start processes",
        .enabled(if: Self.strace != nil, "strace is missing"))
    func processes() throws {
        let tracing = try Tracing("-e trace=seccomp,prlimit64 -e inject=seccomp:error=EINVAL")
        defer { tracing.remove() }
        for kind in HelperKind.allCases {
            let pool = Helpers.makePool(tracing.script, maxHelpers: 1)
            _ = try #require(pool.report(kind).report)
        }
        let isLimited = try tracing.logs().map { lines in
            lines.contains { $0.contains("RLIMIT_NPROC, {rlim_cur=0, rlim_max=0}") && $0.hasSuffix("= 0") }
        }
        #expect(isLimited.count { $0 } == 1, "\(isLimited)")
    }

    @Test(
        "A helper under strace opens nothing but fonts after it was confined",
        .enabled(if: Self.strace != nil, "strace is missing"))
    func traced() throws {
        let tracing = try Tracing("-e trace=file,network,process,seccomp")
        defer { tracing.remove() }
        let svg = Data(
            "<svg xmlns='http://www.w3.org/2000/svg' width='90' height='20'><text y='15'>Text</text></svg>".utf8)
        let decoded = withExtendedLifetime(Helpers.makePool(tracing.script, maxHelpers: 2)) { pool in
            let files = Images.files.map { (try? Helpers.coders(pool).decode(Images.data($0))) != nil }
            return files + [(try? Helpers.coders(pool).decode(svg)) != nil]
        }
        #expect(decoded.contains(true))
        let logs = try tracing.logs()
        // A spare helper can be ended before it is confined. Such a helper never received a request.
        let confined = logs.compactMap { lines in
            lines.firstIndex { $0.contains("seccomp(SECCOMP_SET_MODE_FILTER") }.map { lines[$0...] }
        }
        #expect(!confined.isEmpty, "\(logs.count) logs, \(logs.map(\.count)) lines")
        for lines in confined { expectConfined(lines) }
    }

    /// Expects that a helper opened only readable files after the call in the first line, which installs the filter.
    private func expectConfined(_ lines: ArraySlice<Substring>) {
        #expect(lines.first?.contains("= 0") == true)
        let opened = lines.filter {
            $0.contains("open") && !$0.contains("= -1") && !$0.contains("resumed")
        }
        for line in opened { #expect(HelperMain.readable.contains { line.contains("\"\($0)") }, "\(line)") }
        #expect(!lines.contains { $0.contains("socket(") && !$0.contains("= -1") })
    }

    /// A script that starts the helper under strace, and its logs.
    private struct Tracing {
        private let directory = FileManager.default.temporaryDirectory
            .appending(path: "webimage-strace-\(UUID().uuidString)")
        /// The path of the script.
        var script: String { directory.appending(path: "traced").path }

        /// Creates a script that passes options to strace.
        init(_ options: String) throws {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let decoder = try #require(Helpers.decoder)
            // The shell only replaces itself by strace, because helpers have fixed arguments. Each helper has its own
            // log: strace empties an existing file, so a second helper would remove the log of the first.
            let command = "exec \(strace ?? "") -f -qq \(options) -o \(directory.path)/$$.log \(decoder) \"$@\""
            try "#!/bin/sh\n\(command)\n".write(toFile: script, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: script)
        }

        /// Returns the lines of each log.
        func logs() throws -> [[Substring]] {
            try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
                .filter { $0.pathExtension == "log" }
                .map { try String(contentsOf: $0, encoding: .utf8).split(separator: "\n") }
        }

        func remove() { try? FileManager.default.removeItem(at: directory) }
    }

    static let strace = ["/usr/bin/strace", "/bin/strace"].first { FileManager.default.isExecutableFile(atPath: $0) }
}
