// SPDX-License-Identifier: MIT

import Foundation
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

    /// The number of attacks, which the environment can raise.
    static let rounds = ProcessInfo.processInfo.environment["WEBIMAGE_HOSTILE_RUNS"].flatMap(Int.init) ?? 100

    @Test("A hostile helper gets nothing but an image within the limits, or an error, through")
    func hostile() throws {
        let data = try ImageCoderRegistry.standard.encode(Images.noise(24, 18), as: .png)
        var limits = ImageLimits.desktop
        limits.maxDecodingTime = .milliseconds(300)
        limits.maxDimension = 1_000
        for round in 0..<Self.rounds / 10 {
            let pool = try Helpers.probePool(named: "hostile-\(round)")
            let coders = Helpers.coders(pool)
            for step in 0..<10 {
                // The data differs, because data that crashed a helper isn't passed again.
                var own = data
                own.append(contentsOf: [UInt8(step), UInt8(round & 0xFF), UInt8(round >> 8)])
                let context = ImageProcessingContext(limits: limits)
                do {
                    let image = try coders.decode(own, context: context)
                    #expect(image.size.width <= 1_000 && image.size.height <= 1_000)
                    _ = try? image.animation?.frame(at: 0)
                } catch {
                    #expect(!error.message.unicodeScalars.contains { $0.value < 0x20 }, "\(error)")
                }
                if step == 9 { _ = try? coders.encode(Images.noise(4, 4), as: .png, context: context) }
            }
        }
        // This process is unharmed.
        #expect(try Helpers.coders().decode(data).size == PixelSize(width: 24, height: 18))
    }

    @Test(
        "A helper under strace opens nothing but fonts after it was confined",
        .enabled(if: Self.strace != nil, "strace is missing"))
    func traced() throws {
        let log = FileManager.default.temporaryDirectory.appending(path: "webimage-strace-\(getpid())")
        let script = FileManager.default.temporaryDirectory.appending(path: "webimage-traced-\(getpid())")
        defer { for file in [log, script] { try? FileManager.default.removeItem(at: file) } }
        let decoder = try #require(Helpers.decoder)
        // The shell only replaces itself by strace, because helpers have fixed arguments.
        let text =
            "#!/bin/sh\nexec \(Self.strace ?? "") -f -qq -e trace=file,network,process,seccomp -o \(log.path) \(decoder) \"$@\"\n"
        try text.write(to: script, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: script.path)
        let svg = Data(
            "<svg xmlns='http://www.w3.org/2000/svg' width='90' height='20'><text y='15'>Text</text></svg>".utf8)
        withExtendedLifetime(Helpers.makePool(script.path, maxHelpers: 2)) { pool in
            for file in Images.files { _ = try? Helpers.coders(pool).decode(Images.data(file)) }
            _ = try? Helpers.coders(pool).decode(svg)
        }
        let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
        let confined = try #require(lines.firstIndex { $0.contains("seccomp(SECCOMP_SET_MODE_FILTER") })
        #expect(lines[confined].contains("= 0"))
        let opened = lines[confined...].filter {
            $0.contains("open") && !$0.contains("= -1") && !$0.contains("resumed")
        }
        for line in opened { #expect(HelperMain.readable.contains { line.contains("\"\($0)") }, "\(line)") }
        #expect(!lines[confined...].contains { $0.contains("socket(") && !$0.contains("= -1") })
    }

    static let strace = ["/usr/bin/strace", "/bin/strace"].first { FileManager.default.isExecutableFile(atPath: $0) }
}
