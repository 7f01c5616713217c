// SPDX-License-Identifier: MIT

/// The spellings of IP addresses in URLs that bypass simple checks.
public enum AddressSpellings {
    /// One address of each IPv4 range that isn't public.
    public static let specialIPv4: [[UInt8]] = [
        [0, 0, 0, 0], [10, 0, 0, 1], [100, 64, 0, 1], [127, 0, 0, 1], [169, 254, 169, 254], [172, 16, 0, 1],
        [192, 0, 0, 1], [192, 0, 2, 1], [192, 88, 99, 1], [192, 168, 0, 1], [198, 18, 0, 1], [198, 51, 100, 1],
        [203, 0, 113, 1], [224, 0, 0, 1], [240, 0, 0, 1], [255, 255, 255, 255],
    ]

    /// IPv6 addresses of each range that isn't public, without brackets.
    public static let specialIPv6 = [
        "::", "::1", "0:0:0:0:0:0:0:1", "::8.8.8.8", "fe80::1", "fe80::1%25lo", "febf::1", "fec0::1", "feff::1",
        "fc00::1", "fd12:3456::1", "ff02::1", "ff02::1%25lo", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "100::1", "2001::1",
        "2001:0:4136:e378:8000:63bf:80ff:fffe", "2001:1ff::1", "2001:db8::1", "2002:808:808::1", "3fff::1", "4000::1",
        "::ffff:0:127.0.0.1", "fe80::5efe:8.8.8.8",
    ]

    /// Returns the spellings of an IPv4 address as the host of a URL, in IPv4 notations.
    public static func notations(of bytes: [UInt8]) -> [String] {
        let value = number(bytes)
        let (hex, octal) = (String(value, radix: 16), String(value, radix: 8))
        let dotted = bytes.map(String.init).joined(separator: ".")
        return [
            dotted, "\(dotted).", "\(value)", "0x\(hex)", "0X\(hex.uppercased())", "0\(octal)", "000\(octal)",
            "\(bytes[0]).\(value & 0xff_ffff)", "\(bytes[0]).\(bytes[1]).\(value & 0xffff)",
            bytes.map { "0x\(String($0, radix: 16))" }.joined(separator: "."),
            bytes.map { "0\(String($0, radix: 8))" }.joined(separator: "."),
            "0x\(String(bytes[0], radix: 16)).\(bytes[1]).0\(String(bytes[2], radix: 8)).\(bytes[3])",
            dotted.utf8.map { $0 == 46 ? "." : "%3\($0 - 48)" }.joined(),
            bytes.map(String.init).joined(separator: "%2e"),
            bytes.map(String.init).joined(separator: "。"),
            String(String.UnicodeScalarView(dotted.unicodeScalars.map { fullwidth($0) })),
        ]
    }

    /// Returns the spellings of an IPv4-mapped IPv6 address as the host of a URL.
    public static func mapped(_ bytes: [UInt8]) -> [String] {
        let dotted = bytes.map(String.init).joined(separator: ".")
        return ["[::ffff:\(dotted)]", "[::FFFF:\(groups(bytes))]", "[0:0:0:0:0:ffff:\(groups(bytes))]"]
    }

    /// Returns the spellings of an IPv4 address that is embedded in an IPv6 address, as the host of a URL.
    public static func embedded(_ bytes: [UInt8]) -> [String] {
        let dotted = bytes.map(String.init).joined(separator: ".")
        let inverted = groups(bytes.map { ~$0 })
        return mapped(bytes) + [
            "[::\(dotted)]", "[64:ff9b::\(dotted)]", "[64:ff9b:1::\(dotted)]", "[2002:\(groups(bytes))::1]",
            "[2001:0:4136:e378:8000:63bf:\(inverted)]", "[2606:4700::5efe:\(dotted)]",
            "[2606:4700::200:5efe:\(dotted)]",
        ]
    }

    /// All spellings of addresses that aren't public, as the hosts of URLs.
    public static var special: [String] {
        specialIPv4.flatMap { notations(of: $0) + embedded($0) } + specialIPv6.map { "[\($0)]" }
    }

    /// Names that never belong to public addresses, as the hosts of URLs.
    public static let localNames = [
        "localhost", "LOCALHOST", "localhost.", "local%68ost", "a.localhost", "a.LOCALHOST.", "printer.local",
        "metadata.google.internal", "router.home.arpa", "intranet", "intranet.",
    ]

    private static func number(_ bytes: [UInt8]) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    private static func groups(_ bytes: [UInt8]) -> String {
        let value = number(bytes)
        return "\(String(value >> 16, radix: 16)):\(String(value & 0xffff, radix: 16))"
    }

    private static func fullwidth(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        ("0"..."9").contains(scalar) ? Unicode.Scalar(scalar.value + 0xfee0) ?? scalar : scalar
    }
}
