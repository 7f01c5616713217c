// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageTestSupport

@testable import WebImageNet

@Suite("Address classes")
struct AddressClassTests {
    @Test(
        "Public addresses are allowed",
        arguments: [
            "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
            "128.0.0.0", "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.0.1.1", "192.0.3.0", "192.167.255.255",
            "192.169.0.0", "198.17.255.255", "198.20.0.0", "203.0.112.255", "223.255.255.255", "2606:4700::1111",
            "[2001:4860:4860::8888]", "2001:200::1", "2a00:1450::5efe", "::ffff:8.8.8.8", "2606:4700::5efe:808:808",
            "0x8.8.8.8", "134744072", "3ffe::1",
        ])
    func global(_ host: String) throws {
        #expect(AddressClass(try #require(IPAddress(host: host))) == .global)
    }

    @Test("Kinds of special addresses can be allowed separately")
    func specialAddresses() throws {
        typealias Policy = ImageDownloader.Configuration.AddressPolicy
        let hosts: [(host: String, kind: Policy.SpecialAddresses)] = [
            ("10.1.2.3", .privateNetworks), ("172.31.0.1", .privateNetworks), ("192.168.0.1", .privateNetworks),
            ("::ffff:10.1.2.3", .privateNetworks), ("fd00::1", .privateNetworks), ("127.0.0.1", .loopback),
            ("0x7f.1", .loopback), ("::1", .loopback), ("::ffff:127.0.0.1", .loopback), ("169.254.169.254", .linkLocal),
            ("fe80::1", .linkLocal), ("0.0.0.0", []), ("::", []), ("100.64.0.1", []), ("224.0.0.1", []),
            ("172.32.0.1", []), ("fec0::1", []), ("64:ff9b::7f00:1", []), ("::7f00:1", []), ("a00::1", []),
        ]
        for (host, kind) in hosts {
            let address = try #require(IPAddress(host: host), "\(host)")
            if case .special(_, let found) = AddressClass(address) { #expect(found == kind, "\(host)") }
            for allowed in [Policy.SpecialAddresses.privateNetworks, .loopback, .linkLocal] {
                let isAllowed = allowed == kind || AddressClass(address) == .global
                #expect(Policy.publicAnd(allowed).allows(address) == isAllowed, "\(host)")
                #expect(Policy.publicAnd(allowed).allows(try #require(HostName(host))) == isAllowed, "\(host)")
            }
        }
        for (name, allowed, expected) in [
            ("localhost", .loopback, true), ("a.localhost", .loopback, true), ("localhost", .privateNetworks, false),
            ("nas", .privateNetworks, true), ("nas.local", .linkLocal, true), ("nas.internal", .loopback, false),
            ("nas", [], false), ("a.example", [], true),
        ] as [(String, Policy.SpecialAddresses, Bool)] {
            #expect(Policy.publicAnd(allowed).allows(try #require(HostName(name))) == expected, "\(name)")
        }
    }

    @Test(
        "All other addresses are rejected in every notation",
        arguments: [
            "0.0.0.0", "0.1.2.3", "0", "10.0.0.1", "10.255.255.255", "012.0.0.1", "0xa.1", "100.64.0.0",
            "100.127.255.255", "127.0.0.1", "127.1", "0x7f000001", "2130706433", "017700000001", "0177.0.0.01",
            "127.255.255.255", "169.254.169.254", "0xa9fea9fe", "2852039166", "172.16.0.0", "172.31.255.255",
            "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255",
            "198.51.100.1", "203.0.113.255", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
            "::", "::1", "[::1]", "0:0:0:0:0:0:0:1", "::127.0.0.1", "::8.8.8.8", "::7f00:1", "::ffff:127.0.0.1",
            "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::FFFF:192.168.0.1", "::ffff:0:127.0.0.1",
            "64:ff9b::8.8.8.8", "64:ff9b::127.0.0.1", "64:ff9b:1::1", "64:ff9b:1:ffff::10.0.0.1", "100::1",
            "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:1ff::1", "2001:db8::1", "2002:7f00:1::1",
            "2002:808:808::1", "fe80::1", "fe80::1%lo", "febf::1", "fec0::1", "feff::1", "fc00::1", "fd12:3456::1",
            "ff02::1", "3fff::1", "4000::1", "2606:4700::5efe:7f00:1", "2606:4700::200:5efe:10.0.0.1",
            "2606:4700::5efe:169.254.169.254", "fe80::5efe:8.8.8.8",
        ])
    func special(_ host: String) throws {
        #expect(AddressClass(try #require(IPAddress(host: host))) != .global)
        #expect(!ImageDownloader.Configuration.AddressPolicy.publicOnly.allows(try #require(IPAddress(host: host))))
        #expect(ImageDownloader.Configuration.AddressPolicy.any.allows(try #require(IPAddress(host: host))))
    }

    @Test(
        "Host names are rejected", arguments: ["example.com", "localhost", "1.2.3.4.5", "", "[", "::g", "127.0.0.256"])
    func names(_ host: String) {
        #expect(IPAddress(host: host) == nil)
    }

    @Test("Every spelling of an address that isn't public is rejected, and so are local names")
    func spellings() throws {
        let policy = ImageDownloader.Configuration.AddressPolicy.publicOnly
        let special = AddressSpellings.special
        #expect(special.count >= 150)
        for spelling in special {
            let url = try #require(URL(string: "http://\(spelling):80/"), "\(spelling)")
            let host = try #require(HostName(of: url), "\(spelling)")
            #expect(!policy.allows(host) && IPAddress(host) != nil, "\(spelling)")
        }
        for name in AddressSpellings.localNames { #expect(!policy.allows(try #require(HostName(name))), "\(name)") }
        for name in ["a.example", "localhost.example", "internal.example", "mylocal.example"] {
            #expect(policy.allows(try #require(HostName(name))), "\(name)")
        }
        for spelling in AddressSpellings.notations(of: [8, 8, 4, 4]) + AddressSpellings.mapped([8, 8, 4, 4]) {
            #expect(policy.allows(try #require(HostName(spelling))), "\(spelling)")
        }
    }

    @Test("The addresses immediately before and after each range have another class")
    func edges() throws {
        for (first, last) in [
            ("10.0.0.0", "10.255.255.255"), ("100.64.0.0", "100.127.255.255"), ("127.0.0.0", "127.255.255.255"),
            ("169.254.0.0", "169.254.255.255"), ("172.16.0.0", "172.31.255.255"), ("192.168.0.0", "192.168.255.255"),
            ("198.18.0.0", "198.19.255.255"), ("203.0.113.0", "203.0.113.255"),
        ] {
            let low = try #require(IPAddress(host: first)).number
            let high = try #require(IPAddress(host: last)).number
            for (number, isGlobal) in [(low - 1, true), (low, false), (high, false), (high + 1, true)] {
                let address = try #require(IPAddress(number: number))
                #expect((AddressClass(address) == .global) == isGlobal, "\(address.bytes)")
            }
        }
    }
}

extension IPAddress {
    fileprivate var number: UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    fileprivate init?(number: UInt32) {
        self.init(bytes: withUnsafeBytes(of: number.bigEndian) { Array($0) })
    }
}
