// SPDX-License-Identifier: MIT

import WebImageCore

extension ImageDownloader.Configuration {
    /// A policy that determines the IP addresses to which the downloader may connect.
    ///
    /// The downloader checks the resolved address for each connection, so neither redirects nor DNS rebinding can lead
    /// to an internal address.
    public enum AddressPolicy: Sendable, Hashable {
        /// All addresses. This is the default, for apps.
        case any
        /// Only public addresses, for servers that load URLs from untrusted users.
        ///
        /// The policy rejects loopback, private, link-local, shared, documentation, benchmark, multicast, and reserved
        /// addresses in any notation, including IPv4 addresses embedded in IPv6 addresses. It also rejects names that
        /// are never public: names of one label, and names under `localhost`, `local`, `internal`, and `home.arpa`.
        ///
        /// A proxy resolves host names, so the downloader can't check their addresses. It ignores proxies from the
        /// environment, and with a proxy in the configuration, all requests fail with
        /// ``ImageError/NetworkFailure/Reason/addressNotAllowed`` unless
        /// ``ImageDownloader/Configuration/Proxy/url(_:enforcesAddressPolicy:)`` declares that the proxy enforces the
        /// policy itself.
        case publicOnly
        /// Public addresses and some kinds of special addresses, for servers that also load from their own network.
        ///
        /// Names under `localhost` need loopback addresses, and the other names that ``publicOnly`` rejects need private or
        /// link-local addresses. In all other respects, the policy is the same as ``publicOnly``.
        case publicAnd(SpecialAddresses)

        /// Kinds of addresses that aren't public.
        public struct SpecialAddresses: OptionSet, Sendable, Hashable {
            /// The bits of the kinds.
            public let rawValue: Int
            /// Creates a set from its bits.
            public init(rawValue: Int) { self.rawValue = rawValue }
            /// The addresses of private networks: `10.0.0.0/8`, `172.16.0.0/12`, `192.168.0.0/16`, and `fc00::/7`.
            public static let privateNetworks = SpecialAddresses(rawValue: 1)
            /// The addresses of this machine: `127.0.0.0/8` and `::1`.
            public static let loopback = SpecialAddresses(rawValue: 2)
            /// The addresses of the local link: `169.254.0.0/16` and `fe80::/10`. The metadata services of cloud providers
            /// have such addresses.
            public static let linkLocal = SpecialAddresses(rawValue: 4)
        }

        /// Returns whether the policy allows a host before its name is resolved.
        func allows(_ host: HostName) -> Bool {
            guard self != .any else { return true }
            if let address = IPAddress(host) { return allows(address) }
            let domain = Self.localDomains.first { host.text == $0 || host.text.hasSuffix(".\($0)") }
            // Resolvers complete names of one label with domains of the local network.
            if domain == nil, host.text.contains(".") { return true }
            guard case .publicAnd(let special) = self else { return false }
            return domain == "localhost"
                ? special.contains(.loopback) : !special.isDisjoint(with: [.privateNetworks, .linkLocal])
        }

        /// The domains whose names are never public (RFC 6761, RFC 6762, RFC 8375, and the reservation of `internal` by
        /// ICANN).
        private static let localDomains = ["localhost", "local", "internal", "home.arpa"]

        func allows(_ address: IPAddress) -> Bool {
            guard self != .any, case .special(_, let kind) = AddressClass(address) else { return true }
            guard case .publicAnd(let allowed) = self else { return false }
            return !allowed.isDisjoint(with: kind)
        }
    }
}

/// The class of an IP address according to the special-purpose address registries (RFC 6890 and its updates).
///
/// If an embedding of IPv4 addresses in IPv6 addresses is in use on the public Internet, the embedded address is
/// classified. Other embeddings are special addresses.
enum AddressClass: Sendable, Hashable {
    /// An address that is globally reachable.
    case global
    /// An address with the name of its range, and its kind if the policy can allow it.
    case special(String, kind: Kind = [])

    typealias Kind = ImageDownloader.Configuration.AddressPolicy.SpecialAddresses

    init(_ address: IPAddress) {
        self = address.bytes.count == 4 ? Self.classify4(address) : Self.classify6(address)
    }

    private struct Range {
        let prefix: [UInt8]
        let length: Int
        let name: String
        var kind: Kind = []

        func contains(_ address: IPAddress) -> Bool { address.hasPrefix(prefix, length) }
        var addressClass: AddressClass { .special(name, kind: kind) }
    }

    private static func classify4(_ address: IPAddress) -> AddressClass {
        ranges4.first { $0.contains(address) }?.addressClass ?? .global
    }

    private static func classify6(_ address: IPAddress) -> AddressClass {
        // A socket reaches a mapped address over IPv4 (RFC 4291 2.5.5.2).
        if address.hasPrefix(mapped, 96) { return embedded(address, at: 12, in: "IPv4-mapped", keepsKind: true) }
        if let range = ranges6.first(where: { $0.contains(address) }) { return range.addressClass }
        // ISATAP (RFC 5214 6.1): the interface identifier consists of 00-00-5e-fe or 02-00-5e-fe and an IPv4 address.
        let bytes = address.bytes
        if bytes[8] & 0xfd == 0, bytes[9] == 0, bytes[10] == 0x5e, bytes[11] == 0xfe {
            return embedded(address, at: 12, in: "ISATAP")
        }
        // IANA assigns global unicast addresses from 2000::/3 (RFC 4291 2.4).
        return address.hasPrefix([0x20], 3) ? .global : .special("outside 2000::/3")
    }

    private static func embedded(
        _ address: IPAddress, at index: Int, in wrapping: String, keepsKind: Bool = false
    ) -> AddressClass {
        guard let inner = IPAddress(bytes: Array(address.bytes[index..<(index + 4)])) else {
            return .special(wrapping)
        }
        guard case .special(let name, let kind) = AddressClass(inner) else { return .global }
        return .special("\(wrapping) \(name)", kind: keepsKind ? kind : [])
    }

    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

    private static let ranges4: [Range] = [
        Range(prefix: [0], length: 8, name: "this network 0/8"),
        Range(prefix: [10], length: 8, name: "private 10/8", kind: .privateNetworks),
        Range(prefix: [100, 64], length: 10, name: "shared 100.64/10"),
        Range(prefix: [127], length: 8, name: "loopback 127/8", kind: .loopback),
        Range(prefix: [169, 254], length: 16, name: "link-local 169.254/16", kind: .linkLocal),
        Range(prefix: [172, 16], length: 12, name: "private 172.16/12", kind: .privateNetworks),
        Range(prefix: [192, 0, 0], length: 24, name: "protocol assignments 192.0.0/24"),
        Range(prefix: [192, 0, 2], length: 24, name: "documentation 192.0.2/24"),
        Range(prefix: [192, 88, 99], length: 24, name: "6to4 relay 192.88.99/24"),
        Range(prefix: [192, 168], length: 16, name: "private 192.168/16", kind: .privateNetworks),
        Range(prefix: [198, 18], length: 15, name: "benchmarks 198.18/15"),
        Range(prefix: [198, 51, 100], length: 24, name: "documentation 198.51.100/24"),
        Range(prefix: [203, 0, 113], length: 24, name: "documentation 203.0.113/24"),
        Range(prefix: [224], length: 4, name: "multicast 224/4"),
        Range(prefix: [240], length: 4, name: "reserved 240/4"),
    ]

    private static let ranges6: [Range] = [
        Range(prefix: [UInt8](repeating: 0, count: 15) + [1], length: 128, name: "loopback ::1", kind: .loopback),
        Range(prefix: [], length: 96, name: "unspecified, IPv4-compatible ::/96"),
        // A translator of the local network can reach an internal IPv4 address in such an address (RFC 6052).
        Range(prefix: [0x00, 0x64, 0xff, 0x9b], length: 96, name: "NAT64 64:ff9b::/96"),
        Range(prefix: [0x00, 0x64, 0xff, 0x9b, 0x00, 0x01], length: 48, name: "local NAT64 64:ff9b:1::/48"),
        Range(prefix: [0x01, 0x00], length: 64, name: "discard 100::/64"),
        Range(prefix: [0x20, 0x01], length: 23, name: "protocol assignments 2001::/23, Teredo"),
        Range(prefix: [0x20, 0x01, 0x0d, 0xb8], length: 32, name: "documentation 2001:db8::/32"),
        // These addresses contain the IPv4 address of a router (RFC 3056), which can be internal.
        Range(prefix: [0x20, 0x02], length: 16, name: "6to4 2002::/16"),
        Range(prefix: [0x3f, 0xff, 0x00], length: 20, name: "documentation 3fff::/20"),
        Range(prefix: [0xfc], length: 7, name: "unique local fc00::/7", kind: .privateNetworks),
        Range(prefix: [0xfe, 0x80], length: 10, name: "link-local fe80::/10", kind: .linkLocal),
        Range(prefix: [0xfe, 0xc0], length: 10, name: "site-local fec0::/10"),
        Range(prefix: [0xff], length: 8, name: "multicast ff00::/8"),
    ]
}
