// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImage

/// The process that the suite `start` measures.
///
/// It's a program of its own, because the program `benchmarks` is linked to the libraries of the limits.
@main
struct StartProbe {
    enum Kind: String {
        case nothing, manager, firstImage
    }

    /// Measures the time since the start of the process, which the caller passes in nanoseconds of the monotonic clock,
    /// the processor time of the process, and the memory that was added since the beginning of this function. Prints
    /// the sample as JSON.
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let kind = Kind(rawValue: arguments[1]), let start = Double(arguments[4]),
            let url = URL(string: arguments[3])
        else { exit(64) }
        let before = resident()
        var kept: [ImageManager] = []
        if kind != .nothing {
            kept.append(
                ImageManager { $0.diskCache = DiskCache.Configuration(directory: URL(filePath: arguments[2])) })
        }
        var pixels: DecodedImage?
        if kind == .firstImage, let manager = kept.first {
            var request = ImageRequest(url: url)
            request.cachePolicy = .cacheOnly
            pixels = try await manager.image(for: request)
        }
        let wall = time(CLOCK_MONOTONIC) - start / 1e9
        let cpu = time(CLOCK_PROCESS_CPUTIME_ID)
        print(#"{"wall":\#(wall),"cpu":\#(cpu),"bytes":\#(max(0, resident() - before))}"#, terminator: "")
        withExtendedLifetime((kept, pixels)) {}
    }

    private static func time(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Returns the resident memory, in bytes.
    private static func resident() -> Double {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, 256, file) != nil else { return 0 }
        let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(
            separator: " ")
        return words.count > 1 ? (Double(words[1]) ?? 0) * Double(sysconf(Int32(_SC_PAGESIZE))) : 0
    }
}
