// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageCommand
import WebImageMemcached
import WebImageServer
import WebImageTestSupport

@testable import WebImagePrograms

@Suite("The checks of the programs next to the image server")
struct ServerProgramsTests {
    @Test("Trusted proxies must suit the address, and must not be all clients")
    func proxies() throws {
        for (address, trusted, status) in [
            (":8080", [], DoctorReport.Status.ok), (":8080", ["10.0.0.0/8"], .ok), ("unix:/run/a", ["unix"], .ok),
            ("unix:/run/a", [], .unsafe), ("unix:/run/a", ["127.0.0.1"], .unsafe), (":8080", ["0.0.0.0/0"], .unsafe),
            (":8080", ["unix", "::/0"], .unsafe),
        ] {
            let ranges = try trusted.map { try #require(AddressRange($0)) }
            let checks = ServerPrograms.proxyChecks(address: address, trusted: ranges)
            #expect(checks.map(\.status) == [status], "\(address) \(trusted)")
        }
    }

    @Test("The wanted size of values in memcached is that of the tier")
    func memcachedValueSize() {
        #expect(ServerPrograms.memcachedValueSize == MemcachedConfiguration(servers: []).maxValueSize)
    }

    @Test("A memcached server that doesn't store the largest images is a note with its limit")
    func memcached() {
        for (answer, status, text) in [
            ("", DoctorReport.Status.unsafe, "respond"), ("HTTP/1.1 400 Bad Request\r\n", .unsafe, "isn’t memcached"),
            ("VERSION 1.6\r\n", .ok, "VERSION 1.6"),
            ("VERSION 1.6\r\nSTAT maxbytes 1\r\nSTAT item_size_max 1048576\r\nEND\r\n", .ok, "1048576"),
            ("VERSION 1.6\r\nSTAT item_size_max 524288\r\nEND\r\n", .note, "524288"),
        ] {
            let check = ServerPrograms.memcachedCheck("a:1", answer: answer)
            #expect(check.status == status && check.detail.contains(text), "\(check)")
        }
    }

    @Test("A proxy that merges slashes is a note, and comments have no effect")
    func slashes() {
        let proxy = "server { location / { proxy_pass http://images; } }\n"
        for (dump, status) in [
            ("server { listen 80; }", nil), (proxy, DoctorReport.Status.note), (proxy + "merge_slashes  off;", .ok),
            (proxy + "# merge_slashes off;", .note), (proxy + "merge_slashes on;", .note),
            ("# proxy_pass http://images;", nil),
        ] {
            #expect(ServerPrograms.slashChecks(dump).map(\.status) == (status.map { [$0] } ?? []), "\(dump)")
        }
    }

    @Test(
        "A unit with an invalid value is reported with the message of systemd",
        .enabled(if: access("/usr/bin/systemd-analyze", X_OK) == 0, "systemd-analyze isn't installed"))
    func unit() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("webimage-serve.service")
        #expect(ServerPrograms.unitChecks(path).isEmpty)
        let unit = "[Unit]\nDescription=x\n[Service]\nExecStart=/bin/true\n"
        try Data(unit.utf8).write(to: URL(filePath: path))
        #expect(ServerPrograms.unitChecks(path).map(\.status) == [.ok])
        try Data((unit + "Type=nonsense\n").utf8).write(to: URL(filePath: path))
        let check = try #require(ServerPrograms.unitChecks(path).first)
        #expect(check.status == .unsafe && check.detail.contains("nonsense"), "\(check)")
    }
}
