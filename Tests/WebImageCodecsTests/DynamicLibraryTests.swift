// SPDX-License-Identifier: MIT

import CDynamicLibrary
import Foundation
import Testing
import WebImageCore

@testable import WebImageCodecs

@Suite("Libraries that are loaded with their first use")
struct DynamicLibraryTests {
    /// A library with a table for the functions `names`, whose memory isn't freed because the library may not be either.
    private struct Table: @unchecked Sendable {
        // Only wi_library_load changes the memory, under its lock, before it reports success.
        let library = UnsafeMutablePointer<wi_library>.allocate(capacity: 1)
        let addresses: UnsafeMutablePointer<UnsafeMutableRawPointer?>

        init(_ file: String, _ names: [String]) {
            let texts = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: names.count)
            for (index, name) in names.enumerated() { texts[index] = UnsafePointer(strdup(name)) }
            addresses = .allocate(capacity: names.count)
            addresses.initialize(repeating: nil, count: names.count)
            var value = wi_library()
            (value.file, value.names, value.addresses) = (UnsafePointer(strdup(file)), UnsafePointer(texts), addresses)
            value.count = UInt32(names.count)
            library.initialize(to: value)
        }

        func load() -> Bool { wi_library_load(library) == 1 }

        var message: String {
            withUnsafeBytes(of: &library.pointee.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
    }

    @Test("Threads that load a library at the same time all find its functions")
    func loads() {
        let table = Table("libm.so.6", ["cos", "sqrt"])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            #expect(table.load())
            typealias Function = @convention(c) (Double) -> Double
            let root = table.addresses[1].map { unsafeBitCast($0, to: Function.self) }
            #expect(root?(9) == 3)
        }
    }

    @Test("A missing library and a missing function are named in the message")
    func missing() {
        let file = Table("libwebimage-missing.so.0", ["cos"])
        #expect(!file.load() && file.message.contains("libwebimage-missing.so.0"), "\(file.message)")
        // The failure is remembered.
        #expect(!file.load())
        let function = Table("libm.so.6", ["cos", "webimage_missing"])
        #expect(!function.load() && function.message.contains("webimage_missing"), "\(function.message)")
    }

    @Test("A coder whose library is missing throws an error that names the format and the reason")
    func error() {
        let message = strdup("libheif.so.1: no such file")
        defer { free(message) }
        #expect(
            throws: ImageError.decoding(
                .unsupportedFeature(
                    format: .heif, feature: "the library can’t be loaded (libheif.so.1: no such file)"))
        ) {
            try CodecLibraries.load(.heif) { UnsafePointer(message) }
        }
        #expect(
            throws: ImageError.processing(
                .encodingFailed(
                    format: .heif, reason: "the library can’t be loaded (libheif.so.1: no such file)"))
        ) {
            try CodecLibraries.load(.heif, toEncode: true) { UnsafePointer(message) }
        }
        #expect(throws: Never.self) { try CodecLibraries.load(.heif) { nil } }
    }
}
