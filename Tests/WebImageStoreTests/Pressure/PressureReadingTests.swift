// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import WebImageStore

@Suite("Memory readings from the kernel's files")
struct PressureReadingTests {
    private func stall(_ some: UInt64, _ full: UInt64) -> PressureSample {
        PressureSample(stalls: [PressureSample.Stall(some: some * 1_000, full: full * 1_000)])
    }

    @Test(
        "The stall time in milliseconds during two seconds determines the level",
        arguments: [
            (0, 0, .normal), (149, 0, .normal), (150, 0, .low), (399, 0, .low), (400, 0, .medium),
            (2_000, 199, .medium), (200, 200, .critical),
        ] as [(UInt64, UInt64, MemoryPressureLevel)])
    func stalls(some: UInt64, full: UInt64, level: MemoryPressureLevel) {
        let (before, now) = (stall(7_000, 3_000), stall(7_000 + some, 3_000 + full))
        #expect(PressureReading.level(now, before: before, seconds: 2) == level)
        #expect(PressureReading.level(now, before: nil, seconds: 2) == .normal)
        #expect(PressureReading.level(now, before: before, seconds: 0) == .normal)
        // A counter that decreases is ignored.
        #expect(PressureReading.level(before, before: now, seconds: 2) == .normal)
    }

    @Test("The highest stall of all files determines the level, and missing files are ignored")
    func several() {
        let before = PressureSample(stalls: [.init(some: 0, full: 0), .init(some: 0, full: 0), nil])
        let now = PressureSample(stalls: [nil, .init(some: 500_000, full: 0), .init(some: 9_000_000, full: 0)])
        #expect(PressureReading.level(now, before: before, seconds: 2) == .medium)
    }

    @Test(
        "The percentage of used memory determines the level",
        arguments: [(85, .normal), (86, .medium), (95, .medium), (96, .critical)] as [(UInt64, MemoryPressureLevel)])
    func use(used: UInt64, level: MemoryPressureLevel) {
        var sample = PressureSample()
        (sample.workingSet, sample.limit) = (used, 100)
        #expect(PressureReading.level(sample, before: nil, seconds: 0) == level)
        sample.limit = nil
        #expect(PressureReading.level(sample, before: nil, seconds: 0) == .normal)
        sample.throttle = used - 1
        #expect(PressureReading.level(sample, before: nil, seconds: 0) == .medium)
    }

    @Test("The event counters for out of memory, the limit, and the throttle determine the level")
    func events() {
        func level(_ change: (inout PressureSample) -> Void) -> MemoryPressureLevel {
            var before = PressureSample()
            before.events = .init(high: 1, max: 1, oom: 1)
            var now = before
            (now.workingSet, now.limit) = (50, 100)
            change(&now)
            return PressureReading.level(now, before: before, seconds: 0)
        }
        #expect(level { _ in } == .normal)
        #expect(level { $0.events?.oom = 2 } == .critical)
        #expect(level { $0.events?.max = 2 } == .low)
        for used in [90, nil] as [UInt64?] {
            #expect(
                level {
                    $0.events?.max = 2
                    $0.workingSet = used
                } == .critical)
        }
        #expect(level { $0.events?.high = 2 } == .low)
        #expect(level { $0.events = nil } == .normal)
    }

    @Test("Truncated, empty, and malformed files are read without errors")
    func files() throws {
        let folder = TestDirectory()
        let group = try FakeGroup(folder.path)
        var sample = group.files.sample()
        #expect(sample.stalls == [.init(some: 1_500, full: 700)])
        #expect(sample.events == .init(high: 1, max: 2, oom: 4))
        #expect(sample.workingSet == 600 && sample.limit == 1_000 && sample.throttle == nil)
        for text in ["", "some", "some total=", "some total=x\nfull", "\n\n", "high 1 2\nmax -1\n", "\u{0}"] {
            for name in FakeGroup.names { try group.write(name, text) }
            sample = group.files.sample()
            #expect(sample.stalls == [nil])
            #expect(sample.events == .init() && sample.workingSet == nil && sample.limit == nil)
        }
        try FileManager.default.removeItem(atPath: folder.path)
        #expect(group.files.sample() == PressureSample(stalls: [nil]))
    }

    @Test("The files are those of the machine, of the control group, or of the systemd setting")
    func places() {
        func files(_ groups: String?, _ environment: [String: String] = [:]) -> PressureFiles? {
            PressureFiles.system(environment: environment, groups: groups)
        }
        #expect(files(nil)?.stalls == ["/proc/pressure/memory"])
        #expect(files("0::/\n")?.group == nil)
        let group = files("4:memory:/old\n0::/user.slice/app\n")
        #expect(group?.group == "/sys/fs/cgroup/user.slice/app")
        #expect(group?.stalls.last == "/sys/fs/cgroup/user.slice/app/memory.pressure")
        #expect(files("0::/a\n", ["MEMORY_PRESSURE_WATCH": "/named"])?.stalls.last == "/named")
        #expect(files("0::/a\n", ["MEMORY_PRESSURE_WATCH": "/dev/null"]) == nil)
    }
}

/// Copies of the kernel's files in a directory.
struct FakeGroup {
    static let names = [
        "memory.pressure", "memory.events", "memory.max", "memory.high", "memory.current", "memory.stat",
    ]
    let directory: String
    let files: PressureFiles

    init(_ folder: String) throws {
        self.directory = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        files = PressureFiles(stalls: [folder + "/memory.pressure"], group: folder, acceptsTriggers: false)
        try write(
            "memory.pressure",
            """
            some avg10=0.00 avg60=0.00 avg300=0.00 total=1500
            full avg10=0.00 avg60=0.00 avg300=0.00 total=700

            """)
        try write("memory.events", "low 0\nhigh 1\nmax 2\noom 3\noom_kill 4\n")
        try write("memory.max", "1000\n")
        try write("memory.high", "max\n")
        try write("memory.current", "800\n")
        try write("memory.stat", "anon 500\nfile 300\ninactive_file 200\n")
    }

    func write(_ name: String, _ text: String) throws {
        let file = try #require(fopen("\(directory)/\(name)", "w"))
        fputs(text, file)
        fclose(file)
    }
}
