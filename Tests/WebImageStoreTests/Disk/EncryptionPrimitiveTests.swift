// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@testable import WebImageStore

/// Returns the bytes that hexadecimal digits represent. Spaces are ignored.
private func hex(_ digits: String) -> [UInt8] { HexadecimalName.bytes(digits.filter { $0 != " " }) }

@Suite("Functions for encryption")
struct EncryptionPrimitiveTests {
    /// A test case of “The Galois/Counter Mode of Operation” (McGrew and Viega), which NIST SP 800-38D refers to.
    struct GCMCase: Sendable, CustomTestStringConvertible {
        let number: Int
        let key: String
        let nonce: String
        var plain = ""
        var associated = ""
        var sealed = ""
        let tag: String

        var testDescription: String { "test case \(number)" }
    }

    static let zeros = String(repeating: "0", count: 64)
    static let gcmCases = [
        GCMCase(
            number: 13, key: zeros, nonce: "000000000000000000000000", tag: "530f8afbc74536b9a963b4f1c4cb738b"),
        GCMCase(
            number: 14, key: zeros, nonce: "000000000000000000000000", plain: "00000000000000000000000000000000",
            sealed: "cea7403d4d606b6e074ec5d3baf39d18", tag: "d0d1c8a799996bf0265b98b5d48ab919"),
        GCMCase(
            number: 16, key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
            nonce: "cafebabefacedbaddecaf888",
            plain: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
            associated: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            sealed: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
            tag: "76fc6ece0f4e1768cddf8853bb2d551b"),
    ]

    @Test("AES-256-GCM has the results of the published test cases", arguments: gcmCases)
    func gcm(_ vector: GCMCase) throws {
        let (key, nonce, associated) = (hex(vector.key), hex(vector.nonce), hex(vector.associated))
        let sealed = try #require(
            hex(vector.plain).withUnsafeBytes {
                AuthenticatedEncryption.seal($0, key: key, nonce: nonce, associated: associated)
            })
        #expect(sealed == hex(vector.sealed) + hex(vector.tag))
        let opened = sealed.withUnsafeBytes {
            AuthenticatedEncryption.open($0, key: key, nonce: nonce, associated: associated)
        }
        #expect(opened == hex(vector.plain))
    }

    @Test("Data that is encrypted in parts is decrypted in place, across steps of 1 MiB")
    func steps() throws {
        let key = KeyedHash.random(count: 32)
        let nonce = KeyedHash.random(count: 12)
        let plain = [UInt8](bytes(1, count: (2 << 20) + 77))
        var sealed = [UInt8](repeating: 0, count: plain.count)
        guard let encryption = AuthenticatedEncryption(key: key, nonce: nonce, associated: [1, 2]) else {
            Issue.record("The encryption can't begin.")
            return
        }
        for start in stride(from: 0, to: plain.count, by: 300_007) {
            let range = start..<min(start + 300_007, plain.count)
            let succeeds = plain.withUnsafeBytes { source in
                sealed.withUnsafeMutableBytes { target in
                    encryption.encrypt(
                        UnsafeRawBufferPointer(rebasing: source[range]),
                        into: UnsafeMutableRawBufferPointer(rebasing: target[range]))
                }
            }
            #expect(succeeds)
        }
        let end = encryption.tag()
        let tag = try #require(end)
        #expect(sealed != plain)
        for associated: [UInt8] in [[1, 2], [1, 3]] {
            var copy = sealed
            let isAuthentic = copy.withUnsafeMutableBytes { target in
                tag.withUnsafeBytes {
                    AuthenticatedEncryption.open(target, tag: $0, key: key, nonce: nonce, associated: associated)
                }
            }
            #expect(isAuthentic == (associated == [1, 2]))
            // After a failure, the buffer contains no decrypted data.
            #expect(copy == (isAuthentic ? plain : [UInt8](repeating: 0, count: plain.count)))
        }
    }

    @Test("Keys and nonces of other lengths are rejected")
    func lengths() {
        func seals(key: Int, nonce: Int) -> Bool {
            [UInt8]([1, 2]).withUnsafeBytes {
                AuthenticatedEncryption.seal(
                    $0, key: KeyedHash.random(count: key), nonce: KeyedHash.random(count: nonce), associated: [])
            } != nil
        }
        #expect(seals(key: 32, nonce: 12))
        for (key, nonce) in [(0, 12), (31, 12), (33, 12), (32, 0), (32, 11), (32, 16)] {
            #expect(!seals(key: key, nonce: nonce))
        }
    }

    @Test("The function scrypt has the results of RFC 7914, section 12")
    func scrypt() {
        func derive(_ passphrase: String, _ salt: String, _ cost: Int, _ blocks: Int, _ parallel: Int) -> [UInt8]? {
            Scrypt.bytes(
                passphrase: Array(passphrase.utf8), salt: Array(salt.utf8), cost: cost, blockSize: blocks,
                parallelization: parallel, count: 64)
        }
        #expect(
            derive("", "", 16, 1, 1)
                == hex(
                    "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
                        + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"))
        #expect(
            derive("password", "NaCl", 1_024, 8, 16)
                == hex(
                    "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                        + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"))
        #expect(
            derive("pleaseletmein", "SodiumChloride", 16_384, 8, 1)
                == hex(
                    "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                        + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"))
        // These parameters need 1 GiB.
        #expect(derive("a", "b", 1 << 20, 8, 1) == nil)
    }
}
