// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport

@testable import WebImageServer

@Suite("The parts of the image service", .timeLimit(.minutes(2)))
struct ServiceTests {
    @Test("The clients of the queue take turns")
    func turns() {
        var queue = FairQueue<Int>(slots: 1, limit: 6)
        #expect(queue.add(0, client: "a") == .runs)
        for id in 1...4 { #expect(queue.add(id, client: "a") == .waits) }
        #expect(queue.add(5, client: "b") == .waits && queue.add(6, client: "b") == .waits)
        #expect(queue.add(7, client: "a") == .rejected)
        #expect(queue.add(8, client: "c") == .replaces(4))
        #expect((0..<7).map { _ in queue.finish()?.id } == [1, 5, 8, 2, 6, 3, nil])
        #expect(queue.runningCount == 0 && queue.waitingCount == 0)
    }

    @Test("The queue agrees with its rules in random sequences of steps")
    func model() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            let (slots, limit) = (Int.random(in: 1...4, using: &generator), Int.random(in: 0...6, using: &generator))
            var queue = FairQueue<Int>(slots: slots, limit: limit)
            var (running, waiting) = ([String: Int](), [Int: (client: String, group: String)]())
            var runningCount: Int { running.values.reduce(0, +) }
            let mayRun = { (group: String) in
                running.values.reduce(0, +) < slots && (group == "" || running[group, default: 0] < queue.groupSlots)
            }
            for id in 0..<200 {
                switch Int.random(in: 0..<4, using: &generator) {
                case 0, 1:
                    let client = "\(Int.random(in: 0..<4, using: &generator))"
                    let group = ["", "x", "y"][Int.random(in: 0..<3, using: &generator)]
                    let sameGroup = waiting.values.filter { $0.group == group }
                    let isGroupFull = group != "" && sameGroup.count >= queue.groupLimit
                    switch queue.add(id, client: client, group: group == "" ? nil : group) {
                    case .runs:
                        #expect(mayRun(group))
                        running[group, default: 0] += 1
                    case .waits:
                        #expect(!mayRun(group) && waiting.count < limit && !isGroupFull)
                        waiting[id] = (client, group)
                    case .replaces(let other):
                        let loser = waiting.removeValue(forKey: other)
                        let rivals = waiting.values.filter { !isGroupFull || $0.group == group }
                        let others = rivals.count { $0.client == loser?.client }
                        #expect(loser != nil && others > rivals.count { $0.client == client })
                        waiting[id] = (client, group)
                    case .rejected: #expect(!mayRun(group) && (waiting.count >= limit || isGroupFull))
                    }
                case 2 where runningCount > 0:
                    guard let group = running.filter({ $0.value > 0 }).keys.sorted().first else { continue }
                    running[group, default: 0] -= 1
                    if let next = queue.finish(group: group == "" ? nil : group) {
                        let request = waiting.removeValue(forKey: next.id)
                        #expect(request != nil && request?.group == next.group ?? "" && mayRun(next.group ?? ""))
                        running[next.group ?? "", default: 0] += 1
                    }
                default:
                    guard let (id, request) = waiting.min(by: { $0.key < $1.key }) else { continue }
                    let client = request.client
                    #expect(queue.withdraw(id, client: client) && !queue.withdraw(id, client: client))
                    waiting[id] = nil
                }
                #expect(queue.runningCount == runningCount && queue.waitingCount == waiting.count)
                // No request waits for a slot that it could use.
                #expect(!waiting.values.contains { mayRun($0.group) })
            }
        }
    }

    @Test("Only trusted proxies name the client")
    func clients() throws {
        let trusted = try ["127.0.0.0/8", "10.1.0.0/16", "unix"].map { try #require(AddressRange($0)) }
        for (peer, forwarded, expected) in [
            ("9.9.9.9", "1.1.1.1", "9.9.9.9"), ("127.0.0.1", "1.1.1.1, 2.2.2.2", "2.2.2.2"),
            ("127.0.0.1", "1.1.1.1, 10.1.2.3", "1.1.1.1"), ("unix", "2001:db8::1", "2001:db8::1"),
            ("127.0.0.1", "1.1.1.1, evil", "127.0.0.1"), ("::ffff:127.0.0.1", "3.3.3.3", "3.3.3.3"),
            ("10.2.0.1", "1.1.1.1", "10.2.0.1"), ("127.0.0.1", "1.1.1.1, ::\0evil", "127.0.0.1"),
            ("127.0.0.1", "1.1.1.1, 2.2.2.2\0", "127.0.0.1"), ("unix", "1.1.1.1, 10.1.0.1\0", "unix"),
        ] {
            let address = ClientAddress.address(
                peer: peer, headers: ["X-Forwarded-For": forwarded], trusted: trusted)
            #expect(address == expected)
        }
        #expect(ClientAddress.name(of: "2001:db8::1") == ClientAddress.name(of: "2001:db8::ffff"))
        #expect(ClientAddress.name(of: "1.1.1.1") == "1.1.1.1")
        for text in ["", "10.0.0.0/33", "10.0.0.0/-1", "a", "1.1.1.1/8/8", "::/129", "::\0", "1.1.1.1\0/8"] {
            #expect(AddressRange(text) == nil, "\(text)")
        }
    }

    @Test("Invalid trace contexts are ignored, and a child has the same trace")
    func traces() throws {
        let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let trace = try #require(TraceContext(text))
        #expect(trace.header == text)
        let child = trace.child()
        #expect(child.traceID == trace.traceID && child.spanID != trace.spanID && child.flags == "01")
        #expect(TraceContext(child.header) == child && TraceContext(TraceContext.root().header) != nil)
        for invalid in [
            "", "00", text + "-x", text.uppercased(), "ff" + text.dropFirst(2),
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", String(text.dropLast()),
        ] {
            #expect(TraceContext(invalid) == nil, "\(invalid)")
        }
    }

    private func settings(
        _ arguments: [String] = [], _ environment: [String: String] = [:], file: String? = nil
    ) throws -> ServiceSettings {
        try ServiceSettings(arguments: arguments, environment: environment) { _ in
            guard let file else { throw CocoaError(.fileNoSuchFile) }
            return file
        }
    }

    @Test("A file that can't be read has a message with its path and the reason")
    func unreadableFile() throws {
        let directory = try TemporaryDirectory()
        try Data([0x58, 0xFF]).write(to: URL(filePath: directory.file("binary")))
        for (name, reason) in [
            ("missing", "No such file or directory"), (".", "Is a directory"), ("binary", "the file isn’t UTF-8 text"),
        ] {
            let path = directory.file(name)
            for (arguments, environment, place) in [
                (["--config", path], [:], "--config"), ([], ["WEBIMAGE_CONFIG": path], "WEBIMAGE_CONFIG"),
            ] as [([String], [String: String], String)] {
                do throws(ServiceSettings.Invalid) {
                    _ = try ServiceSettings(
                        arguments: arguments, environment: environment, readFile: ServiceSettings.text(ofFile:))
                    Issue.record("\(name)")
                } catch {
                    #expect(error.description == "\(place): can’t read \(path) (\(reason))")
                }
            }
        }
        let path = directory.file("valid")
        try Data("IMGPROXY_BIND=:1 # ü\n".utf8).write(to: URL(filePath: path))
        #expect(try ServiceSettings.text(ofFile: path) == "IMGPROXY_BIND=:1 # ü\n")
    }

    @Test("Options replace the environment, which replaces the file")
    func precedence() throws {
        let file = """
            # A comment
            IMGPROXY_QUALITY = 10
            IMGPROXY_BIND=":1"
            IMGPROXY_TTL=1
            WEBIMAGE_CACHE_SIZE=7
            WEBIMAGE_CACHE_DIRECTORY=/tmp/x
            """
        let settings = try settings(
            ["--config", "f", "--bind=:3", "--open-proxy"],
            ["IMGPROXY_BIND": ":2", "IMGPROXY_QUALITY": "20", "OTHER": "x"], file: file)
        #expect(settings.address == ":3" && settings.handler.defaultQualities[.jpeg] == 20)
        #expect(settings.handler.maxAge == .seconds(1) && settings.handler.isOpenProxy)
        #expect(settings.manager.diskCache?.sizeLimit == 7 << 20)
        #expect(Set(ServiceSettings.table.map(\.option)).count == ServiceSettings.table.count)
    }

    @Test("Settings with imgproxy's names have imgproxy's meaning, or a bounded one")
    func imgproxySettings() throws {
        let plain = try settings([], ["WEBIMAGE_OPEN_PROXY": "1"])
        let zero = try settings(
            [],
            [
                "WEBIMAGE_OPEN_PROXY": "1", "IMGPROXY_REQUESTS_QUEUE_SIZE": "0", "IMGPROXY_MAX_CLIENTS": "0",
                "IMGPROXY_MAX_SRC_FILE_SIZE": "0", "IMGPROXY_MAX_RESULT_DIMENSION": "0", "IMGPROXY_STRIP_METADATA": "0",
                "IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES": "false",
            ])
        #expect(zero.service.queueSize == plain.service.queueSize && plain.service.queueSize == 256)
        #expect(zero.maxConnections >= 64 && zero.handler.maxResultDimension == 0)
        #expect(zero.manager.limits.maxEncodedBytes == ImageLimits.server.maxEncodedBytes)
        #expect(!zero.handler.stripsMetadata && plain.handler.stripsMetadata)
        #expect(zero.manager.downloader.addressPolicy == .publicOnly)

        // The order of the lines has no meaning.
        let file = "IMGPROXY_FORMAT_QUALITY=avif=50\nIMGPROXY_QUALITY=60"
        let qualities = try settings(["--config=f", "--open-proxy"], file: file).handler.defaultQualities
        #expect(qualities == [.jpeg: 60, .heif: 60, .avif: 50, .webp: 79, .jxl: 77])
        let own = try settings(["--open-proxy", "--quality=60", "--format-quality=jpg=70,heic=71"])
        #expect(own.handler.defaultQualities[.jpeg] == 70 && own.handler.defaultQualities[.heif] == 71)

        let names = ["PRIVATE", "LOOPBACK", "LINK_LOCAL"].map { "IMGPROXY_ALLOW_\($0)_SOURCE_ADDRESSES" }
        var environment = ["WEBIMAGE_OPEN_PROXY": "1", names[0]: "1", names[1]: "0"]
        #expect(try settings([], environment).manager.downloader.addressPolicy == .publicAnd(.privateNetworks))
        environment[names[2]] = "true"
        let policy = try settings([], environment).manager.downloader.addressPolicy
        #expect(policy == .publicAnd([.privateNetworks, .linkLocal]))
        #expect(
            try settings(["--allow-loopback-source-addresses"], ["WEBIMAGE_OPEN_PROXY": "1"])
                .manager.downloader.addressPolicy == .publicAnd(.loopback))
        #expect(
            try settings([], ["WEBIMAGE_OPEN_PROXY": "1", names[0]: "1", "WEBIMAGE_PRIVATE_ADDRESSES": "1"])
                .manager.downloader.addressPolicy == .any)
    }

    @Test("Settings of the memcached tier, of isolation, and of downloads are applied")
    func furtherSettings() throws {
        let settings = try settings([
            "--open-proxy", "--memcached-lease=3", "--memcached-lookup-timeout=20", "--memcached-ttl=60",
            "--isolation=required", "--connections-per-host=32",
        ])
        #expect(
            settings.memcachedLease == 3 && settings.memcachedLookupTimeout == 20 && settings.memcachedLifetime == 60)
        #expect(settings.manager.decoding.isolation == .required)
        #expect(settings.manager.downloader.maxConnectionsPerHost == 32)
    }

    @Test("Invalid settings have a message that names them")
    func invalidSettings() throws {
        let open = ["WEBIMAGE_OPEN_PROXY": "1"]
        for (arguments, environment, file, text) in [
            ([], [:], nil, "IMGPROXY_ALLOWED_SOURCES"), (["--x"], open, nil, "--x"), (["--bind"], open, nil, "--bind"),
            ([], ["IMGPROXY_KEY": "00"], nil, "1 keys and 0 salts"),
            ([], ["IMGPROXY_KEY": "0g", "IMGPROXY_SALT": "00"], nil, "hexadecimal"),
            (["--quality=101"], open, nil, "--quality: “101”"), (["--config=f"], open, "X=1", "f:1"),
            (["--config=f"], open, "\nX", "f:2"), (["--config=f"], open, nil, "can’t read f"),
            (["--open-proxy=maybe"], [:], nil, "maybe"), (["--trusted-proxies=a"], open, nil, "“a”"),
            ([], ["IMGPROXY_ALLOWED_SOURCES": " "], nil, "every client"),
            (["--format-quality=webp"], open, nil, "FORMAT=QUALITY"), (["--isolation=on"], open, nil, "auto, required"),
            (["--allow-private-source-addresses=x"], open, nil, "“x”"),
            (["--memcached-ttl=0"], open, nil, "--memcached-ttl: “0”"),
        ] as [([String], [String: String], String?, String)] {
            do throws(ServiceSettings.Invalid) {
                _ = try ServiceSettings(arguments: arguments, environment: environment) { _ in
                    guard let file else { throw CocoaError(.fileNoSuchFile) }
                    return file
                }
                Issue.record("\(arguments) \(environment)")
            } catch {
                #expect(error.description.contains(text), "\(error)")
            }
        }
    }
}
